"""What holds of METEOR for any captions, and where its cache folder is."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshcap.errors import CaptionError
from meshcap.metrics.base import Corpus
from meshcap.metrics.cache import cache_folder
from meshcap.metrics.meteor import meteor, meteor_of

ANY_TEXT = st.text(max_size=30)
PICTURES = st.lists(st.tuples(ANY_TEXT, st.lists(ANY_TEXT, min_size=1, max_size=3)), max_size=6)


def measured(pictures, data):
    corpus = Corpus(
        tuple(map(str, range(len(pictures)))),
        tuple(candidate for candidate, _ in pictures),
        tuple(tuple(references) for _, references in pictures),
    )
    return meteor(data).measure(corpus, lambda finished: None)["meteor"]


@given(candidate=ANY_TEXT, references=st.lists(ANY_TEXT, min_size=1, max_size=3))
def test_any_text_scores_between_0_and_1(small, candidate, references):
    score, statistics = meteor_of(candidate, references, small)
    assert 0 <= score <= 1
    assert len(statistics) == 23
    assert all(count >= 0 for count in statistics)


@given(pictures=PICTURES, order=st.randoms(use_true_random=False))
def test_the_order_of_pictures_does_not_matter(small, pictures, order):
    found = measured(pictures, small)
    numbers = list(range(len(pictures)))
    order.shuffle(numbers)
    again = measured([pictures[number] for number in numbers], small)
    assert again.value == found.value
    assert again.per_picture.tolist() == [found.per_picture[number] for number in numbers]


@given(caption=st.text("abc de'.-é1", min_size=1, max_size=20))
def test_a_caption_equal_to_a_reference_scores_1(small, caption):
    if caption.strip():
        assert meteor_of(caption, ["something else", caption], small)[0] == 1


@given(caption=ANY_TEXT, others=st.lists(ANY_TEXT, max_size=3))
def test_a_further_reference_never_lowers_the_score(small, caption, others):
    one = meteor_of(caption, ["a dog on a couch"], small)[0]
    assert meteor_of(caption, ["a dog on a couch", *others], small)[0] >= one


@pytest.mark.parametrize("text", ["\ud800 a dog", "a\x00dog", "dog " * 70, "a\nb\r\nc", "'" * 50])
def test_odd_texts_score_without_failing(small, text):
    assert 0 <= meteor_of(text, ["a dog", text + " a dog"], small)[0] <= 1


@pytest.mark.parametrize(("candidate", "reference"), [("", ""), ("", "a dog"), ("a dog", "")])
def test_an_empty_caption_scores_0(small, candidate, reference):
    score, statistics = meteor_of(candidate, [reference], small)
    assert score == 0
    assert statistics[:2] == (len(candidate.split()), len(reference.split()))


def test_a_candidate_without_references_is_an_error(small):
    with pytest.raises(CaptionError, match="without references"):
        meteor_of("a dog", [], small)


def test_a_single_reference_may_be_a_string(small):
    assert meteor_of("a dog", "a dog", small) == meteor_of("a dog", ["a dog"], small)


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({"MESHCAP_CACHE": "/here", "XDG_CACHE_HOME": "/there"}, "linux", "/here"),
        ({"XDG_CACHE_HOME": "/there"}, "linux", "/there/meshcap"),
        ({"XDG_CACHE_HOME": "there"}, "linux", "~/.cache/meshcap"),
        ({}, "linux", "~/.cache/meshcap"),
        ({}, "darwin", "~/Library/Caches/meshcap"),
        ({"LOCALAPPDATA": "/local"}, "win32", "/local/meshcap"),
        ({}, "win32", "~/AppData/Local/meshcap"),
    ],
)
def test_the_cache_is_where_the_system_keeps_such_files(environment, platform, expected):
    assert cache_folder(environment, platform) == Path(expected).expanduser()


def test_a_user_without_a_home_has_a_cache_all_the_same(monkeypatch, tmp_path):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    monkeypatch.setattr("meshcap.metrics.cache.gettempdir", lambda: str(tmp_path))
    assert cache_folder({}, "linux") == tmp_path / ".cache" / "meshcap"


def test_threads_do_not_disturb_each_other(printed, small, corpus_of):
    corpus = corpus_of(printed["small"])
    with ThreadPoolExecutor(4) as several:
        values = several.map(
            lambda _: meteor(small).measure(corpus, lambda finished: None)["meteor"].value, range(4)
        )
        assert set(values) == {printed["small_score"]}
