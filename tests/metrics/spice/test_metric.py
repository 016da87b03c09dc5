"""SPICE as a metric: its sources, its names, and the mean over what has a value."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshcap.errors import CaptionError, FileError, MissingError, SettingError
from meshcap.metrics.base import Corpus, no_tick
from meshcap.metrics.spice import metric as spice_metric
from meshcap.metrics.spice import spice, spice_lite
from spice_trees import tree_of

NAMES = ("", ".object", ".attribute", ".relation", ".count", ".color", ".size")
SYNSETS = {"couch": {1}, "sofa": {1}}


@pytest.fixture
def few_synonyms(monkeypatch):
    monkeypatch.setattr(
        spice_metric, "_wordnet", lambda: lambda word: frozenset(SYNSETS.get(word, ()))
    )


def corpus(*pictures):
    names, candidates, references = zip(*pictures, strict=True) if pictures else ((), (), ())
    return Corpus(tuple(names), tuple(candidates), tuple(map(tuple, references)))


TUPLES = {
    # man, horse found; (man, tall) not; (man, ride, horse) found: 3 of 4, of 4: F 0.75
    "1": {
        "candidate": [["man"], ["horse"], ["man", "tall"], ["man", "ride", "horse"]],
        "references": [["man"], ["horse"], ["man", "ride", "horse"], ["horse", "brown"]],
    },
    # a synonym, and its colour
    "2": {"candidate": [["couch", "red"]], "references": [["sofa", "red"]]},
    "3": {"candidate": [["dog"]], "references": [["cat"]]},
}
CORPUS = corpus(("1", "a", ["b"]), ("2", "c", ["d"]), ("3", "e", ["f"]))


@pytest.fixture
def tuples(tmp_path):
    path = tmp_path / "tuples.json"
    path.write_text(json.dumps(TUPLES), encoding="utf-8")
    return path


def test_tuples_of_a_file_are_merged_and_scored(few_synonyms, tuples):
    measured = spice(tuples=tuples).measure(CORPUS, no_tick)
    assert tuple(measured) == tuple(f"spice{name}" for name in NAMES)
    values = {name: found.per_picture for name, found in measured.items()}
    nan = np.nan
    np.testing.assert_allclose(values["spice"], [0.75, 1.0, 0.0])
    np.testing.assert_allclose(values["spice.object"], [1.0, 1.0, 0.0])
    np.testing.assert_array_equal(values["spice.attribute"], [0.0, 1.0, nan])
    np.testing.assert_array_equal(values["spice.relation"], [1.0, nan, nan])
    np.testing.assert_array_equal(values["spice.count"], [nan, nan, nan])
    np.testing.assert_array_equal(values["spice.color"], [0.0, 1.0, nan])
    assert measured["spice"].value == pytest.approx(1.75 / 3)
    assert measured["spice.attribute"].value == 0.5  # of the two pictures that have one
    assert np.isnan(measured["spice.count"].value)
    assert measured["spice"].choices == {"parser": "tuples", "synonyms": "wordnet-3.0"}
    np.testing.assert_allclose(measured["spice"].details["precision"], [0.75, 1.0, 0.0])


@pytest.mark.parametrize("name", [f"spice{name}" for name in NAMES])
def test_the_value_is_what_the_statistics_add_up_to(few_synonyms, tuples, name):
    found = spice(tuples=tuples).measure(CORPUS, no_tick)[name]
    again = found.total(found.statistics.sum(axis=0), float(len(CORPUS)))
    np.testing.assert_array_equal(again, found.value)
    # and of several samples at once, as the bootstrap asks
    samples = np.stack([found.statistics[[0, 0, 1]].sum(axis=0), found.statistics.sum(axis=0)])
    values = found.per_picture[[0, 0, 1]]
    defined = values[~np.isnan(values)]
    expected = defined.mean() if len(defined) else np.nan
    np.testing.assert_allclose(found.total(samples, 3.0), [expected, found.value])


def test_each_picture_is_told_once(few_synonyms, tuples):
    told = []
    spice(tuples=tuples).measure(CORPUS, told.append)
    assert told == [1, 1, 1]


def test_the_official_tool_s_own_findings_are_taken(tmp_path):
    rows = [
        {
            "image_id": 5,
            # "gray/grey" is no colour any more, and nothing is merged or compared again
            "test_tuples": [
                {"tuple": ["dog"], "truth_value": True},
                {"tuple": ["dog", "gray"], "truth_value": True},
            ],
            "ref_tuples": [{"tuple": ["puppy"]}, {"tuple": ["puppy", "gray/grey"]}],
        }
    ]
    path = tmp_path / "official.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    measured = spice(tuples=path).measure(corpus(("5", "a", ["b"])), no_tick)
    assert measured["spice"].value == 1.0
    assert np.isnan(measured["spice.color"].value)
    assert measured["spice"].choices == {"parser": "tuples", "synonyms": "as-in-file"}


def test_a_picture_without_tuples_is_named(few_synonyms, tuples):
    with pytest.raises(CaptionError, match="has no tuples of picture 9"):
        spice(tuples=tuples).measure(corpus(("9", "a", ["b"])), no_tick)


def conllu(*sentences):
    lines = []
    for rows in sentences:
        for number, row in enumerate(rows.split(";"), 1):
            form, lemma, tag, head, relation = row.split()
            cells = (str(number), form, lemma, "_", tag, "_", head, relation, "_", "_")
            lines.append("\t".join(cells))
        lines.append("")
    return "\n".join(lines)


def test_trees_of_a_file_are_read_by_the_official_patterns(few_synonyms, tmp_path):
    path = tmp_path / "trees.conllu"
    path.write_text(
        conllu(
            "sofas sofa NNS 0 root;on on IN 3 case;grass grass NN 1 nmod",
            "couch couch NN 2 nsubj;stands stand VBZ 0 root;outside outside RB 2 advmod",
            "dogs dog NNS 2 nsubj;run run VBP 0 root",
        ),
        encoding="utf-8",
    )
    captions = corpus(
        ("1", "sofas on grass", ["couch stands outside", "dogs run"]), ("2", "", ["dogs run"])
    )
    measured = spice(trees=path).measure(captions, no_tick)
    # sofa of (sofa), (grass), (sofa, on, grass); (couch), (couch, stand), (dog), (dog, run)
    precision, recall = 1 / 3, 1 / 4
    f = 2 * precision * recall / (precision + recall)
    np.testing.assert_allclose(measured["spice"].per_picture, [f, 0.0])
    assert measured["spice"].choices["parser"] == "trees-basic"


def test_without_a_source_the_three_ways_are_named(monkeypatch):
    monkeypatch.delenv("MESHCAP_CORENLP", raising=False)
    metric = spice()  # the table of metrics asks it for its names
    assert metric.names == tuple(f"spice{name}" for name in NAMES)
    assert not metric.usual
    with pytest.raises(MissingError) as error:
        metric.measure(CORPUS, no_tick)
    for way in ("tuples=…", "trees=…", "official=…", "MESHCAP_CORENLP", "spice-lite"):
        assert way in str(error.value)


def test_one_source_is_enough(tuples):
    with pytest.raises(SettingError, match="takes one source of tuples; found tuples and trees"):
        spice(tuples=tuples, trees=tuples)


def test_a_file_that_is_missing_is_named_before_anything_is_measured(tmp_path):
    with pytest.raises(FileError, match="does not exist"):
        spice(tuples=tmp_path / "none.json")
    with pytest.raises(FileError, match="does not exist"):
        spice(trees=[tmp_path / "none.conllu"])


# ---- the built-in parser's name is never SPICE's


def adjectives_and_noun(text):
    """A double of the built-in parser: a caption's last word is a noun, the others adjectives."""
    *before, noun = text.split()
    cells = [*(f"{word}/JJ" for word in before), f"{noun}/NN"]
    return tree_of(" ".join(cells), " ".join(f"amod({noun}, {word})" for word in before))


@pytest.fixture
def parsed(monkeypatch):
    """The texts that the built-in parser's double was given."""
    texts = []

    def parse(text):
        texts.append(text)
        return adjectives_and_noun(text)

    monkeypatch.setitem(
        sys.modules, "meshcap.metrics.spice.lite", SimpleNamespace(parse=parse, PARSER="lite-1")
    )
    return texts


def test_spice_lite_is_named_so_everywhere(few_synonyms, parsed):
    metric = spice_lite()
    measured = metric.measure(corpus(("1", "brown dog", ["brown dog"])), no_tick)
    assert metric.name == "spice-lite"
    assert metric.names == tuple(measured) == tuple(f"spice-lite{name}" for name in NAMES)
    assert measured["spice-lite"].value == 1.0
    assert measured["spice-lite"].choices == {"parser": "lite-1", "synonyms": "wordnet-3.0"}


def test_each_text_is_parsed_once(few_synonyms, parsed):
    spice_lite().measure(
        corpus(("1", "brown dog", ["dog", "brown dog"]), ("2", "dog", ["brown dog"])), no_tick
    )
    assert sorted(parsed) == ["brown dog", "dog"]


words = st.sampled_from(["dog", "cat", "couch", "sofa"])
adjectives = st.lists(st.sampled_from(["red", "big", "two"]), max_size=2, unique=True)
captions = st.builds(lambda before, noun: " ".join([*before, noun]), adjectives, words)
pictures = st.lists(st.tuples(captions, st.lists(captions, min_size=1, max_size=3)), max_size=6)


@given(pictures, st.randoms(use_true_random=False))
def test_the_order_of_pictures_changes_no_picture_s_score(rows, random):
    with pytest.MonkeyPatch.context() as patch:
        double = SimpleNamespace(parse=adjectives_and_noun, PARSER="lite-1")
        patch.setitem(sys.modules, "meshcap.metrics.spice.lite", double)
        patch.setattr(
            spice_metric, "_wordnet", lambda: lambda word: frozenset(SYNSETS.get(word, ()))
        )
        named = [(str(number), *row) for number, row in enumerate(rows)]
        shuffled = random.sample(named, len(named))
        for name in ("spice-lite", "spice-lite.attribute"):
            ours, theirs = (
                dict(
                    zip(
                        (row[0] for row in order),
                        spice_lite().measure(corpus(*order), no_tick)[name].per_picture,
                        strict=True,
                    )
                )
                for order in (named, shuffled)
            )
            for picture, value in ours.items():
                np.testing.assert_array_equal(theirs[picture], value)
