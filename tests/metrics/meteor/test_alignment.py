"""The quick search and matching give what a plain reading of the description gives.

The truth for single pairs is the official program's (test_golden_meteor.py); here a slow version
covers more, on captions in which nearly everything matches nearly everything.
"""

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import plain_meteor
from meshcap.metrics.base import Corpus
from meshcap.metrics.meteor import meteor, meteor_of
from meshcap.metrics.meteor.alignment import align


@pytest.fixture(scope="session")
def plain_data(printed):
    data = printed["data"]
    bases = {}
    for base, forms in data["exceptions"].items():
        for form in forms.split():
            bases.setdefault(form, []).append(base)
    table = [(tuple(left.split()), tuple(right.split())) for _, left, right in data["table"]]
    return plain_meteor.Data(data["synsets"], bases, frozenset(data["function_words"]), table)


WORDS = (
    "a a a the the of on on in two two dog dogs hound hounds couch couches sofa walk walks walking "
    "is step several group next to beside top front before mice mouse man men child goat handful"
).split()
PHRASES = ["a group of", "several", "next to", "in front of", "on top of", "a couch", "of a"]
CAPTIONS = st.lists(st.sampled_from(WORDS + PHRASES), max_size=14).map(" ".join)
CROWDED = st.lists(st.sampled_from(["a", "the", "two", "dog", "a dog"]), max_size=16).map(" ".join)


def plainly(candidate, reference, data):
    statistics = plain_meteor.statistics_of(candidate.split(), reference.split(), data)
    return plain_meteor.score_of(statistics), statistics


@given(candidate=CAPTIONS, reference=CAPTIONS)
@example("a dog on top of a couch", "the dog is on a sofa")
def test_one_reference_has_the_statistics_of_a_plain_search(
    small, plain_data, candidate, reference
):
    found = meteor_of(candidate, [reference], small)
    assert found == plainly(candidate, reference, plain_data)


@given(candidate=CROWDED, reference=CROWDED)
def test_a_crowded_beam_is_cut_as_in_a_plain_search(small, plain_data, candidate, reference):
    found = meteor_of(candidate, [reference], small)
    assert found == plainly(candidate, reference, plain_data)


@given(candidate=CAPTIONS, references=st.lists(CAPTIONS, min_size=1, max_size=5))
def test_the_first_of_the_best_references_counts(small, plain_data, candidate, references):
    scores = [plainly(candidate, reference, plain_data) for reference in references]
    best = max(range(len(scores)), key=lambda number: (scores[number][0], -number))
    assert meteor_of(candidate, references, small) == scores[best]


@given(caption=st.one_of(CAPTIONS, CROWDED))
def test_an_equal_caption_is_aligned_word_by_word(small, plain_data, caption):
    assume(caption)
    found = meteor_of(caption, [caption], small)
    assert found == plainly(caption, caption, plain_data)
    assert found[0] == 1.0


def test_captions_are_independent_of_their_neighbours(small, printed, corpus_of):
    rows = printed["small"]
    found = meteor(small).measure(corpus_of(rows), lambda finished: None)["meteor"]
    again = meteor(small).measure(corpus_of(rows[::-1]), lambda finished: None)["meteor"]
    assert found.per_picture.tolist() == again.per_picture.tolist()[::-1]
    assert found.value == again.value


def test_a_position_without_matches_ends_a_chunk():
    # Matches as bits, length, start, end, gain, stage: the first and last word, and one of two.
    lists = [[(1, 1, 0, 1, 2, 0)], [], [(2, 1, 1, 2, 2, 0), (4, 1, 2, 3, 2, 0)]]
    assert align(lists, [True, False, False], 3) == [(0, lists[0][0]), (2, lists[2][0])]


def test_nothing_to_choose_needs_no_search():
    lists = [[], [(1, 1, 0, 1, 2, 0)]]
    assert align(lists, [False, True], 1) == [(1, lists[1][0])]
    assert align([], [], 0) == []


def test_progress_is_told_picture_by_picture(small, printed, corpus_of):
    finished = []
    meteor(small).measure(corpus_of(printed["small"][:7]), finished.append)
    assert finished == [1] * 7


def test_no_pictures_score_nothing(small):
    found = meteor(small).measure(Corpus((), (), ()), lambda finished: None)["meteor"]
    assert found.value == 0.0
    assert found.per_picture.shape == (0,)
    assert found.details["statistics"].shape == (0, 23)
