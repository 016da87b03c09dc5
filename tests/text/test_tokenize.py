"""The training tokeniser: tables of facts, the authors' golden captions, spaCy, hostile text.

The rows in the tables were given by spaCy 3.8.18's blank English tokenizer on lower-cased text;
those under TEXT_FIELD come from golden/m2/text_field.json (the authors' TextField, BSD-3).
"""

import gzip
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from meshcap.text.exceptions import EXCEPTIONS
from meshcap.text.tokenize import PUNCTUATION, split, tokenize

TEXT_FIELD = [
    # caption, spaCy's tokens, words as the authors keep them
    (
        "A man riding a wave on top of a surfboard.",
        "a man riding a wave on top of a surfboard .".split(),
        "a man riding a wave on top of a surfboard".split(),
    ),
    (
        "The man's surfboard isn't in the water...",
        "the man 's surfboard is n't in the water ...".split(),
        "the man 's surfboard is n't in the water".split(),
    ),
    (
        "Two dogs (one brown) and a cat - sleeping -- on a couch.",
        "two dogs ( one brown ) and a cat - sleeping -- on a couch .".split(),
        "two dogs ( one brown ) and a cat sleeping on a couch".split(),
    ),
    (
        'A close-up of a t-shirt that says "STOP".',
        'a close - up of a t - shirt that says " stop " .'.split(),
        'a close up of a t shirt that says " stop "'.split(),
    ),
    (
        "people at 5 o'clock in the U.S. eating 1/2 a pizza",
        "people at 5 o'clock in the u.s . eating 1/2 a pizza".split(),
        "people at 5 o'clock in the u.s eating 1/2 a pizza".split(),
    ),
    (
        "It's 3:30 p.m. and the clock's hands don't move.",
        "it 's 3:30 p.m. and the clock 's hands do n't move .".split(),
        "it 's 3:30 p.m. and the clock 's hands do n't move".split(),
    ),
    (
        "a man and a woman's dog are walking..",
        "a man and a woman 's dog are walking ..".split(),
        "a man and a woman 's dog are walking ..".split(),
    ),
    (
        "A  double  space and a trailing space ",
        ["a", " ", "double", " ", "space", "and", "a", "trailing", "space"],
        ["a", " ", "double", " ", "space", "and", "a", "trailing", "space"],
    ),
    (
        "\na man riding a bike",
        ["\n", "a", "man", "riding", "a", "bike"],
        ["\n", "a", "man", "riding", "a", "bike"],
    ),
    ("a man riding a bike\n", "a man riding a bike".split(), "a man riding a bike".split()),
    ("$5.00 price tag #1", "$ 5.00 price tag # 1".split(), "$ 5.00 price tag # 1".split()),
    ("", [], []),
]

SPACY_SAYS = [
    # contractions, with and without apostrophe, straight and curly
    ("I'll can't shouldn't've", "i 'll ca n't should n't 've"),
    ("they’re don’t", "they ’re do n’t"),
    ("dont whats cannot gonna", "do nt what s can not gon na"),
    ("well its shell were ill", "well its shell were ill"),
    ("the boys' dogs' toys", "the boys ' dogs ' toys"),
    # abbreviations and times
    ("at 5pm, 7 a.m. and 10p.m.", "at 5 pm , 7 a.m. and 10 p.m."),
    ("a t.v. vs. a tv.", "a t.v . vs. a tv ."),
    ("vitamin-a.", "vitamin - a."),
    ("w/o w/ and/or", "w/o w/ and/or"),
    # numbers, units and money
    ("a 5ft board, 10km, 20% off, 5'10\"", "a 5 ft board , 10 km , 20 % off , 5'10 \""),
    ("$5.00 5€ +1 1+1 2-3", "$ 5.00 5 € +1 1 + 1 2 - 3"),
    ("a 4-way stop, 1/2 a pie", "a 4 - way stop , 1/2 a pie"),
    # what cuts within a chunk, and what does not
    ("red,white,blue 1,000", "red , white , blue 1,000"),
    ("man/woman black&white x=y 5:b", "man / woman black&white x = y 5 : b"),
    ("two--three up...down a~b a_b", "two -- three up ... down a ~ b a_b"),
    ("the end.the start", "the end.the start"),
    # emoticons, one by one and put together again
    ("a smile:) and :-( <3", "a smile :) and :-( <3"),
    # longer hides shorter, even where a blank stands in the longer
    ("smile:) )", "smile : ) )"),
    # addresses
    ("see www.example.com/a-b,c (mail me@x.org)", "see www.example.com/a-b,c ( mail me@x.org )"),
    # other scripts and signs
    ("café-bar “naïve” 😀dog 犬.", "café - bar “ naïve ” 😀 dog 犬 ."),
    ("'' `` \"quoted\"", "'' ` ` \" quoted \""),
]


@pytest.mark.parametrize(("caption", "tokens", "words"), TEXT_FIELD)
def test_captions_become_the_authors_words(caption, tokens, words):
    assert split(caption) == tokens
    assert tokenize(caption, keep_white_space=True) == words
    assert tokenize(caption) == [word for word in words if not word.isspace()]


@pytest.mark.parametrize(("caption", "tokens"), SPACY_SAYS)
def test_captions_are_split_as_spacy_splits_them(caption, tokens):
    assert split(caption) == tokens.split()


def test_all_golden_captions_have_the_authors_tokens(golden):
    table = json.loads((golden / "text_field.json").read_text(encoding="utf-8"))
    assert sorted(PUNCTUATION) == sorted(table["punctuations"])
    assert [split(text) for text in table["captions"]] == table["spacy_tokens_before_punctuation"]
    kept = [tokenize(text, keep_white_space=True) for text in table["captions"]]
    assert kept == table["tokens"]


def spacy_tokenizer():
    try:
        import spacy
    except ImportError:
        pytest.skip("spaCy is not installed; to compare with it: pip install spacy==3.8.18")
    if spacy.__version__ != "3.8.18":
        pytest.skip(f"spaCy is {spacy.__version__}; to compare: pip install spacy==3.8.18")
    return spacy.blank("en").tokenizer


@pytest.mark.filterwarnings("ignore")  # what spaCy's own imports warn of
def test_all_captions_at_hand_are_split_as_spacy_splits_them(shared):
    spacy = spacy_tokenizer()
    captions = set()
    for path in [*shared.glob("data/coco/*.json"), *shared.glob("data/coco/*.json.gz")]:
        data = path.read_bytes()
        content = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
        captions |= {annotation["caption"] for annotation in content["annotations"]}
    for path in shared.glob("data/flickr8k/*.json"):
        images = json.loads(path.read_bytes())["images"]
        captions |= {sentence["raw"] for image in images for sentence in image["sentences"]}
    if not captions:
        pytest.skip(f"there are no captions under '{shared / 'data'}'")
    different = [
        caption
        for caption in captions
        if split(caption) != [token.text for token in spacy(caption.lower().rstrip("\n"))]
    ]
    assert different == []


@pytest.mark.filterwarnings("ignore")
def test_the_table_of_exceptions_is_spacys_in_lower_case():
    rules = spacy_tokenizer().rules
    orth = 65  # spaCy's number of the attribute "text"
    theirs = {
        chunk: tuple(token[orth] for token in tokens)
        for chunk, tokens in rules.items()
        if chunk == chunk.lower() and not chunk.isspace()
    }
    assert theirs == EXCEPTIONS


def test_exceptions_are_no_words_but_their_own_text_taken_apart():
    assert len(EXCEPTIONS) == 729
    assert all("".join(words) == chunk for chunk, words in EXCEPTIONS.items())


@given(st.text())
@example("İ\u0308 \ud800 \x00 ﷼.")
@example(" \u2003\n. a")
def test_any_text_is_taken_apart_without_loss(text):
    lowered = text.lower().rstrip("\n")
    assert "".join(split(text)).replace(" ", "") == lowered.replace(" ", "")


@given(st.text())
def test_words_are_tokens_less_punctuation_and_white_space(text):
    kept = [token for token in split(text) if token not in PUNCTUATION]
    assert tokenize(text, keep_white_space=True) == kept
    assert tokenize(text) == [token for token in kept if not token.isspace()]


@given(st.lists(st.sampled_from([*EXCEPTIONS, *"ab.,:;-()'/@ 1", "😀", "x.com"]), max_size=8))
def test_case_and_a_last_line_end_mean_nothing(pieces):
    text = "".join(pieces)
    assert split(text.upper() + "\n") == split(text.upper().lower())


@pytest.mark.parametrize(
    "piece",
    [
        "(",
        ".",
        ")..",
        "a.",
        "a@",
        ":",
        "'s",
        "-",
        "😀",
        "\ud800",
        " \n",
        "a.b@c",
        "a://",
        "(:",
        "1+",
    ],
    ids=ascii,
)
def test_a_long_hostile_text_costs_time_in_proportion_to_its_length(piece):
    def seconds(size):
        begun = time.perf_counter()
        split(piece * (size // len(piece)))
        return time.perf_counter() - begun

    # Quadratic cost would make 16 times the text 256 times as slow.
    assert seconds(2**18) < 64 * seconds(2**14) + 0.5


@pytest.mark.parametrize("caption", [None, 3, b"a cat", ["a", "cat"]])
def test_what_is_no_text_is_refused_in_one_sentence(caption):
    with pytest.raises(TypeError, match=r"^a caption must be a str; found \w+$"):
        tokenize(caption)
    with pytest.raises(TypeError, match=r"^a caption must be a str; found \w+$"):
        split(caption)


def test_the_text_package_needs_neither_torch_nor_spacy():
    code = (
        "import sys, meshcap.text.vocabulary\n"
        "sys.exit(', '.join({'torch', 'spacy', 'numpy'} & set(sys.modules)) or 0)"
    )
    source = Path(__file__).resolve().parents[2] / "src"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
