"""METEOR equals the official program: the same doubles and the same 23 statistics.

The truth: what meteor-1.5.jar printed (see `from_official`, `from_small` in golden/meteor.json, and
the golden READMEs).
"""

import json

import numpy as np
import pytest

from meshcap.metrics.base import Corpus
from meshcap.metrics.meteor import meteor, meteor_of
from meshcap.metrics.meteor.scoring import score_of


def measured(corpus, data=None):
    return meteor(data).measure(corpus, lambda finished: None)["meteor"]


def differing(found, scores, statistics):
    """The pictures whose score or statistics are not the very doubles of the official program."""
    rows = found.details["statistics"].tolist()
    return [
        number
        for number, (row, value) in enumerate(zip(rows, found.per_picture.tolist(), strict=True))
        if value != scores[number] or row != list(map(float, statistics[number]))
    ]


def of_rows(rows):
    return [row["score"] for row in rows], [row["statistics"] for row in rows]


def test_all_stages_peculiarities_and_signs_give_the_official_doubles(printed, small, corpus_of):
    rows = printed["small"]
    found = measured(corpus_of(rows), small)
    assert differing(found, *of_rows(rows)) == []
    assert found.value == printed["small_score"]
    matched = found.details["statistics"][:, 4:20].reshape(-1, 4, 4).sum(axis=(0, 2))
    assert (matched > 50).all(), "each stage should be at work in these rows"


def test_captions_of_every_kind_give_the_official_doubles(printed, official, corpus_of):
    rows = printed["official"]
    assert differing(measured(corpus_of(rows)), *of_rows(rows)) == []


def test_a_single_caption_scores_as_in_a_corpus(printed, small):
    for row in printed["small"][:40]:
        found = meteor_of(row["candidate"], row["references"], small)
        assert found == (row["score"], tuple(row["statistics"]))


@pytest.fixture(scope="module")
def of_thousand(thousand, official):
    return measured(
        Corpus(
            tuple(thousand.pictures),
            tuple(thousand.tokenised_candidates.values()),
            tuple(map(tuple, thousand.tokenised_references.values())),
        )
    )


def test_a_thousand_pictures_have_the_official_doubles_and_statistics(of_thousand, thousand):
    rows = [thousand.per_picture[picture] for picture in thousand.pictures]
    scores = [row["METEOR"] for row in rows]
    statistics = [list(map(float, row["meteor_stats"].split())) for row in rows]
    assert len(rows) == 1000
    assert differing(of_thousand, scores, statistics) == []


def test_the_corpus_score_is_the_official_double(of_thousand, thousand):
    assert of_thousand.value == thousand.corpus["METEOR"] == 0.22901934767917498
    assert of_thousand.choices == {"meteor": "1.5"}


def test_the_bootstrap_s_formula_gives_the_same_score(of_thousand):
    sums = of_thousand.statistics.sum(axis=0)
    twice = of_thousand.total(np.stack([sums, 2 * sums, 0 * sums]), 1000.0)
    assert twice == pytest.approx([of_thousand.value, of_thousand.value, 0.0], rel=1e-14)
    one_by_one = of_thousand.total(of_thousand.statistics, 1.0)
    # A caption matched whole has no chunk in its statistics, and so no penalty either.
    np.testing.assert_allclose(one_by_one, of_thousand.per_picture, rtol=1e-14)


@pytest.mark.parametrize("repeats", ["", "_without_repeats"])
def test_the_authors_evaluation_comes_out(golden, official, repeats):
    printed = json.loads((golden / "evaluation.json").read_text(encoding="utf-8"))
    candidates = printed[f"candidates{repeats}_tokenised"]
    references = printed["references_tokenised"]
    found = measured(
        Corpus(
            tuple(candidates),
            tuple(caption for (caption,) in candidates.values()),
            tuple(tuple(references[picture]) for picture in candidates),
        )
    )
    assert len(candidates) == 48
    assert found.value == printed[f"scores{repeats}"]["METEOR"]
    assert found.per_picture.tolist() == printed[f"per_image{repeats}"]["METEOR"]


def test_the_penalty_is_the_nearest_double_on_every_machine():
    # In this case glibc's pow is a unit of the last place off; Java's was not. The statistics are
    # sums over 5,000 pairs, whose corpus score the official program printed.
    sums = [39046, 39272, 19144, 19317, 4103, 4103, 6518, 6518, 186, 190, 7, 3, 351, 350, 74, 75]
    sums += [13618, 13739, 10552, 10872, 9003, 35409, 35850]
    assert score_of(sums) == 0.3526073022120612
