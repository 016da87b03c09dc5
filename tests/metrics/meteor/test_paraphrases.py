"""The table's arrays answer as the table itself would, read line by line."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshcap.errors import FileError
from meshcap.metrics.meteor import opened, paraphrases
from meshcap.metrics.meteor.arrays import read_arrays
from meshcap.metrics.meteor.opening import cache_file
from meshcap.metrics.meteor.paraphrases import Paraphrases, table_arrays
from meshcap.metrics.meteor.sources import OFFICIAL, fingerprint

WORDS = st.sampled_from(["a", "the", "of", "dog", "dogs", "é", "…", "x-y"])
PHRASES = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
TABLES = st.lists(st.tuples(PHRASES, PHRASES), max_size=30)
CAPTIONS = st.lists(st.lists(WORDS, max_size=9), max_size=4)


def written(folder, text):
    path = folder / "table.gz"
    path.write_bytes(gzip.compress(text.encode()))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


def arrays_of(folder, text):
    return table_arrays(written(folder, text), lambda read, of: None)


def text_of(table):
    return "".join(f"0.5\n{left}\n{right}\n" for left, right in table)


def places(words, phrase):
    count = len(phrase.split())
    return [start for start in range(len(words)) if words[start : start + count] == phrase.split()]


@given(table=TABLES, captions=CAPTIONS, block=st.sampled_from([1, 7, 50, 1 << 18]))
def test_entries_are_those_of_the_table_in_its_order(folder, table, captions, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paraphrases, "_BLOCK", block)
        found = Paraphrases(arrays_of(folder, text_of(table))).among(captions)
    names = {}
    for words, phrases in zip(captions, found.phrases, strict=True):
        assert phrases == sorted(phrases)
        for start, count, phrase in phrases:
            names.setdefault(phrase, " ".join(words[start : start + count]))
            assert names[phrase] == " ".join(words[start : start + count])
    entries = [
        (entry, names[left], names[right])
        for left, row in found.rows.items()
        for right, several in row.items()
        for entry in several
    ]
    occurring = {
        name for pair in table for name in pair if any(places(words, name) for words in captions)
    }
    assert sorted(entries) == [
        (number, left, right)
        for number, (left, right) in enumerate(table)
        if left in occurring and right in occurring
    ]
    concerned = {name for _, *sides in entries for name in sides}
    for words, phrases in zip(captions, found.phrases, strict=True):
        assert [(start, names[phrase]) for start, _, phrase in phrases] == sorted(
            ((start, name) for name in concerned for start in places(words, name)),
            key=lambda place: (place[0], place[1].count(" ")),
        )


def test_a_table_without_its_last_newline_is_read_whole(folder):
    arrays = arrays_of(folder, text_of([("a", "the"), ("of", "dog")])[:-1])
    assert len(arrays["right"]) == 2


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(gzip.compress(b"0.5\na\nb\n0.5\na\n"), "is no table", id="a line misses"),
        pytest.param(gzip.compress(b"0.5\na\nb\nc\nd\n0.5\n"), "after 0 entries", id="no number"),
        pytest.param(gzip.compress(b"x" * (3 << 20)), "a line does not end", id="no lines"),
        pytest.param(b"0.5\na\nb\n", "cannot be read as a table", id="not compressed"),
        pytest.param(gzip.compress(b"0.5\na\nb\n" * 999)[:-20], "cannot be read", id="truncated"),
    ],
)
def test_what_is_no_table_is_an_error(folder, data, message):
    path = folder / "broken.gz"
    path.write_bytes(data)
    with pytest.raises(FileError, match=message):
        table_arrays(path, lambda read, of: None)


def test_the_official_table_has_its_known_size_and_no_two_phrases_of_one_number(official):
    opened()
    content = fingerprint(official)
    arrays = read_arrays(cache_file(content), f"1-{content}")
    assert content == OFFICIAL
    assert arrays is not None
    assert len(arrays["right"]) == 5_274_084
    assert len(np.unique(arrays["left"])) == len(arrays["left"]) == 430_639
    # Counted once from the text itself: so many different phrases are right sides.
    assert len(np.unique(arrays["right"])) == 2_398_392
    assert arrays["longest"] == [7]
