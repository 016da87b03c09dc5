"""A caption to the words that a model is trained on, as the paper's supplement says.

Lower case, then the tokens of spaCy's blank English tokenizer, then without punctuation. Knows
characters and rules of splitting; nothing of vocabularies, models or the metrics' tokenisers.
spaCy itself is not needed: this is a tokeniser of our own for lower-cased text that gives the
same tokens (`docs/text.md` has the figures and the differences).

How a text is taken apart:

1. runs of white space separate chunks; a single blank is nothing, more white space is a token;
2. a chunk loses prefixes and suffixes, one of each a round, until it is an exception
   (`exceptions.py`) or nothing more comes off;
3. what is left stays whole when it is an exception or an address, else it is cut at infixes;
4. neighbouring tokens that together are an exception are made that exception (`smile:)`).

All steps take time linear in the text, whatever its characters; steps 2 and 3 are remembered for
short chunks. `split` gives the tokens, `tokenize` drops punctuation and white space from them.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from meshcap.text.exceptions import EXCEPTIONS

PUNCTUATION = frozenset(
    ["''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-"]
    + [".", "?", "!", ",", ":", "-", "--", "...", ";"]
)
"""What the authors' code removes. The bracket names are upper case: they never match."""

# Characters ------------------------------------------------------------------------------------


def _ranges(codes: str) -> str:
    """Hexadecimal code points and ranges, as the inside of a regular expression's class."""
    ends = (code.split("-") for code in codes.split())
    return "".join("-".join(rf"\U{int(end, 16):08x}" for end in pair) for pair in ends)


def _any_of(characters: str) -> str:
    return "".join(re.escape(character) for character in characters)


_CASED = _ranges("""
    61-7a df-f6 f8-1ba 1bc-1bf 1c6-2af 3a2-3af 3b1-3c9 3cc-3ce 430-451 453-45a 45c-45d 491 497
    4a3 4af 4bb 4d9 4e9 1d00-1d25 1d6b-1d77 1d79-1d9a 1e01-1eff 2c61-2c7b a723-a76f a771-a787
    a78c-a78e a791-a7b9 a7fa ab30-ab5a ab60-ab64 ff41-ff5a""")
"""Lower-case Latin, Greek and Cyrillic letters. Capitals between them never occur here."""

_CASELESS = _ranges("""
    591-5f4 620-64a 66e-6d5 6e5-6ff 750-77f 8a0-8bd 900-9ff b80-cff d80-dff 1100-137f 2e80-2fdf
    2ff0-30ff 31c0-31ef 3200-4dbf 4e00-9fff ac00-d7af f900-faff fb1d-fbb1 fbd3-fd3d fd50-fdc7
    fdf0-fdfb fe30-fe4f fe70-fefc 1ee00-1eebb 1f200-1f2ff 20000-2a6df 2a700-2ebef 2f800-2fa1f""")
"""Scripts without upper and lower case, whole blocks of them."""

_ICONS = _ranges("""
    a6 a9 ae b0 482 58d-58e 60e-60f 6de 6e9 6fd-6fe 7f6 9fa b70 bf3-bf8 bfa c7f d4f d79 f01-f03
    f13 f15-f17 f1a-f1f f34 f36 f38 fbe-fc5 fc7-fcc fce-fcf fd5-fd8 109e-109f 1390-1399 1940
    19de-19ff 1b61-1b6a 1b74-1b7c 2100-2101 2103-2106 2108-2109 2114 2116-2117 211e-2123
    2125-2127 2129 212e 213a-213b 214a 214c-214d 214f 218a-218b 2195-2199 219c-219f 21a1-21a2
    21a4-21a5 21a7-21ad 21af-21cd 21d0-21d1 21d3 21d5-21f3 2300-2307 230c-231f 2322-2328
    232b-237b 237d-239a 23b4-23db 23e2-2426 2440-244a 249c-24e9 2500-25b6 25b8-25c0 25c2-25f7
    2600-266e 2670-2767 2794-27bf 2800-28ff 2b00-2b2f 2b45-2b46 2b4d-2b73 2b76-2b95 2b98-2bc8
    2bca-2bfe 2ce5-2cea 2e80-2e99 2e9b-2ef3 2f00-2fd5 2ff0-2ffb 3004 3012-3013 3020 3036-3037
    303e-303f 3190-3191 3196-319f 31c0-31e3 3200-321e 322a-3247 3250 3260-327f 328a-32b0
    32c0-32fe 3300-33ff 4dc0-4dff a490-a4c6 a828-a82b a836-a837 a839 aa77-aa79 fdfd ffe4 ffe8
    ffed-ffee fffc-fffd 10137-1013f 10179-10189 1018c-1018e 10190-1019b 101a0 101d0-101fc
    10877-10878 10ac8 1173f 16b3c-16b3f 16b45 1bc9c 1d000-1d0f5 1d100-1d126 1d129-1d164
    1d16a-1d16c 1d183-1d184 1d18c-1d1a9 1d1ae-1d1e8 1d200-1d241 1d245 1d300-1d356 1d800-1d9ff
    1da37-1da3a 1da6d-1da74 1da76-1da83 1da85-1da86 1ecac 1f000-1f02b 1f030-1f093 1f0a0-1f0ae
    1f0b1-1f0bf 1f0c1-1f0cf 1f0d1-1f0f5 1f110-1f16b 1f170-1f1ac 1f1e6-1f202 1f210-1f23b
    1f240-1f248 1f250-1f251 1f260-1f265 1f300-1f3fa 1f400-1f6d4 1f6e0-1f6ec 1f6f0-1f6f9
    1f700-1f773 1f780-1f7d8 1f800-1f80b 1f810-1f847 1f850-1f859 1f860-1f887 1f890-1f8ad
    1f900-1f90b 1f910-1f93e 1f940-1f970 1f973-1f976 1f97a 1f97c-1f9a2 1f9b0-1f9b9 1f9c0-1f9c2
    1f9d0-1f9ff 1fa60-1fa6d""")
"""Signs, dingbats and emoji: Unicode's "other symbols" as of 2018, when spaCy listed them."""

_LETTERS = _CASED + _CASELESS + "\u01bb"  # the one letter that spaCy gives no case
_QUOTES = _any_of("'\"”“`‘´’‚,„»«「」『』（）〔〕【】《》\u2329\u232a〈〉⟦⟧")
_MARKS = _any_of("…,:;!?¿؟¡()[]{}<>_#*&。？！，、；：～·।،۔؛٪")
_MONEY = _any_of("$£€¥฿₽﷼₴₠₡₢₣₤₥₦₧₨₩₪₫₭₮₯₰₱₲₳₵₶₷₸₹₺₻₼₾₿")
_UNITS = """
    km km² km³ m m² m³ dm dm² dm³ cm cm² cm³ mm mm² mm³ ha µm nm yd in ft kg g mg µg t lb oz m/s
    km/h kmh mph mbar mb kb gb tb % км км² км³ м м² м³ дм дм² дм³ см см² см³ мм мм² мм³ нм кг г мг
    м/с км/ч кб мб гб тбكم كم² كم³ م م² م³ سم سم² سم³ مم مم² مم³ كم غرام جرام جم كغ ملغ كوب اكواب
""".split()

# Rules -----------------------------------------------------------------------------------------

_PREFIX = re.compile(
    rf"\.\.+|\+(?![0-9])|[§%=—–{_MARKS}{_QUOTES}{_MONEY}{_ICONS}]",
)

_SUFFIX = re.compile(
    rf"(?:……|['’]s|[—–{_MARKS}{_QUOTES}{_ICONS}]"
    rf"|(?<=[0-9])(?:[+{_MONEY}]|{'|'.join(map(re.escape, _UNITS))})"
    rf"|(?<=[0-9%²+|\-{_CASED}{_CASELESS}{_MARKS}{_QUOTES}])\.)\Z"
)
"""To be searched in the end of a chunk; runs of full stops are counted instead."""

_SUFFIX_WINDOW = 8
"""Longer than the longest suffix with the one character that is looked back at."""

_INFIX = re.compile(
    rf"\.\.+|[…{_ICONS}]"
    r"|(?<=[0-9])[+\-*^](?=[0-9\-])"
    rf"|(?<=[{_CASED}{_CASELESS}{_QUOTES}])\.(?=[{_CASELESS}{_QUOTES}])"
    rf"|(?<=[{_LETTERS}]),(?=[{_LETTERS}])"
    rf"|(?<=[{_LETTERS}0-9])(?:---?|-|——?|–|~|[:<>=/])(?=[{_LETTERS}])"
)

_PROTOCOL = re.compile(r"[\w+\-.]{2,}://")
_HOST_CHARACTERS = r"a-z0-9\u00a1-\uffff"
_SITE = re.compile(
    rf"(?:(?:[{_HOST_CHARACTERS}][{_HOST_CHARACTERS}_\-]{{0,62}})?[{_HOST_CHARACTERS}]\.)+"
    rf"[{_CASED}{_CASELESS}]{{2,63}}"
    r"(?::\d{2,5})?(?:[/?#].*)?\Z",
    re.DOTALL,
)


def _prefix(chunk: str, start: int, end: int) -> int:
    """Length of the prefix of chunk[start:end], or 0."""
    found = _PREFIX.match(chunk, start, end)
    return found.end() - start if found else 0


def _suffix(chunk: str, start: int, end: int) -> int:
    """Length of the suffix of chunk[start:end], or 0."""
    if end - start >= 2 and chunk[end - 1] == chunk[end - 2] == ".":
        first = end - 2
        while first > start and chunk[first - 1] == ".":
            first -= 1
        return end - first
    # A slice, since nothing before `start` may be looked back at; a short one, for speed.
    tail = chunk[max(start, end - _SUFFIX_WINDOW) : end]
    found = _SUFFIX.search(tail)
    return len(tail) - found.start() if found else 0


def _is_address(core: str) -> bool:
    """Whether `core` is a web or mail address, with or without protocol, user, port and path."""
    if "." not in core:
        return False
    starts = [0, *(at.end() for at in re.finditer("@", core) if at.start())]
    protocol = _PROTOCOL.match(core)
    if protocol:
        starts.append(protocol.end())
    return any(_SITE.match(core, start) for start in starts)


def _cut_at_infixes(core: str) -> Iterable[str]:
    start = 0
    for infix in _INFIX.finditer(core):
        if infix.start() == 0:  # what a word begins with is no infix and stays on it
            continue
        if infix.start() > start:
            yield core[start : infix.start()]
        yield infix.group()
        start = infix.end()
    if start < len(core):
        yield core[start:]


def _take_apart(chunk: str, known: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Steps 2 and 3: the tokens of a chunk without white space."""

    def is_known(start: int, end: int) -> bool:
        return end - start <= _LONGEST_EXCEPTION and chunk[start:end] in known

    before: list[str] = []
    after: list[str] = []
    start, end = 0, len(chunk)
    while start < end and not is_known(start, end):
        ahead = _prefix(chunk, start, end)
        if ahead and is_known(start + ahead, end):
            behind = 0
        else:
            behind = _suffix(chunk, start + ahead, end)
            if behind and is_known(start, end - behind):
                ahead = 0
        if not ahead and not behind:
            break
        if ahead:
            before.append(chunk[start : start + ahead])
            start += ahead
        if behind:
            after.append(chunk[end - behind : end])
            end -= behind
    core = chunk[start:end]
    if core in known:
        middle: Iterable[str] = known[core]
    elif _is_address(core):
        middle = (core,)
    else:
        middle = _cut_at_infixes(core)
    return (*before, *middle, *reversed(after))


# Neighbours that are an exception together ----------------------------------------------------

_LONGEST_EXCEPTION = max(map(len, EXCEPTIONS))


def _broken_exceptions() -> dict[tuple[str, ...], tuple[str, ...]]:
    """The tokens into which the rules break an exception, with those it should have."""
    broken = {_take_apart(chunk, {}): words for chunk, words in EXCEPTIONS.items()}
    return {tokens: words for tokens, words in broken.items() if len(tokens) > 1}


_BROKEN = _broken_exceptions()
_BROKEN_LENGTHS = {
    first: {len(tokens) for tokens in _BROKEN if tokens[0] == first}
    for first in {tokens[0] for tokens in _BROKEN}
}
"""For the token that one begins with, how many tokens it may have."""


def _broken_in(tokens: list[str] | tuple[str, ...]) -> list[tuple[int, int]]:
    """(start, end) of each broken exception, overlapping ones too."""
    return [
        (start, start + length)
        for start, token in enumerate(tokens)
        for length in _BROKEN_LENGTHS.get(token, ())
        if start + length <= len(tokens) and tuple(tokens[start : start + length]) in _BROKEN
    ]


def _mended(tokens: list[str], after_blank: set[int]) -> list[str]:
    """Step 4, over a whole text; `after_blank` holds the numbers of tokens after a blank.

    Longer before shorter, earlier before later; what is found first hides what overlaps it,
    even when blanks stand within it, so that it is not mended itself. (That is spaCy's rule.)
    """
    mended: dict[int, tuple[int, tuple[str, ...]]] = {}
    hidden: set[int] = set()
    found = _broken_in(tokens)
    for start, end in sorted(found, key=lambda span: (span[0] - span[1], span[0])):
        if start not in hidden and end - 1 not in hidden:
            whole = after_blank.isdisjoint(range(start + 1, end))
            piece = tuple(tokens[start:end])
            mended[start] = end, _BROKEN[piece] if whole else piece
        hidden.update(range(start, end))
    result: list[str] = []
    here = 0
    while here < len(tokens):
        here, words = mended.get(here, (here + 1, (tokens[here],)))
        result += words
    return result


# The doors -------------------------------------------------------------------------------------


class _Apart(NamedTuple):
    tokens: tuple[str, ...]
    words: tuple[str, ...]
    """The tokens without punctuation."""
    broken: bool
    """Whether step 4 has work here."""


def _apart(chunk: str) -> _Apart:
    tokens = _take_apart(chunk, EXCEPTIONS)
    return _Apart(
        tokens,
        tuple(token for token in tokens if token not in PUNCTUATION),
        any(tokens[a:b] != _BROKEN[tokens[a:b]] for a, b in _broken_in(tokens)),
    )


_remembered = lru_cache(maxsize=2**15)(_apart)
_LONGEST_REMEMBERED = 40


def _lowered(caption: str) -> str:
    if not isinstance(caption, str):
        raise TypeError(f"a caption must be a str; found {type(caption).__name__}")
    return caption.lower().rstrip("\n")


def split(caption: str) -> list[str]:
    """All tokens of a caption in lower case, punctuation and runs of white space among them."""
    tokens: list[str] = []
    after_blank: set[int] = set()
    broken = False
    for run in re.finditer(r"\s+|\S+", _lowered(caption)):
        text = run.group()
        if not text[0].isspace():
            if len(text) <= _LONGEST_REMEMBERED:
                apart = _remembered(text)
            else:
                apart = _apart(text)
            tokens += apart.tokens
            broken = broken or apart.broken
        elif text[0] == " " and run.start() > 0:  # the one blank that belongs between chunks
            after_blank.add(len(tokens))
            if len(text) > 1:
                tokens.append(text[1:])
        else:
            tokens.append(text)
    return _mended(tokens, after_blank) if broken else tokens


def tokenize(caption: str, *, keep_white_space: bool = False) -> list[str]:
    """Supplement: the words of a caption, in lower case and without punctuation.

    `keep_white_space=True` keeps the tokens that runs of white space make, as the authors' code
    does: there they became words of the vocabulary.
    """
    text = _lowered(caption)
    chunks = text.split()
    # The usual case, quickly: no white space to keep, and nothing for step 4 to do.
    if not keep_white_space or " ".join(chunks) == text:
        words: list[str] = []
        for chunk in chunks:
            apart = _remembered(chunk) if len(chunk) <= _LONGEST_REMEMBERED else _apart(chunk)
            if apart.broken:
                break
            words += apart.words
        else:
            return words
    return [
        token
        for token in split(caption)
        if token not in PUNCTUATION and (keep_white_space or not token.isspace())
    ]
