"""What captions are like, with no model and mostly no references: variety, length, bad habits.

Knows tokenised captions and plain lists of words; nothing of files. None of these is an official
metric; each says in one line what it counts, and docs/metrics.md has the reasons.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence, Set

import numpy as np

from meshcap.metrics.base import Corpus, Measured, Metric, Tick, mean, no_tick

BAD_ENDINGS = frozenset(
    # Words that announce another word. A caption that stops there was cut off: self-critical
    # training without the end token in its reward learns to do so.
    "a an the this that these those his her its their my your our some another each every "
    "and or but of with in on at to from by for into onto over under near beside between behind "
    "above below through against around across along inside outside toward towards upon beneath "
    "is are was were be being has have while as next front top".split()
)
LONGEST_REPEAT = 4


def _signed(texts: Set[str]) -> str:
    """How many texts, and eight digits that tell one set of them from another."""
    whole = hashlib.sha256("\n".join(sorted(texts)).encode("utf-8", "surrogatepass"))
    return f"{len(texts)}@{whole.hexdigest()[:8]}"


def _split(corpus: Corpus) -> list[list[str]]:
    return [text.split() for text in corpus.candidates]


def distinct(order: int) -> Metric:
    """How many of the candidates' n-grams are distinct, among all that they hold."""
    name = f"distinct-{order}"

    def measure(corpus: Corpus, tick: Tick = no_tick) -> dict[str, Measured]:
        grams = [
            tuple(words[at : at + order])
            for words in _split(corpus)
            for at in range(len(words) - order + 1)
        ]
        tick(len(corpus))
        return {name: Measured(len(set(grams)) / len(grams) if grams else 0.0)}

    return Metric(name, measure, f"distinct {order}-grams among all of the candidates'")


def vocabulary() -> Metric:
    """How many distinct words the candidates use."""

    def measure(corpus: Corpus, tick: Tick = no_tick) -> dict[str, Measured]:
        tick(len(corpus))
        return {"vocabulary": Measured(float(len({w for text in _split(corpus) for w in text})))}

    return Metric("vocabulary", measure, "distinct words in the candidates", percent=False)


def _each(
    name: str,
    value: Callable[[list[str]], float],
    says: str,
    *,
    lower: bool = True,
    percent: bool = True,
    choices: Mapping[str, str] | None = None,
) -> Metric:
    """A metric that looks at one candidate at a time."""

    def measure(corpus: Corpus, tick: Tick = no_tick) -> dict[str, Measured]:
        tick(len(corpus))
        values = [value(words) for words in _split(corpus)]
        return {name: mean(values, choices=choices or {})}

    return Metric(name, measure, says, better="lower" if lower else "neither", percent=percent)


def length() -> Metric:
    """The mean number of words."""
    return _each(
        "length", lambda words: float(len(words)), "words a candidate", lower=False, percent=False
    )


def bad_endings(words: Iterable[str] = BAD_ENDINGS) -> Metric:
    """The share of candidates that end in a word which announces another: "a man with a"."""
    endings = frozenset(words)
    return _each(
        "bad-endings",
        lambda words: float(bool(words) and words[-1] in endings),
        'candidates that end in "a", "with", "of" and the like',
        choices={} if endings == BAD_ENDINGS else {"endings": _signed(endings)},
    )


def repeats() -> Metric:
    """The share of candidates that say one to four words twice in a row."""
    return _each(
        "repeats", lambda words: float(_repeats(words)), "candidates that repeat themselves at once"
    )


def _repeats(words: Sequence[str]) -> bool:
    return any(
        words[at : at + size] == words[at + size : at + 2 * size]
        for size in range(1, LONGEST_REPEAT + 1)
        for at in range(len(words) - 2 * size + 1)
    )


def novel(training: Iterable[str]) -> Metric:
    """The share of candidates that are no training caption, word for word.

    `training` are captions as they were written; the official tokeniser makes words of them, so
    the candidates should be tokenised by it too.
    """
    from meshcap.metrics.ptb import tokenise_all

    known = frozenset(tokenise_all(training))

    def measure(corpus: Corpus, tick: Tick = no_tick) -> dict[str, Measured]:
        tick(len(corpus))
        values = np.array([text not in known for text in corpus.candidates], np.float64)
        return {"novel": mean(values, choices={"training": _signed(known)})}

    return Metric("novel", measure, "candidates that are no training caption", better="neither")


def distinct_1() -> Metric:
    """Distinct words among all words."""
    return distinct(1)


def distinct_2() -> Metric:
    """Distinct pairs of words among all pairs."""
    return distinct(2)
