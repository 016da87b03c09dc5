"""The automaton finds what trying every length with Python's `re` finds."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshcap.metrics.ptb.automaton import Automaton

RULES = [
    "a b",
    "a+ b?",
    "[ab]+ c",
    "a* / b c",
    "(a | b c){2}",
    "b (c | a){1,3} / a",
    "[^ab]+",
    "(?i: a c)+ B",
    "{pair} / {pair}?",
    "a | b | c",
    "(a b | a b c)+ / c",
    "B [^{vowel}]",
    ".",
    r"\. \/ \[ | -",
]
PARTS = {"pair": "(a b | b a)", "vowel": "a-bA"}

# The same for Python: text, what must follow.
AS_REGULAR = [
    ("ab", ""),
    ("a+b?", ""),
    ("[ab]+c", ""),
    ("a*", "bc"),
    ("(?:a|bc){2}", ""),
    ("b(?:c|a){1,3}", "a"),
    ("[^ab]+", ""),
    ("(?:[aA][cC])+B", ""),
    ("(?:ab|ba)", "(?:ab|ba)?"),
    ("a|b|c", ""),
    ("(?:ab|abc)+", "c"),
    ("B[^a-bA]", ""),
    ("(?s:.)", ""),
    (r"\./\[|-", ""),
]
texts = st.text("aabbcABC./[-\n", max_size=12)


def by_trying(numbers: list[int], text: str, start: int) -> tuple[int, int]:
    """The winning rule and the end of its match: the longest with what follows, then the first."""
    for stop in range(len(text), start, -1):
        for number, rule in enumerate(numbers):
            body, tail = AS_REGULAR[rule]
            if re.fullmatch(f"(?:{body})(?:{tail})", text[start:stop]):
                ends = [
                    end
                    for end in range(stop, start - 1, -1)
                    if re.fullmatch(body, text[start:end]) and re.fullmatch(tail, text[end:stop])
                ]
                return number, ends[0]
    return -1, start


@given(st.lists(st.integers(0, len(RULES) - 1), min_size=1, max_size=6, unique=True), texts)
def test_the_longest_match_wins_and_then_the_first_rule(numbers, text):
    automaton = Automaton([RULES[number] for number in numbers], PARTS)
    for start in range(len(text)):
        rule, end, _ = automaton.longest(text, start, len(text), set())
        assert (rule, end) == by_trying(numbers, text, start)


@given(st.lists(st.integers(0, len(RULES) - 1), min_size=1, max_size=6, unique=True), texts)
def test_remembering_what_was_in_vain_changes_nothing(numbers, text):
    automaton = Automaton([RULES[number] for number in numbers], PARTS)
    expected = [automaton.longest(text, at, len(text), set())[:2] for at in range(len(text))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("meshcap.metrics.ptb.automaton.PATIENCE", 0)
        in_vain: set[tuple[int, int]] = set()
        found = [automaton.longest(text, at, len(text), in_vain)[:2] for at in range(len(text))]
    assert found == expected


def test_how_far_was_looked_says_whether_more_text_could_matter():
    automaton = Automaton(["a b* c", "a"], {})
    assert automaton.longest("abx", 0, 3, set()) == (1, 1, 2)
    assert automaton.longest("abb", 0, 3, set()) == (1, 1, 3)
    assert automaton.longest("abbc", 0, 4, set()) == (0, 4, 4)
    assert automaton.longest("x", 0, 1, set())[:2] == (-1, 0)


@pytest.mark.parametrize("rule", ["a)", "(a", "a / b / c"])
def test_a_rule_that_is_written_wrongly_is_noticed(rule):
    with pytest.raises((AssertionError, IndexError)):
        Automaton([rule], {})
