"""The choice among matches: METEOR's beam search, with the official program's peculiarities.

Knows matches and positions; nothing of words or of how matches are found.

Peculiarities, which the official scores contain:

1. Words count 1 in exact matches, otherwise 1/2, cut to an integer at each match: a match of one
   word that is not exact gains nothing.
2. A match's distance is not added to the path that takes it, but to the path that does not, and so
   to the later matches tried from there.
3. Matches listed twice are tried twice, and take two places of the beam.

Matches that compete with no other are taken first, and are no part of a path here.
"""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, NamedTuple

Match = tuple[int, int, int, int, int, int]
"""Candidate's words as bits; reference's words; candidate's start and end; gain; stage."""

Chosen = tuple[int, Match]
"""Where in the reference a match starts, and the match."""

BEAM = 40

_Path = tuple[int, int, int, int, Any]
"""Its number, the smaller the better; the candidate's words that it uses, as bits; the position of
the reference up to which it is inside a match; the candidate's position where its open chunk ends,
or -1; its matches, each with the ones before it."""

_number = itemgetter(0)


class _Units(NamedTuple):
    """Paths are ordered by gain, then by chunks, then by distance, as one number that has room."""

    chunk: int
    gain: int


def align(lists: Sequence[Sequence[Match]], fixed: Sequence[bool], words: int) -> list[Chosen]:
    """The matches taken, by position in the reference.

    `lists` has the matches that start at each position of the reference, and `fixed` says where
    the one match competes with no other; `words` is the candidate's length.
    """
    taken = [(start, found[0]) for start, found in enumerate(lists) if fixed[start]]
    matches = sum(map(len, lists))
    if matches == len(taken):
        return taken
    chunk = 1 << (matches * max(words, len(lists))).bit_length()
    units = _Units(chunk, chunk << len(lists).bit_length())
    paths: list[_Path] = [(0, 0, 0, -1, None)]
    for start, found in enumerate(lists):
        paths = _best(paths)
        if not found:
            paths = [_without_match(path, start, units) for path in paths]
        elif fixed[start]:
            paths = _with_fixed(paths, start, found[0], units)
        else:
            paths = _with_each(paths, start, found, units)
    closed = [_without_match(path, len(lists), units) for path in _best(paths)]
    trail = min(closed, key=_number)[-1]
    while trail:
        trail, start, match = trail
        taken.append((start, match))
    return sorted(taken)


def _best(paths: list[_Path]) -> list[_Path]:
    """The best paths, in their order, which is kept among equals."""
    if len(paths) > 1:
        paths.sort(key=_number)
        del paths[BEAM:]
    return paths


def _without_match(path: _Path, start: int, units: _Units) -> _Path:
    """A path past a position where no match starts: it closes its chunk, unless inside a match."""
    number, used, until, end, trail = path
    if end < 0 or until > start:
        return path
    return number + units.chunk, used, until, -1, trail


def _with_fixed(paths: Sequence[_Path], start: int, match: Match, units: _Units) -> list[_Path]:
    """All paths with a match that every path takes, and that none has to remember."""
    _, length, begin, stop, _, _ = match
    inside = start + length
    return [  # its gain and its distance are the same for all
        (number if end < 0 or end == begin else number + units.chunk, used, inside, stop, trail)
        for number, used, _, end, trail in paths
    ]


def _with_each(
    paths: Sequence[_Path], start: int, found: Sequence[Match], units: _Units
) -> list[_Path]:
    """Each path with each of the matches whose words it has not used, and without any."""
    options = [(match, match[4] * units.gain, abs(start - match[2])) for match in found]
    following: list[_Path] = []
    for path in paths:
        number, used, until, end, trail = path
        if until > start:
            following.append(path)
            continue
        for match, gained, distance in options:
            mask, length, begin, stop, _, _ = match
            if not used & mask:
                closed = number if end < 0 or end == begin else number + units.chunk
                taken = (trail, start, match)
                following.append((closed - gained, used | mask, start + length, stop, taken))
                number += distance  # of this path, and so of the matches that are tried after it
        following.append((number if end < 0 else number + units.chunk, used, until, -1, trail))
    return following
