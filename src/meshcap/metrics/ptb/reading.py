"""The official tokeniser of caption scores: Stanford's PTBTokenizer 3.4.1 without Java.

Knows captions, their tokens and which of them scores leave out; nothing of metrics or files. What
a token is stands in `rules`.

    tokens("A man's dog.")    ['a', 'man', "'s", 'dog', '.']
    tokenise("A man's dog.")  "a man 's dog"

What differs from the official tool:

1. It reads all captions as lines of one file and looks over the end of a line, so that a caption's
   tokens can depend on the next one ("a." is one token or two). Here every caption is read as if
   only empty lines followed; `tokens(caption, following)` gives the official answer.
2. Carriage returns, vertical tabs, form feeds, U+2028 and U+2029 end a line for Java, and so shift
   all later captions of the official wrapper to the wrong pictures. Here they are blanks, as the
   line feed is in both.
3. Capitals become small letters as Python does it; a capital sigma inside a token ("Σ-1") can be
   the other small one.
"""

import re
from collections.abc import Iterable
from functools import cache

from meshcap.errors import CaptionError
from meshcap.metrics.base import Tick, no_tick
from meshcap.metrics.ptb.automaton import Automaton, InVain
from meshcap.metrics.ptb.characters import shape
from meshcap.metrics.ptb.rules import PARTS, RULES

PUNCTUATION = frozenset(
    ["''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-"]
    + [".", "?", "!", ",", ":", "-", "--", "...", ";"]
)
"""What scores leave out. The names of brackets are in capitals: they never match a token."""

_LINE_END = re.compile("[\n\r\x0b\x0c\u2028\u2029]")
_BEYOND_BASIC_PLANE = re.compile("[\U00010000-\U0010ffff]")
_TWO_HALVES = re.compile("[\ud800-\udbff][\udc00-\udfff]")

# Texts to tokens -------------------------------------------------------------------------------


@cache
def _automaton() -> Automaton:
    return Automaton([rule.form for rule in RULES], PARTS)


def _halved(text: str) -> str:
    """With two surrogates for each character beyond the basic plane, as Java has it."""

    def halves(found: re.Match[str]) -> str:
        above = ord(found.group()) - 0x10000
        return chr(0xD800 + (above >> 10)) + chr(0xDC00 + (above & 0x3FF))

    return text if text.isascii() else _BEYOND_BASIC_PLANE.sub(halves, text)


def _whole(token: str) -> str:
    """The opposite of `_halved`."""

    def character(found: re.Match[str]) -> str:
        high, low = map(ord, found.group())
        return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))

    return token if token.isascii() else _TWO_HALVES.sub(character, token)


def _read(text: str, following: str) -> tuple[list[str], bool]:
    """The tokens that begin in `text`, and whether what comes after `following` could change them.

    A token's end is found by looking ahead until no rule can match any more. Where the looking
    stops at the end of all there is, a rule might have matched with more text.
    """
    whole = _halved(text + following)
    end = len(whole) - len(_halved(following))
    shapes = shape(whole)
    stop = len(whole)
    longest = _automaton().longest
    in_vain: InVain = set()
    found: list[str] = []
    at = 0
    open_ended = False
    while at < end:
        number, token_end, seen = longest(shapes, at, stop, in_vain)
        open_ended = open_ended or seen == stop
        assert number >= 0 and token_end > at, f"no rule for {whole[at]!r}"
        rule = RULES[number]
        printed = rule.prints
        if not isinstance(printed, str):
            printed = printed(whole[at:token_end])
        if printed:
            found.append(_whole(printed).lower())
        at = token_end - rule.read_again
    return found, open_ended


def _expect_text(caption: str) -> None:
    if not isinstance(caption, str):
        raise CaptionError(f"a caption is of type {type(caption).__name__}; expected text")


def tokens(caption: str, following: str = "") -> list[str]:
    """The official tokens of a caption in lower case, punctuation among them.

    No token holds an ASCII blank, but one may hold another: "3 1/2" is one token with a no-break
    space. `following` is what comes after the caption's line in the official tool's input.
    """
    _expect_text(caption)
    return _read(_LINE_END.sub(" ", caption), f"\n{following}\n")[0]


# Texts to words --------------------------------------------------------------------------------

_REMEMBERED_AT_MOST = 2**16
"""How many pieces of captions are remembered."""

_LONGEST_REMEMBERED = 40
"""How many characters a remembered piece may have."""


class _Pieces(dict[str, str | None]):
    """The words of a caption's pieces between blanks; None where a piece alone does not tell."""

    def __init__(self, following: str, at_end: bool) -> None:
        super().__init__()
        self.following = following
        self.at_end = at_end

    def __missing__(self, piece: str) -> str | None:
        words = None
        # Other white space is one run with the blank before it, and line ends are none.
        if not (piece[:1].isspace() or _LINE_END.search(piece)):
            found, open_ended = _read(piece, self.following)
            if self.at_end:
                words = _words(found)
            elif not (open_ended or (found and found[-1][-1:].isspace())):
                words = " ".join(token for token in found if token not in PUNCTUATION)
        if len(piece) <= _LONGEST_REMEMBERED:
            if len(self) >= _REMEMBERED_AT_MOST:
                self.clear()
            self[piece] = words
        return words


_inside = _Pieces(" ", at_end=False)
_last = _Pieces("\n\n", at_end=True)


def _words(found: list[str]) -> str:
    """The tokens of a line without punctuation; blanks at its end are no part of the last."""
    line = " ".join(found).rstrip()
    return " ".join(token for token in line.split(" ") if token not in PUNCTUATION)


def tokenise(caption: str) -> str:
    """The official tokens of a caption without punctuation, joined by single blanks."""
    _expect_text(caption)
    # Few pieces depend on what stands after their blank, and pieces come again and again.
    *pieces, last = caption.split(" ")
    words = [_inside[piece] for piece in pieces]
    words.append(_last[last])
    if None in words:
        return _words(tokens(caption))
    return " ".join(filter(None, words))


def tokenise_all(captions: Iterable[str], tick: Tick = no_tick) -> list[str]:
    """`tokenise` for each caption; `tick` hears how many more are done, now and then."""
    every = 1000
    done: list[str] = []
    for caption in captions:
        done.append(tokenise(caption))
        if len(done) % every == 0:
            tick(every)
    if len(done) % every:
        tick(len(done) % every)
    return done
