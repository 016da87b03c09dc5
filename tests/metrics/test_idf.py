"""Document frequencies: counted, spelt, written, and read without running anything."""

import gzip
import pickle
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshcap.errors import CaptionError, FileError, SettingError
from meshcap.metrics.base import Signature
from meshcap.metrics.idf import DocumentFrequencies
from meshcap.metrics.idf_pickle import loads

REFERENCES = [["a cat sits", "a cat"], ["a dog"]]


class Trap:
    """What a hostile pickle would run."""

    def __reduce__(self):
        return (print, ("it ran",))


def saved(path, **changes):
    value = {"document_frequency": {("a",): 2.0, ("a", "cat"): 1.0}, "ref_len": 2.0} | changes
    path.write_bytes(pickle.dumps(value, protocol=2))
    return path


@pytest.mark.parametrize(
    ("over", "end", "gram", "expected", "documents"),
    [
        ("pictures", False, ("a",), 2, 2),
        ("pictures", False, ("a", "cat"), 1, 2),
        ("captions", False, ("a",), 3, 3),
        ("captions", False, ("a", "cat"), 2, 3),
        ("captions", False, ("a", "cat", "sits"), 1, 3),
        ("pictures", True, ("<eos>",), 2, 2),
        ("captions", True, ("cat", "<eos>"), 1, 3),
    ],
)
def test_a_document_is_a_picture_or_a_caption(over, end, gram, expected, documents):
    found = DocumentFrequencies.count(REFERENCES, over=over, end=end)
    assert found.counts[gram] == expected
    assert found.documents == documents
    assert found.name.startswith(f"{over}@")


def test_a_word_said_twice_in_a_document_counts_once():
    assert DocumentFrequencies.count([["a a a", "a"]]).counts[("a",)] == 1


def test_what_is_saved_is_what_is_loaded_and_what_the_other_tools_read(tmp_path):
    path = tmp_path / "coco-train.words.p"
    counted = DocumentFrequencies.count(REFERENCES, end=True)
    counted.save(path)
    again = DocumentFrequencies.load(path)
    assert again.counts == counted.counts
    assert (again.documents, again.end, again.unknown) == (2, "<eos>", None)
    assert again.name.startswith("coco-train@")
    # Their readers look for n-grams that are not there, and take the logarithm of ref_len.
    theirs = pickle.loads(path.read_bytes())  # noqa: S301 - we have just written it
    assert theirs["document_frequency"][("nowhere",)] == 0
    assert np.log(theirs["ref_len"]) == pytest.approx(np.log(2))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("packed", [False, True])
def test_every_protocol_of_pickle_is_read_gzipped_or_not(tmp_path, protocol, packed):
    counts = defaultdict(float, {("a",): 2.0, ("b", "c"): 1})
    data = pickle.dumps({"document_frequency": counts, "ref_len": 7}, protocol=protocol)
    path = tmp_path / "x.p"
    path.write_bytes(gzip.compress(data) if packed else data)
    found = DocumentFrequencies.load(path)
    assert found.counts == {("a",): 2.0, ("b", "c"): 1.0}
    assert found.documents == 7


def test_a_pickle_of_python_2_is_read_as_text(tmp_path):
    # cPickle.dumps({"document_frequency": {("caf\xc3\xa9",): 1.0}, "ref_len": 2.0}, 2), by hand.
    data = (
        b"\x80\x02}(U\x12document_frequency}U\x05caf\xc3\xa9\x85G?\xf0\x00\x00\x00\x00\x00\x00s"
        b"U\x07ref_lenG@\x00\x00\x00\x00\x00\x00\x00u."
    )
    path = tmp_path / "old.p"
    path.write_bytes(data)
    assert DocumentFrequencies.load(path).counts == {("café",): 1.0}


def test_zeros_that_their_reader_leaves_behind_are_dropped(tmp_path):
    path = saved(tmp_path / "x.p", document_frequency={("a",): 1.0, ("b",): 0.0})
    assert DocumentFrequencies.load(path).counts == {("a",): 1.0}


def test_the_words_style_spells_unknown_words_and_the_end(tmp_path):
    counts = {("UNK",): 3.0, ("<eos>",): 5.0, ("cat",): 2.0}
    found = DocumentFrequencies.load(saved(tmp_path / "x.p", document_frequency=counts))
    assert found.spell(["cat", "axolotl"], end=True) == ["cat", "UNK", "<eos>"]
    assert found.spell(["cat"], end=False) == ["cat"]


def test_the_idxs_style_needs_the_numbers_of_words(tmp_path):
    path = saved(tmp_path / "x.p", document_frequency={("0",): 5.0, ("1", "0"): 2.0})
    with pytest.raises(SettingError, match="holds numbers of words, not words"):
        DocumentFrequencies.load(path)
    with pytest.raises(SettingError, match="the vocabulary has no 'UNK'"):
        DocumentFrequencies.load(path, numbers={"cat": 1})
    found = DocumentFrequencies.load(path, numbers={"cat": 1}, unknown=9)
    assert found.spell(["cat", "axolotl"], end=True) == ["1", "9", "0"]
    same = DocumentFrequencies.load(path, numbers={"cat": 1, "UNK": 9})
    assert same.spell(["axolotl"], end=False) == ["9"]
    # Another vocabulary gives other scores, and so another signature.
    assert DocumentFrequencies.load(path, numbers={"cat": 2}, unknown=9).name != found.name


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (pickle.dumps(Trap()), "builtins.print"),
        (pickle.dumps({"document_frequency": Trap(), "ref_len": 1}), "builtins.print"),
        (b"cos\nsystem\n(S'echo it ran'\ntR.", "os.system"),
        (b"", "expected a pickle"),
        (b"not a pickle at all", "expected a pickle"),
        (pickle.dumps(REFERENCES), r"holds the instruction b'\]'"),
        (pickle.dumps("text"), "a value of type str"),
        # What a C unpickler falls to, as a reviewer showed: a class changed for the whole process,
        # a stack overrun by a nested key, and a few bytes that ask for gigabytes.
        (
            b"\x80\x02ccollections\ndefaultdict\nN}X\x05\x00\x00\x00itemsK\x05s\x86b.",
            "holds the instruction",
        ),
        (b"\x80\x02}" + b")" + b"\x85" * 100_000 + b"K\x01s.", "a tuple of other things"),
        (b"\x80\x02" + b")" + b"\x85" * 30 + b".", "a tuple of other things"),
        (b"\x80\x02}r\x00\x87\x93\x03.", "a dictionary with"),
        (b"\x80\x02\x8b\xff\xff\xff\x7f.", "holds the instruction"),
        (b"\x80\x02\x8a\xff" + b"\xff" * 255 + b".", "a number of too many digits"),
        (b"L" + b"9" * 5000 + b"L\n.", "a number of too many digits"),
        (b"\x80\x02X\xff\xff\xff\x7fcat.", "ends too early"),
        (b"\x80\x02cbuiltins\neval\n(X\x01\x00\x00\x001tR.", "asks for builtins.eval"),
        (b"\x80\x02h\x07.", "recalls what it never remembered"),
        (b"\x80\x02u.", "a mark is missing"),
        (b"\x80\x02.", "a value is missing"),
        (b"\x80\x02}K\x01K\x02s.", "other things than n-grams"),
        (b"\x80\x02" + b"}" * 1_000_001 + b".", "more than 1,000,000 values"),
        (pickle.dumps({"ref_len": 3}), "a dictionary with"),
        (b"\x1f\x8b broken", "is a broken gzip file"),
        (pickle.dumps({"document_frequency": {}, "ref_len": 3}), "holds no n-grams"),
    ],
)
def test_a_file_that_is_no_idf_file_is_named_and_nothing_runs(tmp_path, capsys, data, says):
    path = tmp_path / "bad.p"
    path.write_bytes(data)
    with pytest.raises(FileError, match=says) as caught:
        DocumentFrequencies.load(path)
    assert "bad.p" in str(caught.value)
    assert "it ran" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"ref_len": -1}, "'ref_len' is -1"),
        ({"ref_len": "5"}, "'ref_len' is '5'"),
        ({"ref_len": float("nan")}, "'ref_len' is nan"),
        ({"ref_len": {}}, "'ref_len' is a dictionary"),
        ({"ref_len": 0}, "'ref_len' is 0"),
        ({"document_frequency": 1}, "no dictionary"),
        ({"document_frequency": {"cat": 1.0}}, "expected tuples of words"),
        ({"document_frequency": {(1,): 1.0}}, "a tuple of other things than words"),
        ({"document_frequency": {("a", ("b",)): 1.0}}, "a tuple of other things than words"),
        ({"document_frequency": {("cat",): "1"}}, "expected a number"),
    ],
)
def test_an_impossible_content_is_named(tmp_path, changes, says):
    with pytest.raises(FileError, match=says):
        DocumentFrequencies.load(saved(tmp_path / "x.p", **changes))


@given(
    st.binary(max_size=60) | st.lists(st.sampled_from(list(b"}(tu\x85\x86sK.)q\x00RcX"))).map(bytes)
)
def test_any_bytes_are_numbers_or_one_kind_of_error(data):
    try:
        loads(data, source="x")
    except FileError as error:
        assert len(str(error)) < 250


def test_a_hundred_thousand_ngrams_of_numbers_and_words_are_read(tmp_path):
    counts = {("w" * (n % 7 + 1), str(n)): float(n % 5 + 1) for n in range(100_000)}
    path = saved(tmp_path / "x.p", document_frequency=counts | {("0",): 3.0, ("size",): 1.0})
    found = DocumentFrequencies.load(path)
    assert len(found.counts) == 100_002
    assert found.numbers is None, "one word that is a number makes no file of numbers"


def test_a_truncated_file_is_named(tmp_path):
    path = saved(tmp_path / "x.p")
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(FileError, match=r"x\.p"):
        DocumentFrequencies.load(path)


def test_the_same_content_has_the_same_hash_by_any_file_s_name(tmp_path):
    one, other = tmp_path / "one.p", tmp_path / "other.p"
    saved(one)
    other.write_bytes(gzip.compress(one.read_bytes()))
    names = [DocumentFrequencies.load(path).name for path in (one, other)]
    assert [name.partition("@")[0] for name in names] == ["one", "other"]
    assert names[0].partition("@")[2] == names[1].partition("@")[2]
    signatures = [Signature.of("cider-d", {"idf": name}) for name in names]
    assert signatures[0].differences(signatures[1]) == []


def test_frequencies_of_other_captions_have_another_name():
    first = DocumentFrequencies.count(REFERENCES)
    assert DocumentFrequencies.count(REFERENCES).name == first.name
    for other in (
        DocumentFrequencies.count(REFERENCES[:1]),
        DocumentFrequencies.count(REFERENCES, over="captions"),
        DocumentFrequencies.count(REFERENCES, end=True),
    ):
        assert other.name.partition("@")[2] != first.name.partition("@")[2]


def test_captions_may_be_given_by_picture_and_never_as_one_text():
    by_picture = {"7": REFERENCES[0], "8": REFERENCES[1]}
    assert DocumentFrequencies.count(by_picture).counts == (
        DocumentFrequencies.count(REFERENCES).counts
    )
    with pytest.raises(CaptionError, match="found the text 'a cat'"):
        DocumentFrequencies.count(["a cat", "a dog"])
    with pytest.raises(CaptionError, match="no captions to count"):
        DocumentFrequencies.count([])


def test_impossible_settings_are_named():
    with pytest.raises(SettingError, match="idf over 'words'"):
        DocumentFrequencies.count(REFERENCES, over="words")
    with pytest.raises(SettingError, match="0 documents"):
        DocumentFrequencies({}, 0)
