"""Counts by category, and the mean where a category has no value."""

from pathlib import Path

import numpy as np
import pytest

from meshcap.metrics.spice.scoring import CATEGORIES, SIZES, counts_of, scores_of

WORDNET = Path("/usr/share/wordnet/data.adj")  # Debian's wordnet-base


def counts(found, references=()):
    hits, own, theirs = counts_of(found, references)
    return {
        name: (hits[place], own[place], theirs[place])
        for place, name in enumerate(CATEGORIES)
        if own[place] or theirs[place]
    }


@pytest.mark.parametrize(
    ("parts", "categories"),
    [
        (("dog",), {"all", "object"}),
        (("dog", "furry"), {"all", "attribute"}),
        (("dog", "two"), {"all", "attribute", "count"}),
        (("dog", "eleven"), {"all", "attribute"}),
        (("dog", "brown"), {"all", "attribute", "color"}),
        (("dog", "tiny"), {"all", "attribute", "size"}),
        (("dog", "on", "mat"), {"all", "relation"}),
        # what was merged is printed with a stroke and misses its category
        (("dog", "gray/grey"), {"all", "attribute"}),
        # only attributes are colours
        (("orange",), {"all", "object"}),
        (("man", "two", "dog"), {"all", "relation"}),
    ],
)
def test_a_tuple_belongs_to_its_categories(parts, categories):
    assert counts([(parts, True)]) == dict.fromkeys(categories, (1, 1, 0))
    assert counts([], [parts]) == dict.fromkeys(categories, (0, 0, 1))


def test_nothing_in_the_references_is_nought_in_all_and_no_value_by_category():
    scores = scores_of([counts_of([(("dog",), False)], [])])
    assert scores.f[0, 0] == 0
    assert np.isnan(scores.f[0, 1:]).all()


def test_an_empty_candidate_scores_nought_where_references_say_something():
    scores = scores_of([counts_of([], [("dog",), ("dog", "brown")])])
    values = dict(zip(CATEGORIES, scores.f[0], strict=True))
    assert (values["all"], values["object"], values["color"]) == (0, 0, 0)
    assert np.isnan(values["relation"])


def test_no_pictures_give_empty_scores():
    assert scores_of([]).f.shape == (0, len(CATEGORIES))


def test_words_of_size_are_in_wordnet_s_clusters_of_extent():
    """Read from WordNet's own file, where it is installed."""
    if not WORDNET.is_file():
        pytest.skip(f"WordNet's adjectives, '{WORDNET}' of Debian's wordnet-base, are absent")
    members, similar = {}, {}
    for line in WORDNET.read_text(encoding="latin-1").splitlines():
        if line.startswith("  "):
            continue
        cells = line.split("|")[0].split()
        end = 4 + 2 * int(cells[3], 16)
        words = [word.split("(")[0].lower().replace("_", "-") for word in cells[4:end:2]]
        members[cells[0]] = words
        pointers = range(end + 1, end + 1 + 4 * int(cells[end]), 4)
        similar[cells[0]] = [cells[place + 1] for place in pointers if cells[place] == "&"]
    # large/big, small/little, thick, thin (from side to side), thin (of people)
    heads = ("01382086", "01391351", "02410394", "02412165", "00988232")
    clusters = {
        word for head in heads for synset in (head, *similar[head]) for word in members[synset]
    }
    assert clusters >= SIZES
