"""Captions come apart into the words, and words into the stems, of the official program.

The truth: what meteor-1.5.jar printed for these texts (option -writeAlignments) and for these words
(its class Stemmer, for "en").
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshcap.metrics.meteor.lexicon import Synsets, list_arrays
from meshcap.metrics.meteor.normalise import Normaliser
from meshcap.metrics.meteor.sources import WordLists, word_lists
from meshcap.metrics.meteor.stems import stem

# The official list's entries that the texts below meet; they are case-sensitive.
PREFIXES = {
    "Mr": False,
    "St": False,
    "vs": False,
    "e.g": False,
    "No": True,
    "Art": True,
    "pp": True,
}

NORMALISED = [
    ("a man, a dog", "a man , a dog"),
    ("1,000 dogs,cats,5", "1,000 dogs , cats , 5"),
    ("a,b,c 1,a,2", "a , b,c 1 , a , 2"),
    ("dogs... cats ..", "dogs ... cats .."),
    ("wait....", "wait ...."),
    ("the u.s. flag", "the us flag"),
    ("u.s.", "us"),
    ("vs. cats", "vs. cats"),
    ("vs.", "vs."),
    ("a man. A dog", "a man . a dog"),
    ("a man. a dog", "a man. a dog"),
    ("Mr. Smith", "mr. smith"),
    ("mr. smith", "mr. smith"),
    ("St. 5", "st. 5"),
    ("No. 5", "no. 5"),
    ("No. five", "no. five"),
    ("Art. 5x e.g. x", "art. 5x eg x"),
    ("pp. 5 pp. x.", "pp. 5 pp. x ."),
    ("end.", "end ."),
    ("3.5 m. tall .5", "3.5 m. tall .5"),
    ("it's the dogs' 'tis 90's o'clock", "it 's the dogs ' ' tis 90 's o 'clock"),
    ("rock 'n' roll", "rock ' n ' roll"),
    ("5'6 5'a 5's x'5 'x' ''y''", "5 ' 6 5'a 5 's x ' 5 ' x ' \" y \""),
    ('`a` ‘b’ “c” "d"', "' a ' ' b ' \" c \" \" d \""),
    ("well-known-man x-ray -a a- .-b a.-5", "well known man x ray -a a- . b a . 5"),
    ("a–b a--b a -- b --- c", "a - b a b a - b -- c"),
    ("half 1/2 (or) <b> & 50% $5 €3", "half 1 / 2 ( or ) < b > & 50 % $ 5 € 3"),
    ("éa çà ø × ÷ ß ſ ƀ", "éa çà ø × ÷ ß ſ ƀ"),
    ("ё Ж \u0378 α Σ ς", "ё ж \u0378 α σ ς"),
    ("x\xa0y\u2009z\u3000w\u202fv", "x y z w v"),
    ("a\tb\x0cc", "a b c"),
    ("smile :) ☃ 日本", "smile : ) ☃ 日 本"),
    ("-lrb- a -rrb-", "-lrb- a -rrb-"),
    ("  two   spaces ", "two spaces"),
    ("İstanbul ÉCOLE", "i̇stanbul école"),
    ("don't can't i'd", "don 't can 't i 'd"),
    ("a.b.c. x.y", "abc x.y"),
    ("... a", "... a"),
    (". . a .", ". . a ."),
    ("a_b a|b a~b", "a _ b a | b a ~ b"),
    ("'", "'"),
    ("-", "-"),
    ("--", "-"),
    (",", ","),
    ("", ""),
]


@pytest.mark.parametrize(("text", "normalised"), NORMALISED)
def test_a_text_is_normalised_as_by_the_official_program(text, normalised):
    normaliser = Normaliser(PREFIXES)
    assert normaliser.text(text) == normalised
    assert " ".join(normaliser.words(text)) == normalised


def test_the_official_list_keeps_dots_as_the_few_words_here(official):
    normaliser = Normaliser(word_lists(official).prefixes)
    for text, normalised in NORMALISED:
        assert normaliser.text(text) == normalised


@given(text=st.text())
def test_any_text_comes_apart_into_words_without_blanks(text):
    words = Normaliser(PREFIXES).words(text)
    assert all(words)
    assert not any(blank in word for word in words for blank in " \t\n\r\f\xa0")


@given(text=st.text("abcxyz019 ", max_size=30))
def test_plain_text_takes_the_short_way_to_the_same_words(text):
    normaliser = Normaliser(PREFIXES)
    assert normaliser.words(text) == tuple(normaliser.text(text).split(" ") if text.strip() else ())


STEMS = """
    benches:bench sitting:sit happily:happili generously:generous communal:communal
    arsenal:arsenal skies:sky sky:sky dying:die lying:lie news:news organized:organ
    organic:organ evening:even even:even adding:ad added:ad paste:past past:past pasted:past
    university:univers universal:univers interval:interv internal:intern emergency:emerg
    biologist:biologist vying:vy ebbing:eb cries:cri ties:tie gas:gas this:this kiwis:kiwi
    bosses:boss caress:caress agreed:agre feed:feed hoped:hope hopping:hop hoping:hope
    failing:fail sized:size bled:bled cities:citi by:by say:say youth:youth boyish:boyish
    syllable:syllabl rational:ration optional:option conditional:condit digitizer:digit
    operator:oper feudalism:feudal hopefulness:hope callousness:callous formaliti:formal
    sensibiliti:sensibl analogi:analog thoughtfulli:thought cheaply:cheapli duplicate:duplic
    electrical:electr formative:format allowance:allow homologous:homolog adoption:adopt
    adapt:adapt effective:effect cease:ceas controll:control roll:roll rate:rate inning:inning
    outings:outing proceeds:proceed succeed:succeed herring:herring 's:'s 'em:em dogs':dog
    o'clock:o'clock yoyo:yoyo yay:yay ayy:ayi é:é naïvely:naïv x:x a:a
"""


@pytest.mark.parametrize(("word", "expected"), [row.split(":") for row in STEMS.split()])
def test_a_word_has_the_official_stem(word, expected):
    assert stem(word) == expected


@given(word=st.text(max_size=12).map(str.lower))
def test_any_word_has_a_stem(word):
    assert len(stem(word)) <= len(word) + 1


# Synonyms ---------------------------------------------------------------------------------------

LISTS = WordLists(
    {
        "man": (1, 2), "box": (3,), "pass": (4,), "hope": (5,), "hop": (6,), "big": (7,),
        "mouse": (8,), "mice": (9,), "lie": (10,), "ly": (11,), "hand": (12,), "handful": (13,),
        "a": (14,), "church": (15,), "as": (16,), "large": (17,), "gas": (18,),
    },
    {"lain": ("lie",), "mice": ("mouse",), "lay": ("lie", "ly"), "boxes": ("nothing",)},
    frozenset(),
    {},
)  # fmt: skip


@pytest.mark.parametrize(
    ("word", "synsets"),
    [
        ("man", {1, 2}),
        ("men", {1, 2}),
        ("boxes", set()),  # an exception, so that no rule is tried
        ("churches", {15}),
        ("hoped", {5}),  # the first rule that leads to a word: -ed to -e
        ("hops", {6}),
        ("larger", {17}),
        ("passes", {4}),
        ("mice", {8, 9}),  # its own and those of its base
        ("lay", {10, 11}),  # several bases
        ("bigs", {7}),
        ("gass", set()),
        ("handsful", set()),
        ("handful", {13}),
        ("handfuls", {13}),
        ("as", {16}),  # two letters: no rule
        ("unknown", set()),
        ("", set()),
    ],
)
def test_synsets_are_a_word_s_own_and_those_of_its_base(word, synsets):
    assert Synsets(list_arrays(LISTS)).of(word) == synsets


def test_official_synsets_come_back_from_the_arrays(official):
    lists = word_lists(official)
    synsets = Synsets(list_arrays(lists))
    assert len(lists.synsets) > 70_000
    for word in ["dog", "zyrian", "'hood", "sit", "0"]:
        assert set(lists.synsets[word]) <= synsets.of(word)
    assert synsets.of("sofa") & synsets.of("couches")
