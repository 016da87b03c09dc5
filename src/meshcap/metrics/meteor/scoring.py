"""METEOR 1.5's statistics of an alignment, and its formula for English.

Knows which words are matched, as bits; nothing of the words themselves. The parameters are those
of the task "rank", which the official caption tools use. Python's floats are Java's doubles and
the order of operations is the official one, so that scores are equal to the last bit.

The 23 statistics: words of the candidate, of the reference; function words of the candidate, of
the reference; for each of the stages exact, stem, synonym, paraphrase the matched content words
of candidate and of reference, and the matched function words of both; chunks; matched words of
the candidate, of the reference.
"""

from collections.abc import Sequence
from decimal import Context, Decimal
from functools import lru_cache, reduce
from operator import add
from typing import TypeVar

import numpy as np

from meshcap.metrics.base import Floats
from meshcap.metrics.meteor.alignment import Chosen
from meshcap.metrics.meteor.matching import (
    EXACT,
    PARAPHRASE,
    STAGES,
    STEM,
    SYNONYM,
    Caption,
    Matches,
)

STATISTICS = 23
CHUNKS = 20
ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75
WEIGHTS = (1.0, 0.6, 0.8, 0.6)
"""Of the stages exact, stem, synonym and paraphrase."""

_BY_WEIGHT = (EXACT, SYNONYM, STEM, PARAPHRASE)
_CONTENT, _FUNCTION = 4, 6  # where the candidate's matches of the first stage are counted

Statistics = tuple[int, ...]

_EXACT = Context(prec=40)  # doubles have 17 digits at most

_Value = TypeVar("_Value", float, Floats)


def score_of(statistics: Sequence[float]) -> float:
    """The score of 23 statistics, or of many captions' sums."""
    ours, theirs = statistics[0], statistics[1]
    chunks, our_matched, their_matched = statistics[CHUNKS:]
    if not our_matched:
        return 0.0  # a division by zero in Java, whose result counts as nothing
    precision = _weighted(statistics, 0) / _length(ours, statistics[2])
    recall = _weighted(statistics, 1) / _length(theirs, statistics[3])
    mean = 1.0 / ((1.0 - ALPHA) / precision + ALPHA / recall)
    fragmentation = chunks / ((our_matched + their_matched) / 2.0)
    if our_matched == ours and their_matched == theirs and chunks == 1:
        fragmentation = 0.0
    return max(0.0, mean * (1.0 - GAMMA * _penalty(fragmentation)))


@lru_cache(maxsize=1 << 16)
def _penalty(fragmentation: float) -> float:
    """fragmentation**BETA, the double that is nearest to it.

    Libraries of C, and Java's on different processors, are a unit of the last place off now and
    then, and differ from each other. So scores do not depend on the machine.
    """
    if not fragmentation:
        return 0.0
    logarithm = _EXACT.ln(Decimal(fragmentation))
    return float(_EXACT.exp(_EXACT.multiply(logarithm, Decimal(BETA))))


def _weighted(statistics: Sequence[_Value], side: int) -> _Value:
    """The weight of one side's matched words: all content words first, then function words."""
    terms = [
        WEIGHTS[stage] * statistics[first + 4 * stage + side] * weight
        for first, weight in ((_CONTENT, DELTA), (_FUNCTION, 1.0 - DELTA))
        for stage in STAGES
    ]
    return reduce(add, terms)  # newer Pythons' sum() is more exact than the official program


def _length(words: _Value, function_words: _Value) -> _Value:
    return DELTA * (words - function_words) + (1.0 - DELTA) * function_words


def totals(sums: Floats, _: float) -> Floats:
    """The scores (...) of sums of statistics (..., 23), as a bootstrap asks for them."""
    columns: list[Floats] = list(np.moveaxis(sums, -1, 0))
    chunks, our_matched, their_matched = columns[CHUNKS:]
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = _weighted(columns, 0) / _length(columns[0], columns[2])
        recall = _weighted(columns, 1) / _length(columns[1], columns[3])
        mean = 1.0 / ((1.0 - ALPHA) / precision + ALPHA / recall)
        fragmentation = chunks / ((our_matched + their_matched) / 2.0)
        whole = (our_matched == columns[0]) & (their_matched == columns[1]) & (chunks == 1)
        fragmentation = np.where(whole, 0.0, fragmentation)
        scores = np.maximum(mean * (1.0 - GAMMA * fragmentation**BETA), 0.0)
    return np.where(our_matched > 0, scores, 0.0)


def summable(statistics: Floats) -> Floats:
    """Statistics (..., 23) as they are added up: without the chunk of a whole match."""
    found = statistics.copy()
    whole = (found[..., -2] == found[..., 0]) & (found[..., -1] == found[..., 1])
    found[..., CHUNKS] *= ~(whole & (found[..., CHUNKS] == 1))
    return found


def statistics_of(candidate: Caption, reference: Caption, chosen: Sequence[Chosen]) -> Statistics:
    """The statistics of an alignment, whose matches are in the reference's order."""
    ours, theirs = [0, 0, 0, 0], [0, 0, 0, 0]
    chunks = their_next = our_next = 0
    for start, (mask, length, begin, end, _, stage) in chosen:
        ours[stage] |= mask
        theirs[stage] |= ((1 << length) - 1) << start
        if not chunks or begin != our_next or start != their_next:
            chunks += 1
        our_next, their_next = end, start + length
    return _counted(candidate, reference, ours, theirs, chunks)


def statistics_of_equal(caption: Caption) -> Statistics:
    """The statistics of a caption of at least one word and a reference that is equal to it."""
    all_words = [(1 << len(caption.words)) - 1, 0, 0, 0]
    return _counted(caption, caption, all_words, all_words, 1)


def highest(candidate: Caption, reference: Caption, matches: Matches) -> float:
    """A score that no alignment made of these matches exceeds.

    Each word counts with the best stage that covers it, and all are in one chunk: more matched
    words and fewer chunks never lower a score.
    """
    ours, theirs = [0, 0, 0, 0], [0, 0, 0, 0]
    our_rest, their_rest = ~0, ~0
    for stage in _BY_WEIGHT:
        ours[stage] = matches.ours[stage] & our_rest
        theirs[stage] = matches.theirs[stage] & their_rest
        our_rest &= ~ours[stage]
        their_rest &= ~theirs[stage]
    return score_of(_counted(candidate, reference, ours, theirs, 1))


def _counted(
    candidate: Caption,
    reference: Caption,
    ours: Sequence[int],
    theirs: Sequence[int],
    chunks: int,
) -> Statistics:
    """Statistics of what each stage matches, as bits."""
    our_function, their_function = candidate.function, reference.function
    counts: list[int] = []
    our_matched = their_matched = 0
    for our_bits, their_bits in zip(ours, theirs, strict=True):
        our_words, their_words = our_bits.bit_count(), their_bits.bit_count()
        our_matched += our_words
        their_matched += their_words
        one, other = (
            (our_bits & our_function).bit_count(),
            (their_bits & their_function).bit_count(),
        )
        counts += (our_words - one, their_words - other, one, other)
    return (
        *(len(candidate.words), len(reference.words)),
        *(our_function.bit_count(), their_function.bit_count()),
        *counts,
        *(chunks, our_matched, their_matched),
    )
