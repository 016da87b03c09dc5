"""Merging and comparing tuples, with a table of synonyms written by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshcap.metrics.spice.graph import SceneGraph
from meshcap.metrics.spice.scoring import CATEGORIES, counts_of, scores_of

SYNSETS = {
    "couch": {1, 2},
    "sofa": {1},
    "bed": {2, 3, 4},
    "divan": {1, 4},
    "gray": {10},
    "grey": {10},
    "large": {20, 21},
    "big": {20},
    "ride on": {30},
    "ride": {30},
}


def synsets(words):
    return frozenset(SYNSETS.get(words, ()))


def merged(*tuples):
    return list(SceneGraph(tuples, synsets).tuples())


def found(candidate, references):
    graphs = (SceneGraph(tuples, synsets) for tuples in (candidate, references))
    ours, theirs = graphs
    return dict(ours.found_in(theirs))


def f_of(candidate, references):
    ours, theirs = (SceneGraph(tuples, synsets) for tuples in (candidate, references))
    scores = scores_of([counts_of(ours.found_in(theirs), theirs.tuples())])
    return dict(zip(CATEGORIES, scores.f[0], strict=True))


@pytest.mark.parametrize(
    ("tuples", "expected"),
    [
        ([("dog",), ("dog",)], [("dog",)]),
        ([("couch",), ("sofa",)], [("couch/sofa",)]),
        # divan joins couch by 1 of 3; then sofa has 1 of the 3 that the two have together
        ([("couch",), ("divan",), ("sofa",)], [("couch/divan/sofa",)]),
        # bed: 1 of 4 with couch; divan: 1 of 2 + 2 - 1 = 3 with couch, 1 of 4 with bed
        ([("bed",), ("sofa",), ("divan",)], [("bed",), ("sofa/divan",)]),
        # once merged, a node has all its synsets: bed meets {1, 2, 4} of couch/divan in 2 and 4
        ([("couch",), ("divan",), ("bed",)], [("couch/divan/bed",)]),
        ([("dog", "gray"), ("dog", "grey")], [("dog",), ("dog", "gray/grey")]),
        ([("sofa", "gray"), ("couch", "grey")], [("sofa/couch",), ("sofa/couch", "gray/grey")]),
        (
            [("dog", "big"), ("cat", "large")],
            [("dog",), ("cat",), ("dog", "big"), ("cat", "large")],
        ),
        (
            [("man", "ride", "horse"), ("man", "ride on", "horse")],
            [("man",), ("horse",), ("man", "ride/ride on", "horse")],
        ),
        (
            [("man", "ride", "horse"), ("horse", "ride", "man")],
            [("man",), ("horse",), ("man", "ride", "horse"), ("horse", "ride", "man")],
        ),
        ([("cat", "be on", "mat")], [("cat",), ("mat",), ("cat", "on", "mat")]),
        ([("man", "be", "king")], [("man",), ("king",), ("man", "be", "king")]),
        ([], []),
    ],
)
def test_what_is_similar_becomes_one(tuples, expected):
    assert merged(*tuples) == expected


def test_a_synset_that_two_words_of_a_concept_have_counts_once():
    table = {"a": {1, 2}, "b": {1, 3}, "c": {4, 5}, "d": {1, 4}}
    graph = SceneGraph([(word,) for word in table], lambda word: frozenset(table[word]))
    # d meets a/b in 1 of 4 synsets, and c in 1 of 3
    assert graph.objects.words == [["a", "b"], ["c", "d"]]


def test_a_candidate_s_tuple_is_found_when_each_part_shares_a_word_or_a_synset():
    references = [("sofa", "large"), ("man", "ride", "horse"), ("dog",)]
    candidate = [("couch", "big"), ("couch", "gray"), ("man", "ride on", "horse"), ("cat",)]
    assert found(candidate, references) == {
        ("couch",): True,
        ("man",): True,
        ("horse",): True,
        ("cat",): False,
        ("couch", "big"): True,
        ("couch", "gray"): False,
        ("man", "ride on", "horse"): True,
    }


def test_an_attribute_of_another_object_is_not_found():
    assert not found([("dog", "big")], [("dog",), ("cat", "big")])[("dog", "big")]


def test_a_relation_the_other_way_round_is_not_found():
    answer = found([("man", "on", "horse")], [("horse", "on", "man")])
    assert not answer[("man", "on", "horse")]


def test_what_is_merged_depends_on_the_order_of_the_tuples_alone():
    # Both couch and divan are like sofa by 1/3: the first wins, in whatever process it happens.
    far = {"couch": {1, 2}, "divan": {3, 4}, "sofa": {1, 3}}
    for order, expected in (
        (("couch", "divan", "sofa"), ["couch/sofa", "divan"]),
        (("divan", "couch", "sofa"), ["divan/sofa", "couch"]),
        (("sofa", "divan", "couch"), ["sofa/divan/couch"]),
    ):
        tuples = [(word,) for word in order]
        graph = SceneGraph(tuples, lambda word: frozenset(far[word]))
        printed = [graph.objects.printed(number) for number in range(len(graph.objects.words))]
        assert printed == expected


words = st.sampled_from(["dog", "cat", "mat", "man", "red", "big", "on", "one", "two", "ride"])
some_tuples = st.lists(
    st.one_of(st.tuples(words), st.tuples(words, words), st.tuples(words, words, words)),
    max_size=12,
)


@given(some_tuples, some_tuples)
def test_f_lies_between_nothing_and_one_where_words_have_no_synonyms(candidate, references):
    ours, theirs = (SceneGraph(each, lambda _: frozenset()) for each in (candidate, references))
    scores = scores_of([counts_of(ours.found_in(theirs), theirs.tuples())])
    values = scores.f[0]
    assert 0 <= values[0] <= 1
    assert all(0 <= value <= 1 or value != value for value in values)


synonymous = st.sampled_from(sorted(SYNSETS))
synonymous_tuples = st.lists(
    st.one_of(
        st.tuples(synonymous),
        st.tuples(synonymous, synonymous),
        st.tuples(synonymous, synonymous, synonymous),
    ),
    min_size=1,
    max_size=12,
)


@given(synonymous_tuples)
def test_a_candidate_with_the_references_tuples_has_f_one(tuples):
    assert f_of(tuples, tuples)["all"] == 1.0


@given(synonymous_tuples)
def test_each_word_belongs_to_one_concept(tuples):
    graph = SceneGraph(tuples, synsets)
    of_objects = [word for concept in graph.objects.words for word in concept]
    assert len(of_objects) == len(set(of_objects))
    given_words = {part for parts in tuples for part in (parts[0], *parts[2:])}
    assert set(of_objects) == given_words


def test_f_by_hand():
    candidate = [("man",), ("man", "tall"), ("man", "ride", "horse"), ("hat",)]
    references = [
        ("man",),
        ("horse",),
        ("horse", "brown"),
        ("man", "two"),
        ("man", "ride", "horse"),
    ]
    # candidate: man, horse, hat; (man, tall); (man, ride, horse): 3 of 5 found
    # references: man, horse; (horse, brown), (man, two); (man, ride, horse): 5
    values = f_of(candidate, references)
    assert values["all"] == pytest.approx(2 * 0.6 * 0.6 / 1.2)
    assert values["object"] == pytest.approx(2 * (2 / 3) * 1 / (2 / 3 + 1))
    assert values["attribute"] == 0
    assert values["relation"] == 1
    assert values["count"] == 0
    assert values["color"] == 0
    assert values["size"] != values["size"]  # the references say nothing of size


def test_several_tuples_may_find_the_same_one_as_in_the_original():
    # sofa and bed have nothing in common, and the references' couch is like both
    values = f_of([("sofa",), ("bed",)], [("couch",)])
    assert values["object"] == pytest.approx(2 * 1 * 2 / 3)  # precision 1, recall 2
