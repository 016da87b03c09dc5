"""The tokeniser gives what the official one printed, for any text, in linear time.

The truth is what Stanford's jar printed: tests/golden/ptb_cases.json, and all of the golden data
where the shared folder is there.
"""

import gzip
import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshcap.errors import CaptionError
from meshcap.metrics.ptb import PUNCTUATION, reading, tokenise, tokenise_all, tokens
from meshcap.metrics.ptb.rules import RULES

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "ptb_cases.json").read_text(encoding="utf-8")
)

# What the rules speak about, so that random texts meet them.
PIECES = [
    *"can't cannot gonna 's 'll n't o'clock d'you 'em '90s 'tis ma'am".split(),
    *"U.S. a.m. A. etc. Inc. Mr. no. Ph.D. The In Dog dog é É 日 ١ ́ ² ½ € £ § Ⓐ 😀".split(),
    *"3 1/2 555 5555 (555) +1 1,000 10:30 5th 1.x x.html t-shirt and/or AT&T C++ US$".split(),
    *"http:// www. ab.com /cd a@b @ab #ab <a <b> </b> &amp; &quot; &apos; :) ;-( ^_^ (".split(),
    *"“ ” ‘ ’ « „ ` `` '' \" ... . .. - -- — ! ? , : ; / \\ * < > = _ ~ + | ) [ ] { }".split(),
    *[" ", "  ", "\t", "\n", "\r", "\xa0", "\xad", "\u2003", "\u2028", "\x85", "\x00", "\ud800"],
]
texts = st.lists(st.sampled_from(PIECES) | st.characters(), max_size=12).map("".join) | st.text()


def without_punctuation(found: list[str]) -> str:
    """What pycocoevalcap's wrapper makes of a line."""
    line = " ".join(found).rstrip()
    return " ".join(token for token in line.split(" ") if token not in PUNCTUATION)


def shared_json(path: Path):
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)


# The official answers ----------------------------------------------------------------------------


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["text"][:30])
def test_tokens_and_words_are_the_official_ones(case):
    assert " ".join(tokens(case["text"])) == case["raw"]
    assert tokenise(case["text"]) == case["filtered"]


@pytest.mark.parametrize("case", GOLDEN["further"], ids=lambda case: case["text"][:30])
def test_every_rule_and_every_word_of_the_lists_is_the_official_one(case):
    assert " ".join(tokens(case["text"])) == case["raw"]


@pytest.mark.parametrize("case", GOLDEN["following"], ids=lambda case: repr(case["following"]))
def test_what_follows_a_caption_in_a_file_changes_its_tokens_as_officially(case):
    assert " ".join(tokens(case["text"], case["following"])) == case["raw"]


@pytest.mark.parametrize("frame", GOLDEN["characters"])
def test_every_character_of_the_basic_plane_is_of_the_official_kind(frame):
    lines = [
        " ".join(tokens(frame.replace("{}", chr(code))))
        for code in range(1, 0x10000)
        if not 0xD800 <= code < 0xE000 and chr(code) not in "\n\r\x0b\x0c\u2028\u2029"
    ]
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    assert digest == GOLDEN["characters"][frame]


def test_exactly_seventeen_tokens_are_punctuation():
    assert len(PUNCTUATION) == 17
    # The official list has the names of brackets in capitals and its tokens have none.
    assert tokenise("(a) [b] {c}") == "-lrb- a -rrb- -lsb- b -rsb- -lcb- c -rcb-"
    assert tokenise("'a' `` '' ! ? , : - -- ... ; .") == "a"
    assert tokenise("!! ?! ----- ::") == "!! ?! -----"


@pytest.mark.parametrize(
    ("caption", "words"),
    [
        ("http://ab\xa0", "http://ab"),
        ("http://ab\xa0 ", "http://ab"),
        ("http://ab\xa0 .", "http://ab\xa0"),
        ("http://ab\xa0 a", "http://ab\xa0 a"),
        ("see http://ab\u2003", "see http://ab"),
        ("\xa0~.com/cd", "\xa0~.com/cd"),
        ("a \xa0~.com/cd", "a ~.com/cd"),
        ("a\xa0~.com/cd", "a\xa0~.com/cd"),
    ],
)
def test_blanks_that_are_not_ascii_are_as_in_pycocoevalcap(caption, words):
    # Printed by pycocoevalcap 1.2: it strips the end of a line, and cuts lines at ASCII blanks.
    assert tokenise(caption) == words


# All golden data ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def official(shared: Path) -> Path:
    """The folder with what the official tools printed."""
    folder = shared / "golden" / "metrics"
    if not folder.is_dir():
        pytest.skip(f"the official metrics' golden data, '{folder}', is absent")
    return folder


@pytest.fixture(scope="module")
def golden_cases(official: Path) -> dict:
    return shared_json(official / "tokeniser_cases.json.gz")


def test_all_5809_golden_lines_are_equal_in_the_order_of_their_file(golden_cases):
    # The jar had each text followed by an empty line, and looks beyond it.
    cases = [case["text"] for case in golden_cases["cases"]]
    following = ["\n" + "\n\n".join(cases[place + 1 : place + 3]) for place in range(len(cases))]
    different = [
        case["text"]
        for case, after in zip(golden_cases["cases"], following, strict=True)
        if " ".join(tokens(case["text"], after)) != case["raw"]
    ]
    assert different == []
    assert len(cases) == 5809


def test_golden_words_are_equal_without_neighbours_but_for_three(golden_cases):
    different = {
        case["text"]: (tokenise(case["text"]), case["filtered"])
        for case in golden_cases["cases"]
        if tokenise(case["text"]) != case["filtered"]
    }
    # In the golden file "The man saw …" comes next, which makes the dot a full stop.
    assert different == {
        "a.": ("a.", "a"),
        "A.": ("a.", "a"),
        "The man saw &b.": ("the man saw & b.", "the man saw & b"),
    }
    assert all(
        case["context_dependent"] for case in golden_cases["cases"] if case["text"] in different
    )


def test_ends_of_lines_inside_a_caption_are_blanks(golden_cases):
    for case in golden_cases["line_splitting_cases"]:
        # Java makes several lines of these captions. None of them has a token that could reach
        # over a blank, so the tokens of the lines are the tokens of the caption.
        lines = [line for line in case["raw_lines"] if line]
        assert " ".join(tokens(case["text"])) == " ".join(lines), case["text"]
    assert len(golden_cases["line_splitting_cases"]) == 42


@pytest.mark.parametrize("end", ["\n", "\r", "\x0b", "\x0c", "\u2028", "\u2029"])
def test_a_token_reaches_over_an_end_of_line_as_over_a_blank(end):
    assert tokens(f"a cup{end}of 3{end}1/2{end}") == ["a", "cup", "of", "3\xa01/2"]
    assert tokenise(f"a cup.{end}of 3{end}1/2{end}") == "a cup of 3\xa01/2"


def test_all_captions_of_the_golden_pictures_are_equal(official):
    expected = shared_json(official / "tokenised.json.gz")
    candidates = shared_json(official / "candidates.json")
    references = shared_json(official / "references.json")
    assert tokenise_all(candidate["caption"] for candidate in candidates) == [
        expected["candidates"][str(candidate["image_id"])] for candidate in candidates
    ]
    for picture, captions in references.items():
        assert tokenise_all(captions) == expected["references"][picture]
    assert (len(candidates), sum(map(len, references.values()))) == (1000, 4134)


def test_the_authors_tokenised_captions_are_equal(golden):
    pairs = shared_json(golden / "ptb_tokenizer.json")
    assert tokenise_all(pairs["captions"]) == pairs["ptb"]
    evaluation = shared_json(golden / "evaluation.json")
    for name in ("references", "candidates", "candidates_without_repeats"):
        for picture, captions in evaluation[name].items():
            assert tokenise_all(captions) == evaluation[f"{name}_tokenised"][picture]


# Any text ----------------------------------------------------------------------------------------


@given(texts)
def test_any_text_has_tokens_without_blanks(text):
    found = tokens(text)
    assert all(token and " " not in token for token in found)
    assert all(token == token.lower() for token in found)


@given(texts)
def test_the_fast_way_gives_the_words_of_the_slow_one(text):
    assert tokenise(text) == without_punctuation(tokens(text))
    assert tokenise_all([text, text]) == [tokenise(text)] * 2


@given(st.lists(texts, max_size=4), st.sampled_from([" ", "  ", ". ", ", "]))
def test_pieces_that_were_met_before_do_not_change_the_answer(parts, between):
    text = between.join(parts)
    for part in parts:
        tokenise(part)
    assert tokenise(text) == without_punctuation(tokens(text))


def test_few_states_and_pieces_are_remembered_and_forgetting_changes_nothing(monkeypatch):
    captions = [case["text"] for case in GOLDEN["cases"]]
    expected = tokenise_all(captions)
    reading._automaton.cache_clear()
    reading._inside.clear()
    reading._last.clear()
    monkeypatch.setattr("meshcap.metrics.ptb.automaton.STATES_AT_MOST", 40)
    monkeypatch.setattr(reading, "_REMEMBERED_AT_MOST", 30)
    monkeypatch.setattr(reading, "_LONGEST_REMEMBERED", 8)
    assert tokenise_all(captions) == expected
    assert len(reading._automaton().states) <= 40
    assert max(len(reading._inside), len(reading._last)) <= 30
    assert max(map(len, [*reading._inside, *reading._last])) <= 8
    reading._automaton.cache_clear()


def test_characters_beyond_the_basic_plane_are_dropped_but_in_addresses():
    # As Java sees them, such a character is two, and two are enough for an address.
    assert tokens("a dog🐶 and a 😀cat") == ["a", "dog", "and", "a", "cat"]
    assert tokens("http://😀") == ["http://😀"]
    assert tokens("half \ud83d a \udc36 character") == ["half", "a", "character"]


class CountingText(str):
    """A text that counts how often one of its characters is looked at."""

    looks = 0

    def __getitem__(self, place):
        CountingText.looks += 1
        return super().__getitem__(place)


def looks(monkeypatch, text: str) -> int:
    plain = reading.shape
    monkeypatch.setattr(reading, "shape", lambda whole: CountingText(plain(whole)))
    CountingText.looks = 0
    tokens(text)
    monkeypatch.undo()
    return CountingText.looks


HARD = [
    *[".", "!", "'", '"', "-", "_", "<", "&", "@", "(", "`", "~", "\\*", "*", "^_", "=", "::", "/"],
    *["a", "a.", "A. ", "a,", "a-", "a.-", "a&", "a_", "a!", "a'", "d'a", "a@", "a@b.", "n't"],
    *["1", "1,", "1 ", "1/", "12-", "555 ", "(55", "3 1/2 ", "etc. ", "U.S. The ", "no. "],
    *[
        "<a ",
        "<a b",
        "<!a",
        'a b="',
        '<a b="c" ',
        "A. <a ",
        "http://",
        "www.~",
        "~.",
        "~.com/a ",
        "a/b-",
    ],
    *[
        "é.",
        "\u0301",
        "§",
        "\x00",
        "\ud800",
        "😀",
        " ",
        "\xa0",
        "\t",
        "\n",
        "“",
        "\xad",
        ". ",
        "x.c",
    ],
    *["a" * 90 + "@ ", "~" * 90 + ". ", "A." + " " * 90, "<!a" + "b" * 90, "1.x." * 30 + " "],
]


@pytest.mark.parametrize("pattern", HARD, ids=lambda pattern: repr(pattern)[:12])
def test_time_grows_with_the_length_of_a_text(pattern, monkeypatch):
    length = 3000
    short = (pattern * length)[:length]
    long = (pattern * length * 2)[: 2 * length]
    few = looks(monkeypatch, short)
    assert looks(monkeypatch, long) <= 2.2 * few
    # A character is looked at for its own token, for some that begin before it, and in vain.
    assert few <= 200 * length


@pytest.mark.parametrize("pattern", ["a", "!", "<a ", "a@", "555 ", "https://x.", "\ud83d"])
def test_hundred_thousand_characters_are_no_trouble(pattern):
    text = (pattern * 100_000)[:100_000]
    assert tokenise(text) == without_punctuation(tokens(text))


# The doors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("caption", [None, 3, b"a dog", ["a dog"]])
def test_what_is_no_text_is_named(caption):
    for door in (tokens, tokenise, lambda given: tokenise_all([given])):
        with pytest.raises(CaptionError, match=f"of type {type(caption).__name__}; expected text"):
            door(caption)


def test_work_on_many_captions_is_heard_of_and_adds_up():
    heard: list[int] = []
    captions = (f"a dog number {number}" for number in range(2500))
    assert len(tokenise_all(captions, heard.append)) == 2500
    assert heard == [1000, 1000, 500]
    heard.clear()
    assert tokenise_all([], heard.append) == []
    assert heard == []


def test_no_caption_has_no_tokens():
    assert tokens("") == tokens("  \n ") == []
    assert tokenise("") == tokenise(" \t ") == tokenise(" . ") == ""


def test_every_rule_wins_somewhere_in_the_golden_cases():
    everything = [*GOLDEN["cases"], *GOLDEN["further"]]
    won = set()
    automaton = reading._automaton()
    for case in everything:
        shapes = reading.shape(reading._halved(case["text"]) + "\n\n")
        at = 0
        while at < len(shapes) - 2:
            rule, end, _ = automaton.longest(shapes, at, len(shapes), set())
            won.add(rule)
            at = end - RULES[rule].read_again
    assert [rule.form for number, rule in enumerate(RULES) if number not in won] == []
