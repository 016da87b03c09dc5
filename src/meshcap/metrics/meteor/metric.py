"""METEOR as a metric: captions in, the best reference's statistics and the scores out.

Knows captions and how the parts of this package follow each other; nothing of their insides.

1. Candidate and references are normalised, after what the official wrapper and protocol do to
   them: candidates lose `|||`, and two blanks become one; `|||` cuts a reference in two.
2. A candidate equal to a reference has the score 1, which nothing exceeds.
3. Of the other references, those whose matches cannot lead to a higher score than one found
   already are not aligned. The official score is the first of the highest.
4. The corpus' score is not the mean: the statistics are added up, and the formula applied once.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from meshcap.errors import CaptionError
from meshcap.metrics.base import Corpus, Measured, Metric, Tick, no_tick
from meshcap.metrics.meteor.alignment import align
from meshcap.metrics.meteor.lexicon import Lexicon
from meshcap.metrics.meteor.matching import Caption, Kin, Picture, function_bits
from meshcap.metrics.meteor.opening import opened
from meshcap.metrics.meteor.paraphrases import Rows
from meshcap.metrics.meteor.scoring import (
    STATISTICS,
    Statistics,
    highest,
    score_of,
    statistics_of,
    statistics_of_equal,
    summable,
    totals,
)
from meshcap.metrics.meteor.sources import OFFICIAL

VERSION = "1.5"

_AT_ONCE = 1000  # pictures whose words and phrases are looked up together
_ROUNDING = 1e-9  # far above that of the formula, far below what could matter to a bound
_SEPARATOR = "|||"

_Words = tuple[str, ...]


def meteor(data: Path | str | None = None) -> Metric:
    """METEOR 1.5 for English, from the data at `data` or of the extra meshcap[meteor].

    Nothing is opened before something is measured.
    """
    return Metric(
        "meteor",
        partial(_measure, data),
        "words, stems, synonyms and paraphrases aligned, as METEOR 1.5 for English",
        prepare=partial(opened, data),
    )


def meteor_of(
    candidate: str, references: Sequence[str] | str, data: Path | str | None = None
) -> tuple[float, Statistics]:
    """The score of one tokenised caption, and the statistics of the reference that gives it."""
    references = [references] if isinstance(references, str) else references
    statistics = next(_statistics(opened(data), [candidate], [references]))
    return score_of(statistics), statistics


def _measure(data: Path | str | None, corpus: Corpus, tick: Tick = no_tick) -> dict[str, Measured]:
    lexicon = opened(data)
    rows = []
    for first in range(0, len(corpus), _AT_ONCE):
        last = first + _AT_ONCE
        found = _statistics(lexicon, corpus.candidates[first:last], corpus.references[first:last])
        for statistics in found:
            rows.append(statistics)
            tick(1)
    table = np.array(rows, np.float64).reshape(-1, STATISTICS)
    sums = summable(table)
    return {
        "meteor": Measured(
            score_of(sums.sum(axis=0).tolist()),
            np.array([score_of(statistics) for statistics in rows], np.float64),
            sums,
            totals,
            _choices(lexicon),
            {"statistics": table},
        )
    }


def _choices(lexicon: Lexicon) -> dict[str, str]:
    """What changes the score: the version, and data that are not the official ones."""
    if lexicon.content == OFFICIAL:
        return {"meteor": VERSION}
    return {"meteor": VERSION, "meteor-data": lexicon.content[:8]}


def _statistics(
    lexicon: Lexicon, candidates: Sequence[str], references: Sequence[Sequence[str]]
) -> Iterator[Statistics]:
    """The statistics of each picture's best reference."""
    pictures = [
        _words(lexicon, candidate, texts)
        for candidate, texts in zip(candidates, references, strict=True)
    ]
    equal = [bool(ours) and ours in theirs for ours, theirs in pictures]
    captions = [
        words
        for (ours, theirs), is_equal in zip(pictures, equal, strict=True)
        if not is_equal
        for words in (ours, *theirs)
    ]
    facts = lexicon.facts()
    kin = Kin(dict.fromkeys(word for words in captions for word in words), facts)
    phrases, rows = lexicon.paraphrases.among(captions)
    following = iter(phrases)
    for (ours, theirs), is_equal in zip(pictures, equal, strict=True):
        if is_equal:
            yield statistics_of_equal(Caption(ours, function_bits(ours, facts), ()))
            continue
        candidate, *others = (
            Caption(words, function_bits(words, facts), next(following))
            for words in (ours, *theirs)
        )
        yield _best(candidate, others, kin, rows)


def _words(
    lexicon: Lexicon, candidate: str, references: Sequence[str]
) -> tuple[_Words, list[_Words]]:
    """The normalised words of a candidate and of its references."""
    words = lexicon.normaliser.words
    if not references:
        raise CaptionError("METEOR is given a candidate without references; expected at least one")
    # Two blanks are not quite the same as one to the steps that take signs apart.
    ours = words(candidate.replace(_SEPARATOR, "").replace("  ", " "))
    return ours, [words(part) for text in references for part in text.split(_SEPARATOR)]


def _best(candidate: Caption, references: Sequence[Caption], kin: Kin, rows: Rows) -> Statistics:
    """The statistics of the first reference with the highest score."""
    picture = Picture(candidate, references, kin, rows)
    matches = [picture.matches(reference) for reference in references]
    limits = [
        highest(candidate, reference, found)
        for reference, found in zip(references, matches, strict=True)
    ]
    best, best_score, best_number = None, -1.0, 0
    for number in sorted(range(len(references)), key=limits.__getitem__, reverse=True):
        if limits[number] < best_score - _ROUNDING:
            break
        found = matches[number]
        chosen = align(found.lists, found.fixed, len(candidate.words))
        statistics = statistics_of(candidate, references[number], chosen)
        score = score_of(statistics)
        if score > best_score or (score == best_score and number < best_number):
            best, best_score, best_number = statistics, score, number
    assert best is not None  # there is a reference
    return best
