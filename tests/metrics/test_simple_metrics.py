"""BLEU, ROUGE, CIDEr and the counting metrics on small cases, worked out by hand."""

from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshcap.metrics import score
from meshcap.metrics.base import Corpus, no_tick
from meshcap.metrics.bleu import bleu
from meshcap.metrics.cider import cider, cider_d
from meshcap.metrics.diversity import (
    bad_endings,
    distinct,
    length,
    novel,
    repeats,
    vocabulary,
)
from meshcap.metrics.idf import DocumentFrequencies
from meshcap.metrics.ngrams import matches, ngrams
from meshcap.metrics.rouge import rouge_l, rouge_l_of

pytestmark = pytest.mark.filterwarnings("ignore::meshcap.metrics.CaptionWarning")


def corpus(*rows):
    """A corpus of (candidate, references…)."""
    pictures = tuple(str(number) for number in range(len(rows)))
    return Corpus(pictures, tuple(row[0] for row in rows), tuple(tuple(row[1:]) for row in rows))


def value(metric, *rows, name=None):
    return metric.measure(corpus(*rows), no_tick)[name or metric.names[0]].value


# ---- n-grams


def test_ngrams_stay_inside_their_text_and_are_counted():
    found = ngrams([["a", "b", "a", "b"], [], ["b"], ["a", "b"]])
    pairs = found.orders[1]
    grams = found.grams(2)
    counted = {
        (text, grams[gram]): count
        for text, gram, count in zip(pairs.text, pairs.gram, pairs.counts, strict=True)
    }
    assert counted == {(0, ("a", "b")): 2, (0, ("b", "a")): 1, (3, ("a", "b")): 1}
    assert [len(order.text) for order in found.orders] == [5, 3, 2, 1]
    assert ngrams([]).orders[3].grams == 0


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=6), max_size=5))
def test_ngrams_are_those_of_a_plain_loop(texts):
    found = ngrams(texts)
    for order in range(1, 5):
        plain = {}
        for number, text in enumerate(texts):
            for at in range(len(text) - order + 1):
                key = number, tuple(text[at : at + order])
                plain[key] = plain.get(key, 0) + 1
        entries, grams = found.orders[order - 1], found.grams(order)
        ours = {
            (int(text), grams[gram]): int(count)
            for text, gram, count in zip(entries.text, entries.gram, entries.counts, strict=True)
        }
        assert ours == plain


def test_matches_give_a_key_as_often_as_it_stands():
    which, where = matches(np.array([5, 1, 7, 3]), np.array([1, 3, 3, 5]))
    assert list(zip(which.tolist(), where.tolist(), strict=True)) == [
        (0, 3),
        (1, 0),
        (3, 1),
        (3, 2),
    ]


# ---- BLEU


def test_matches_are_clipped_by_the_largest_count_in_one_reference():
    # "the" ×7 against two "the" in one reference and one in the other: 2 of 7.
    row = ("the the the the the the the", "the cat is on the mat", "there is a cat on the mat")
    assert value(bleu(), row, name="bleu-1") == pytest.approx(2 / 7, rel=1e-6)


def test_the_closest_reference_length_counts_and_the_shorter_on_a_tie():
    # Lengths 2 and 6 are as far from 4: 2 is taken, so there is no penalty.
    assert value(bleu(), ("a b c d", "a b", "a b c d e f")) == pytest.approx(1, rel=1e-6)
    assert value(bleu(), ("a b c d", "a b c d e f")) == pytest.approx(exp(1 - 6 / 4), rel=1e-6)


def test_the_corpus_score_is_of_summed_counts_not_a_mean():
    rows = ("a b", "a b"), ("c d e f", "x y z w")
    assert value(bleu(), *rows, name="bleu-1") == pytest.approx(2 / 6, rel=1e-6)


@given(st.lists(st.text(alphabet="abc ", min_size=1, max_size=30), min_size=1, max_size=4))
def test_a_candidate_equal_to_its_only_reference_scores_one(texts):
    rows = [(text, text) for text in texts if text.split()]
    if not rows:
        return
    measured = bleu().measure(corpus(*rows), no_tick)
    for order in range(1, 5):
        long_enough = any(len(row[0].split()) >= order for row in rows)
        expected = 1 if long_enough else None
        if expected:
            assert measured[f"bleu-{order}"].value == pytest.approx(1, abs=1e-6)
    rouge = rouge_l().measure(corpus(*rows), no_tick)["rouge-l"]
    assert rouge.value == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("references", [("",), ("a cat",), ("", "a cat")])
def test_an_empty_candidate_scores_about_nothing(references):
    assert value(bleu(), ("", *references)) == pytest.approx(0, abs=1e-5)


# ---- ROUGE


def longest_common_by_table(first, second):
    rows = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, left in enumerate(first):
        for j, right in enumerate(second):
            both = rows[i][j] + 1
            rows[i + 1][j + 1] = both if left == right else max(rows[i][j + 1], rows[i + 1][j])
    return rows[-1][-1]


@given(st.text("abcd", min_size=1, max_size=90), st.text("abcd", min_size=1, max_size=90))
def test_rouge_follows_from_the_longest_common_subsequence(candidate, reference):
    common = longest_common_by_table(candidate, reference)
    p, r = common / len(candidate), common / len(reference)
    expected = 0 if common == 0 else (1 + 1.44) * p * r / (r + 1.44 * p)
    assert rouge_l_of(candidate, [reference]) == pytest.approx(expected, rel=1e-12)


def test_precision_and_recall_are_each_the_best_of_all_references():
    # Against "a": P 1/2, R 1. Against "a b c d": P 1, R 1/2. The best of each is 1.
    assert value(rouge_l(), ("a b", "a", "a b c d")) == pytest.approx(1)


def test_an_empty_candidate_matches_an_empty_reference_as_in_the_official_tool():
    assert value(rouge_l(), ("", "")) == 1
    assert value(rouge_l(), ("", "a cat")) == 0


def test_a_no_break_space_cuts_words_for_bleu_and_not_for_rouge():
    row = ("3\xa01/2 cats", "3 1/2 cats")
    assert value(bleu(), row) == pytest.approx(1, abs=1e-6)
    assert value(rouge_l(), row) < 1


# ---- CIDEr


def test_cider_d_of_one_common_word_by_hand():
    # Two pictures; "cat" stands in one of them, so its weight is log 2; "a" in both: log 1 = 0.
    rows = ("a cat", "a cat"), ("a dog", "a bird")
    # Picture 0: cosine 1 for orders 1 and 2, no n-grams of orders 3, 4: 10 · 2/4.
    assert value(cider_d(), *rows) == pytest.approx((10 * 2 / 4 + 0) / 2)
    # A foreign corpus of 10 documents in which "cat" stands in 5, and nothing else is known.
    frequencies = DocumentFrequencies({("cat",): 5.0}, 10, name="hand")
    cat, other = log(10) - log(5), log(10)
    ours = {"two": other * 2, "cat": cat}  # "two two cat"
    theirs = {"two": other, "cat": cat}  # "two cat"
    norms = sqrt(sum(w**2 for w in ours.values())) * sqrt(sum(w**2 for w in theirs.values()))
    clipped = (min(ours["two"], theirs["two"]) * theirs["two"] + cat * cat) / norms
    pairs = other * other / (sqrt(2 * other**2) * other)  # of "two two", "two cat" one is there
    away = exp(-1 / (2 * 36))
    row = ("two two cat", "two cat")
    assert value(cider_d(idf=frequencies), row) == pytest.approx(10 * (clipped + pairs) / 4 * away)
    plain = (ours["two"] * theirs["two"] + cat * cat) / norms
    assert value(cider(idf=frequencies), row) == pytest.approx(10 * (plain + pairs) / 4)


def test_with_one_picture_every_weight_is_zero():
    assert value(cider_d(), ("a cat", "a cat")) == 0


def test_foreign_frequencies_may_make_weights_negative():
    frequencies = DocumentFrequencies({("cat",): 30.0}, 10)
    assert value(cider(idf=frequencies), ("cat", "cat")) == pytest.approx(10 / 4)
    # Clipping takes the smaller of two negative weights: the one counted twice.
    assert value(cider_d(idf=frequencies), ("cat cat", "cat")) != value(
        cider(idf=frequencies), ("cat cat", "cat")
    )


def test_the_end_token_tells_a_cut_caption_from_a_whole_one():
    rows = [("a man with a", "a man with a hat"), ("a dog", "a dog runs"), ("sky", "a blue sky")]
    whole = [("a man with hat", "a man with a hat"), *rows[1:]]
    assert value(cider_d(end=True), *whole) > value(cider_d(end=False), *whole)


# ---- counting


@pytest.mark.parametrize(
    ("metric", "captions", "expected"),
    [
        (distinct(1), ["a a b", "a c"], 3 / 5),
        (distinct(2), ["a a b", "a a"], 2 / 3),
        (distinct(2), ["a", ""], 0),
        (vocabulary(), ["a a b", "a c"], 3),
        (length(), ["a a b", "a", ""], 4 / 3),
        (bad_endings(), ["a man with a", "a man", "a view of", ""], 1 / 2),
        (bad_endings(["man"]), ["a man with a", "a man"], 1 / 2),
        (repeats(), ["a man a man sits", "a a cat", "a cat and a dog", ""], 1 / 2),
        (repeats(), ["see a cat cat", "a b c d a b c d", "a b c d e a b c d e", "x y x"], 1 / 2),
        (novel(["A cat.", "Two dogs!"]), ["a cat", "a dog"], 1 / 2),
    ],
    ids=lambda given: getattr(given, "name", None),
)
def test_a_counting_metric_counts_what_it_says(metric, captions, expected):
    rows = [(caption, "a reference") for caption in captions]
    assert value(metric, *rows) == pytest.approx(expected)


# ---- any text


TEXTS = st.text(max_size=40)


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=4))
def test_any_unicode_caption_scores_without_failing(rows):
    candidates = {str(number): row[0] for number, row in enumerate(rows)}
    references = {str(number): row[1:] for number, row in enumerate(rows)}
    names = ["bleu", "rouge-l", "cider-d", "cider", "distinct-1", "length", "repeats"]
    for name, found in score(candidates, references, names).items():
        assert np.isfinite(found.value), name
        top = {"cider": 10.0, "cider-d": 10.0, "length": 100.0}.get(name, 1.0)
        assert 0 <= found.value <= top + 1e-9, name


@given(
    st.lists(
        st.tuples(st.text("ab c'.", max_size=20), st.text("ab c'.", max_size=20)),
        min_size=2,
        max_size=6,
    ),
    st.randoms(use_true_random=False),
)
def test_a_permuted_corpus_has_the_same_scores(rows, random):
    names = ["bleu", "rouge-l", "cider-d", "cider", "distinct-2", "vocabulary", "repeats"]
    order = list(range(len(rows)))
    random.shuffle(order)
    given = score(
        {i: rows[i][0] for i in range(len(rows))}, {i: [rows[i][1]] for i in order}, names
    )
    moved = score({i: rows[i][0] for i in order}, {i: [rows[i][1]] for i in order}, names)
    for name in given:
        assert moved[name].value == pytest.approx(given[name].value, rel=1e-12, abs=1e-15), name
        assert moved[name].signature == given[name].signature
        if given[name].per_picture is not None:
            assert moved[name].per_picture == pytest.approx(given[name].per_picture)
