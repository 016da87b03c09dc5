"""The vocabulary: the paper's rule, the authors' list, round trips, and broken files.

Numbers of the small table come from golden/m2/text_field.json and vocab_10201.json (BSD-3).
"""

import gzip
import json
import pickle
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshcap.errors import MeshcapError, VocabularyError
from meshcap.special_words import SPECIAL_WORDS
from meshcap.text import Vocabulary, tokenize
from meshcap.text.vocabulary import SPECIAL_NAMES

CAPTIONS = ["A man, a dog.", "A dog on a mat!", "a  man"]
SPECIAL = list(SPECIAL_NAMES)


@pytest.fixture
def vocabulary():
    return Vocabulary.count(CAPTIONS, at_least=2)


def test_frequent_words_come_first_and_ties_in_the_order_of_code_points():
    counts = {"é": 3, "z": 3, "a": 3, "dog": 9, "rare": 1, "Z": 3}
    made = Vocabulary.from_counts(counts, at_least=3)
    assert list(made) == [*SPECIAL, "dog", "Z", "a", "z", "é"]


def test_a_word_is_kept_from_five_occurrences_on():
    assert list(Vocabulary.from_counts({"five": 5, "four": 4})) == [*SPECIAL, "five"]
    assert list(Vocabulary.count(["cat"] * 5 + ["dog"] * 4)) == [*SPECIAL, "cat"]


def test_captions_and_lists_of_words_count_alike(vocabulary):
    assert list(vocabulary) == [*SPECIAL, "a", "dog", "man"]
    assert Vocabulary.count(map(tokenize, CAPTIONS), at_least=2) == vocabulary


def test_special_words_have_their_numbers_and_are_not_counted():
    made = Vocabulary.from_counts({"<eos>": 100, "cat": 5})
    assert list(made) == [*SPECIAL, "cat"]
    assert made.special == SPECIAL_WORDS
    assert [made.number(name) for name in SPECIAL_NAMES] == [0, 1, 2, 3]


def test_white_space_is_a_word_only_when_asked_for():
    captions = ["a  cat"] * 5
    assert list(Vocabulary.count(captions)) == [*SPECIAL, "a", "cat"]
    kept = Vocabulary.count(captions, keep_white_space=True)
    assert list(kept) == [*SPECIAL, " ", "a", "cat"]
    assert kept.encode("a  cat") == [2, 5, 4, 6, 3]
    assert kept.encode("a cat") == [2, 5, 6, 3]


def test_an_unknown_word_has_number_0(vocabulary):
    assert vocabulary["dog"] == vocabulary.number("dog") == 5
    assert vocabulary["zebra"] == 0
    assert "dog" in vocabulary
    assert "zebra" not in vocabulary
    assert len(vocabulary) == 7


def test_a_caption_is_encoded_from_beginning_to_end(vocabulary):
    assert vocabulary.encode("A dog!") == [2, 4, 5, 3]
    assert vocabulary.encode(["a", "zebra"]) == [2, 4, 0, 3]
    assert vocabulary.encode("") == [2, 3]
    assert vocabulary.numbers(["a", "zebra"]) == [4, 0]


def test_rows_are_padded_to_the_longest(vocabulary):
    assert vocabulary.padded(["a man and a dog", "", "a"]) == [
        [2, 4, 6, 0, 4, 5, 3],
        [2, 3, 1, 1, 1, 1, 1],
        [2, 4, 3, 1, 1, 1, 1],
    ]
    assert vocabulary.padded([]) == []


def test_decoding_stops_at_the_first_end(vocabulary):
    assert vocabulary.decode([4, 5, 3, 4, 1]) == "a dog"
    assert vocabulary.decode([2, 4, 5]) == "a dog"
    assert vocabulary.decode([0, 2, 1]) == "<unk> <bos> <pad>"
    assert vocabulary.words_of([]) == []


@pytest.mark.parametrize("number", [-1, 7, 10**30])
def test_a_number_outside_is_refused(vocabulary, number):
    with pytest.raises(VocabularyError, match=r"not in the vocabulary; expected 0 to 6$"):
        vocabulary.decode([number])


def test_numbers_after_the_end_do_not_matter(vocabulary):
    assert vocabulary.decode([4, 3, 999]) == "a"


@given(st.lists(st.text(min_size=1).filter(lambda word: word not in SPECIAL_NAMES), max_size=9))
def test_known_words_survive_the_way_to_numbers_and_back(words):
    storable = [word for word in words if word.isprintable()]
    made = Vocabulary.from_counts(Counter(storable), at_least=1, keep_white_space=True)
    assert made.words_of(made.encode(storable)) == storable
    assert Vocabulary.from_json(json.loads(json.dumps(made.to_json()))) == made


def test_a_vocabulary_is_a_value(vocabulary):
    same = Vocabulary(list(vocabulary.words))
    assert same == vocabulary
    assert hash(same) == hash(vocabulary)
    assert same.fingerprint == vocabulary.fingerprint == "90eb593bb812"
    other = Vocabulary([*SPECIAL, "cat"])
    assert other != vocabulary
    assert other.fingerprint != vocabulary.fingerprint
    assert vocabulary != "a"
    assert pickle.loads(pickle.dumps(vocabulary)) == vocabulary  # noqa: S301
    with pytest.raises(AttributeError):
        vocabulary.words = ()
    with pytest.raises(TypeError):
        vocabulary["dog"] = 7


def test_a_saved_vocabulary_is_read_back_and_has_a_word_a_line(tmp_path):
    saved = Vocabulary([*SPECIAL, "naïve", '"', "\n", "犬", " "])
    path = tmp_path / "words.json"
    saved.save(path)
    loaded = Vocabulary.load(path)
    assert loaded == saved
    assert loaded.keep_white_space
    text = path.read_text(encoding="utf-8")
    assert '\n  "naïve",\n  "\\"",\n  "\\n",\n  "犬",\n' in text


def test_that_white_space_is_kept_is_remembered_without_a_white_space_word(tmp_path):
    saved = Vocabulary([*SPECIAL, "a"], keep_white_space=True)
    saved.save(tmp_path / "words.json")
    assert Vocabulary.load(tmp_path / "words.json") == saved
    assert saved != Vocabulary([*SPECIAL, "a"])


def test_a_plain_list_of_words_is_read(tmp_path):
    path = tmp_path / "authors.json"
    path.write_text(json.dumps([*SPECIAL, "a", " "]), encoding="utf-8")
    assert Vocabulary.load(path) == Vocabulary([*SPECIAL, "a", " "])


FORM = {"format": "meshcap vocabulary", "version": 1, "keep_white_space": False}
BROKEN = [
    # what the file holds, what the sentence says
    ([*SPECIAL, "a", "b", "a"], "words 4 and 6 are both 'a'; expected each word once"),
    ([*SPECIAL, "a", 7], "word 5 is 7; expected a string"),
    ([*SPECIAL, None], "word 4 is None; expected a string"),
    ([*SPECIAL, ""], "word 4 is empty; expected a word"),
    ([*SPECIAL, "\ud800"], r"word 4 is '\ud800', which holds half a character; expected text"),
    (["<unk>", "<pad>", "<bos>", "a"], "'<eos>' stands nowhere; expected it at place 3"),
    (["a", *SPECIAL], "'<unk>' stands at place 1; expected it at place 0"),
    ([], "'<unk>' stands nowhere; expected it at place 0"),
    ("words", "holds a value of type str; expected a list of words or an object"),
    (None, "holds null; expected a list of words or an object"),
    ({"words": SPECIAL}, "holds an object of another kind; expected a list of words"),
    ({**FORM, "words": None}, "holds null; expected a list of words"),
    ({**FORM, "words": "abc"}, "holds a value of type str; expected a list of words"),
    ({**FORM, "version": 2, "words": SPECIAL}, "has version 2; expected 1"),
    ({**FORM, "keep_white_space": "no"}, "'keep_white_space' is 'no'; expected true or false"),
    ({**FORM, "words": [*SPECIAL, "\n"]}, r"holds the white space word '\n'; expected none"),
]


@pytest.mark.parametrize(("content", "sentence"), BROKEN)
def test_a_broken_file_is_named_with_what_was_found_and_expected(tmp_path, content, sentence):
    path = tmp_path / "words.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(VocabularyError) as caught:
        Vocabulary.load(path)
    assert str(caught.value).startswith(f"'{path}'")
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_json_or_absent_is_a_vocabulary_error_that_names_it(tmp_path):
    path = tmp_path / "words.json"
    path.write_bytes(b"\x80\x02 pickled")
    for broken in [path, tmp_path / "absent.json", tmp_path]:
        with pytest.raises(VocabularyError, match=str(broken)):
            Vocabulary.load(broken)
    with pytest.raises(VocabularyError, match="absent"):
        Vocabulary([*SPECIAL]).save(tmp_path / "absent" / "words.json")
    assert issubclass(VocabularyError, MeshcapError)


def test_a_string_is_not_a_list_of_words():
    with pytest.raises(VocabularyError, match="expected a list of words"):
        Vocabulary("abc")


def test_the_golden_captions_have_the_authors_numbers(golden):
    table = json.loads((golden / "text_field.json").read_text(encoding="utf-8"))
    made = Vocabulary.count(table["captions"], at_least=table["min_freq"], keep_white_space=True)
    assert list(made) == table["itos"]
    rows = made.padded(table["captions"])
    assert rows == table["numericalised_padded"]
    assert [made.decode(row) for row in rows] == table["decoded"]


def test_the_authors_vocabulary_comes_out_of_their_counts(golden):
    with gzip.open(golden / "vocab_word_counts.json.gz") as file:
        counts = dict(json.load(file))
    assert len(counts) == 27_321
    authors = Vocabulary.load(golden / "vocab_10201.json")
    assert Vocabulary.from_counts(counts, keep_white_space=True) == authors
    assert len(authors) == 10_201
    assert authors.keep_white_space
    white_space = {number: word for number, word in enumerate(authors) if word.isspace()}
    assert white_space == {
        86: " ", 2109: "  ", 3087: "\n", 5208: "   ", 5337: "\n ", 8708: "    "
    }  # fmt: skip
    without = Vocabulary.from_counts(counts)
    assert len(without) == 10_201 - 6
    assert not without.keep_white_space


def test_a_small_golden_caption_has_the_authors_numbers():
    # The head of the authors' list; the full list is compared above.
    head = Vocabulary([*SPECIAL, *"a on of the in with and is man to sitting".split()])
    assert head.encode("A man sitting, on the zebra.") == [2, 4, 12, 14, 5, 7, 0, 3]


def test_one_string_is_not_counted_letter_by_letter():
    with pytest.raises(VocabularyError, match="are one string; expected several captions"):
        Vocabulary.count("a cat on a mat")
