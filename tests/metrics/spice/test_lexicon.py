"""The lexicon gives WordNet's synsets as METEOR has them, and English dictionary forms."""

import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshcap.metrics.spice import lexicon
from meshcap.metrics.spice.lexicon import (
    ADJECTIVE,
    NOUN,
    VERB,
    field,
    lemma,
    parts_of_speech,
    synsets,
    weight,
)

ASSET = Path(lexicon.__file__).parents[2] / "assets" / "wordnet" / "lexicon.npz"


def meteor_lists() -> tuple[dict[str, set[int]], dict[str, set[str]]]:
    """METEOR's synsets of each word, and the bases of each irregular form, from its jar."""
    found = find_spec("pycocoevalcap")
    if found is None or not found.submodule_search_locations:
        pytest.skip("pycocoevalcap, whose jar holds METEOR's table, is not installed")
    jar = Path(found.submodule_search_locations[0]) / "meteor" / "meteor-1.5.jar"
    with zipfile.ZipFile(jar) as archive:
        lines = archive.read("synonym/english.synsets").decode().rstrip("\n").split("\n")
        pairs = archive.read("synonym/english.exceptions").decode().rstrip("\n").split("\n")
    table = {
        word: {int(number) for number in numbers.split()}
        for word, numbers in zip(lines[::2], lines[1::2], strict=True)
    }
    bases: dict[str, set[str]] = {}
    for base, forms in zip(pairs[::2], pairs[1::2], strict=True):
        for form in forms.split():
            bases.setdefault(form, set()).add(base)
    return table, bases


def test_every_lemma_has_the_synsets_of_meteors_table():
    table, bases = meteor_lists()
    # A lemma that looks inflected has its base's synsets too ("glasses"), and so more of them.
    ours = {word: synsets(word) for word in table}
    missing = [word for word, numbers in table.items() if not numbers <= ours[word]]
    known = {number for numbers in table.values() for number in numbers}
    invented = [word for word, numbers in ours.items() if not numbers <= known]
    inflected = ("s", "ed", "ing", "er", "est", "men", "ful")
    added = [
        word
        for word, numbers in ours.items()
        if word not in bases and not word.endswith(inflected) and numbers != table[word]
    ]
    assert len(table) == 147_306
    assert (missing, invented, added) == ([], [], [])


def test_irregular_forms_have_the_synsets_of_their_bases():
    table, bases = meteor_lists()
    wrong = []
    for form, found in bases.items():
        expected = table.get(form, set()).union(*(table.get(base, set()) for base in found))
        if synsets(form) != expected:
            wrong.append(form)
    assert wrong == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("dogs", "dog"),
        ("men", "man"),
        ("knives", "knife"),
        ("riding", "ride"),
        ("ran", "run"),
        ("bigger", "big"),
        ("couch", "sofa"),
        ("picture", "photograph"),
        ("teddy bear", "teddy_bear"),
    ],
)
def test_forms_and_synonyms_share_synsets(one, other):
    assert synsets(one) & synsets(other)


@pytest.mark.parametrize(
    ("word", "number"),
    # ImageNet calls them n02084071, n02958343 and n04399382.
    [("dog", 2084071), ("car", 2958343), ("teddy bear", 4399382)],
)
def test_synsets_have_wordnets_own_numbers(word, number):
    assert number in synsets(word)


def test_different_things_share_none():
    assert not synsets("dog") & synsets("bicycle")
    assert not synsets("qwzx")


@pytest.mark.parametrize(
    ("form", "tag", "expected"),
    [
        ("men", "NNS", "man"),
        ("skis", "NNS", "ski"),
        ("leaves", "NNS", "leaf"),
        ("leaves", "VBZ", "leave"),
        ("buses", "NNS", "bus"),
        ("people", "NNS", "people"),
        ("sunglasses", "NNS", "sunglasses"),
        ("glass", "NN", "glass"),
        ("girrafes", "NNS", "girrafe"),
        ("riding", "VBG", "ride"),
        ("swinging", "VBG", "swing"),
        ("staring", "VBG", "stare"),
        ("stopped", "VBN", "stop"),
        ("lying", "VBG", "lie"),
        ("is", "VBZ", "be"),
        ("has", "VBZ", "have"),
        ("rollerblading", "VBG", "rollerblade"),
        ("bigger", "JJR", "big"),
        ("happiest", "JJS", "happy"),
        ("best", "JJS", "good"),
        ("red", "JJ", "red"),
        ("on", "IN", "on"),
    ],
)
def test_words_have_their_dictionary_form(form, tag, expected):
    assert lemma(form, tag) == expected


@pytest.mark.parametrize(
    ("word", "tags", "never"),
    [
        ("park", {"NN", "VB", "VBP"}, {"JJ"}),
        ("stands", {"NNS", "VBZ"}, {"NN"}),
        ("parked", {"VBN", "VBD", "JJ"}, {"NN"}),
        ("gone", {"VBN"}, {"VBG"}),
        ("quickly", {"RB"}, {"NN"}),
    ],
)
def test_a_word_can_be_what_wordnet_allows(word, tags, never):
    found = parts_of_speech(word)
    assert tags <= set(found)
    assert not never & set(found)
    assert all(common > 0 for common in found.values())


def test_common_words_weigh_more():
    assert weight("dog", NOUN) > weight("dog", VERB)
    assert weight("orange", NOUN) > 0
    assert weight("orange", ADJECTIVE) > 0
    assert weight("orange", VERB) == 0
    assert (field("man"), field("dog"), field("qwzx")) == (18, 5, 0)


@given(st.text(max_size=40))
def test_no_text_is_too_strange(text):
    assert isinstance(synsets(text), frozenset)
    assert parts_of_speech(text) is parts_of_speech(text)
    for tag in ("NN", "NNS", "VBG", "JJR", "XX", ""):
        assert isinstance(lemma(text, tag), str)


def test_the_lexicon_stays_small():
    assert ASSET.stat().st_size < 1_500_000
    assert "WordNet 3.0 Copyright 2006" in (ASSET.parent / "LICENSE").read_text(encoding="utf-8")
