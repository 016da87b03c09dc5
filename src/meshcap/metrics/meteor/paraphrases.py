"""METEOR's table of paraphrases as arrays: made of its text once, asked for many captions at once.

Knows phrases, as words joined by single blanks; nothing of captions' scores, nor where files are.

A phrase is stood for by a number of 64 bits, sum(random[byte] * STEP**place) modulo 2**64: of
all lines of a block of text these come out of one running sum, and a phrase's number out of its
words'. Two of the table's 2.6 million phrases would have one number with a chance below 1 in
100,000 (and have not); the official program compares words by numbers of 32 bits.

The arrays: `left`, the distinct left sides, sorted; `begin` and `end`, where the right sides of
each lie in `right`, which keeps the table's order, for matches are listed in it; `longest`, the
number of words in the longest phrase. A left side that stands in several places of a table has
several rows here.

Legend: N words of all captions, G n-grams, L left sides, E entries.
"""

import gzip
import zlib
from collections.abc import Iterator, Mapping, Sequence
from hashlib import shake_256
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from meshcap.errors import FileError
from meshcap.metrics.base import Watch
from meshcap.metrics.ngrams import Numbers, runs

Hashes = NDArray[np.uint64]
Bytes = NDArray[np.uint8]

_BLOCK = 1 << 18
_ENTRY_AT_MOST = 1 << 20
_NEWLINE, _BLANK = ord("\n"), ord(" ")
_STEP = 0x9E3779B97F4A7C1B  # odd, and 3 modulo 8, so that powers of it differ in their low bits
_BACK = pow(_STEP, -1, 1 << 64)
_RANDOM: Hashes = np.frombuffer(shake_256(b"meshcap's paraphrases").digest(2048), "<u8")
# A blank stands one place before the word that follows it.
_BLANK_BEFORE = np.uint64(int(_RANDOM[_BLANK]) * _BACK % (1 << 64))

# Of a text to numbers ---------------------------------------------------------------------------


class _Lines(NamedTuple):
    """What is known of a block's lines."""

    hashes: Hashes
    starts: Numbers
    words: Numbers


class _Hasher:
    """Numbers of the lines of blocks of text; keeps the powers of the step."""

    def __init__(self) -> None:
        self._powers = (np.ones(1, np.uint64), np.ones(1, np.uint64))

    def powers(self, count: int) -> tuple[Hashes, Hashes]:
        """STEP**0, STEP**1 … and their inverses, at least so many of each."""
        powers = self._powers
        if len(powers[0]) < count:
            forward, back = np.full((2, count), [[_STEP], [_BACK]], np.uint64)
            forward[0] = back[0] = 1
            powers = self._powers = (np.cumprod(forward), np.cumprod(back))
        return powers

    def lines(self, data: Bytes) -> _Lines:
        """The lines of a block, which ends with a newline."""
        forward, back = self.powers(len(data) + 1)
        sums = np.zeros(len(data) + 1, np.uint64)
        terms = _RANDOM[data]
        terms *= forward[: len(data)]
        np.cumsum(terms, out=sums[1:])
        separators = np.flatnonzero((data == _NEWLINE) | (data == _BLANK))
        last = np.flatnonzero(data[separators] == _NEWLINE)  # of each line, among the separators
        ends = separators[last]
        starts = np.concatenate([[0], ends[:-1] + 1])
        hashes = (sums[ends] - sums[starts]) * back[starts]
        return _Lines(hashes, starts, np.diff(last, prepend=-1))


def _blocks(table: Path, watch: Watch) -> Iterator[Bytes]:
    """A compressed table in blocks that hold whole entries, of three lines each."""
    size = table.stat().st_size
    rest = b""
    with table.open("rb") as file, gzip.open(file) as text:
        while read := text.read(_BLOCK):
            block = rest + read
            newlines = np.flatnonzero(np.frombuffer(block, np.uint8) == _NEWLINE)
            whole = len(newlines) - len(newlines) % 3
            cut = int(newlines[whole - 1]) + 1 if whole else 0
            rest = block[cut:]
            if len(rest) > _ENTRY_AT_MOST:
                raise EOFError("a line does not end")
            if cut:
                yield np.frombuffer(block, np.uint8, cut)
            watch(file.tell(), size)
    if rest:
        rest += b"" if rest.endswith(b"\n") else b"\n"
        yield np.frombuffer(rest, np.uint8)


def table_arrays(table: Path, watch: Watch) -> dict[str, NDArray[Any]]:
    """The arrays of a compressed table: for each entry a probability, a left and a right side."""
    try:
        return _table_arrays(table, watch)
    except (OSError, EOFError, zlib.error) as error:
        raise FileError(f"'{table}' cannot be read as a table of paraphrases: {error}") from error


def _table_arrays(table: Path, watch: Watch) -> dict[str, NDArray[Any]]:
    hasher = _Hasher()
    rights: list[Hashes] = []
    runs: list[Hashes] = []  # the left side of each row
    begins: list[Numbers] = []
    entries, longest, before = 0, 1, None
    for block in _blocks(table, watch):
        lines = hasher.lines(block)
        if len(lines.hashes) % 3 or not _is_number(block[lines.starts[::3]]).all():
            raise FileError(
                f"'{table}' is no table of paraphrases: expected a number, a left side and a right "
                f"side, a line each, and found otherwise after {entries:,} entries"
            )
        left, right = lines.hashes[1::3], lines.hashes[2::3].copy()  # not all three lines
        new = np.concatenate([[before is None or left[0] != before], left[1:] != left[:-1]])
        rights.append(right)
        runs.append(left[new])
        begins.append(np.flatnonzero(new) + entries)
        entries, before = entries + len(left), left[-1]
        longest = max(longest, int(lines.words.max()))
    begin = np.concatenate([*begins, np.array([entries])])
    left = np.concatenate([*runs, np.zeros(0, np.uint64)])
    order = np.argsort(left, kind="stable")
    return {
        "left": left[order],
        "begin": begin[:-1][order].astype(np.uint32),
        "end": begin[1:][order].astype(np.uint32),
        "right": np.concatenate([*rights, np.zeros(0, np.uint64)]),
        "longest": np.array([longest], np.uint32),
    }


def _is_number(first: Bytes) -> NDArray[np.bool_]:
    """Whether a number may begin with these bytes."""
    return ((first >= ord("0")) & (first <= ord("9"))) | (first == ord("."))


# Looking up -------------------------------------------------------------------------------------

Rows = Mapping[int, Mapping[int, tuple[int, ...]]]
"""By left side, then by right side: the places in the table of such entries."""


class Found(NamedTuple):
    """The entries between phrases of some captions; phrases are numbered for these alone."""

    phrases: list[list[tuple[int, int, int]]]
    """Of each caption (start, words, phrase), by start, then by words."""
    rows: Rows


class Paraphrases:
    """The table's arrays, and the question which of its entries concern some captions."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._left: Hashes = arrays["left"]  # (L,)
        self._begin = arrays["begin"]  # (L,)
        self._end = arrays["end"]  # (L,)
        self._right: Hashes = arrays["right"]  # (E,)
        self._longest = int(arrays["longest"][0])
        self._hasher = _Hasher()

    def among(self, captions: Sequence[Sequence[str]]) -> Found:
        """The entries whose both sides occur in captions, and where their phrases occur."""
        lengths = np.array([len(words) for words in captions], np.int64)
        if not lengths.any():
            return Found([[] for _ in captions], {})
        hashes, places, words = self._ngrams(captions, lengths)
        known, phrase = np.unique(hashes, return_inverse=True)  # (U,), (G,)
        left, right, entry = self._entries(known)
        concerned = np.zeros(len(known), bool)
        concerned[left] = concerned[right] = True
        kept = np.flatnonzero(concerned[phrase])
        kept = kept[np.argsort(places[kept] * self._longest + words[kept])]
        owners = np.repeat(np.arange(len(captions)), lengths)[places[kept]]
        starts = places[kept] - (np.cumsum(lengths) - lengths)[owners]
        columns = (starts, words[kept], phrase[kept])
        found = list(zip(*(column.tolist() for column in columns), strict=True))
        cuts = np.searchsorted(owners, np.arange(len(captions) + 1)).tolist()
        return Found(
            [found[cut:following] for cut, following in pairwise(cuts)],
            _rows(left.tolist(), right.tolist(), entry.tolist()),
        )

    def _ngrams(
        self, captions: Sequence[Sequence[str]], lengths: Numbers
    ) -> tuple[Hashes, Numbers, Numbers]:
        """(G,) of all n-grams the number, the place of the first word, and how many words."""
        vocabulary: dict[str, int] = {}
        number = vocabulary.setdefault
        words = np.array(
            [number(word, len(vocabulary)) for words in captions for word in words], np.int64
        )  # (N,)
        joined = "\n".join([*vocabulary, ""]).encode("utf-8", "surrogatepass")
        lines = self._hasher.lines(np.frombuffer(joined, np.uint8))
        sizes = np.diff(lines.starts, append=len(joined))  # a blank for each newline
        word_hash = lines.hashes[words]
        word_power = self._hasher.powers(int(sizes.max()) + 1)[0][sizes][words]
        ends = np.repeat(np.cumsum(lengths), lengths)
        places = np.arange(len(words))
        hashes, powers = word_hash, word_power
        parts = [(hashes, places, np.ones_like(places))]
        for count in range(2, self._longest + 1):
            inside = places + (count - 1) < ends[places]
            places, hashes, powers = places[inside], hashes[inside], powers[inside]
            following = places + (count - 1)
            # `powers` is the step to the power of the length so far and one blank.
            hashes = hashes + powers * (word_hash[following] + _BLANK_BEFORE)
            powers = powers * word_power[following]
            parts.append((hashes, places, np.full_like(places, count)))
        joined_parts = [np.concatenate(column) for column in zip(*parts, strict=True)]
        return joined_parts[0], joined_parts[1], joined_parts[2]

    def _entries(self, known: Hashes) -> tuple[Numbers, Numbers, Numbers]:
        """Of the entries between phrases (U,): left and right as places in `known`, and which."""
        first = np.searchsorted(self._left, known, "left")
        rows = np.searchsorted(self._left, known, "right") - first  # mostly one, or none
        row = runs(first, rows)
        lefts = np.repeat(np.arange(len(known)), rows)
        begin = self._begin[row].astype(np.int64)
        counts = self._end[row].astype(np.int64) - begin
        entry = runs(begin, counts)
        lefts = np.repeat(lefts, counts)
        rights = self._right[entry]
        # Few right sides occur: a table of low bits spares most of them the search.
        bits = (len(known) * 16).bit_length()
        mask = np.uint64((1 << bits) - 1)
        seen = np.zeros(1 << bits, bool)
        seen[known & mask] = True
        possible = np.flatnonzero(seen[rights & mask])
        lefts, rights, entry = lefts[possible], rights[possible], entry[possible]
        at = np.minimum(np.searchsorted(known, rights), len(known) - 1)
        true = known[at] == rights
        return lefts[true], at[true], entry[true]


def _rows(lefts: list[int], rights: list[int], entries: list[int]) -> Rows:
    rows: dict[int, dict[int, tuple[int, ...]]] = {}
    for left, right, entry in zip(lefts, rights, entries, strict=True):
        row = rows.setdefault(left, {})
        row[right] = (*row.get(right, ()), entry)
    return rows
