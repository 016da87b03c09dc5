"""What a metric is given, what it gives back, and the signature that a score carries.

Knows captions, pictures' numbers and names of choices; nothing of any single metric, of files or
of the command line.

Legend: P pictures, S statistics.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class CaptionWarning(UserWarning):
    """Captions can be scored, but look as if something went wrong before."""


Tick = Callable[[int], None]
"""Called with the number of pictures (or captions) that long work has newly finished."""

Watch = Callable[[int, int], None]
"""Called with how much of some preparation is finished, and of how much."""


def no_tick(finished: int) -> None:
    """Watch nothing."""


@dataclass(frozen=True)
class Corpus:
    """Candidates and references of the same pictures, in one order, as tokenised text.

    The text is what the official pipeline hands to its metrics: official tokens without
    punctuation, joined by single blanks. A token may hold a no-break space; metrics that split on
    any white space, as the official BLEU and CIDEr do, cut it, and ROUGE does not.
    """

    pictures: tuple[str, ...]
    candidates: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]
    written: tuple[str, ...] = ()
    """The candidates before they were tokenised, for metrics that look at capitals and marks."""

    def __len__(self) -> int:
        return len(self.pictures)


@dataclass(frozen=True)
class Measured:
    """What a metric found: one value for the corpus, and what a bootstrap needs.

    `statistics` (P, S) are each picture's sums, and `total` makes the corpus' value of added-up
    statistics (..., S) and the number of pictures they come from. Without them the score has no
    confidence interval: sizes of vocabularies, say, do not add up.
    """

    value: float
    per_picture: Floats | None = None
    statistics: Floats | None = None
    total: Callable[[Floats, float], Floats] | None = None
    choices: Mapping[str, str] = field(default_factory=dict)
    """What this metric adds to the signature, such as {"idf": "corpus", "end": "no"}."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Anything further, by name; METEOR's 23 statistics a picture, say."""


def mean(per_picture: Sequence[float] | Floats, **more: Any) -> Measured:
    """A metric whose value for the corpus is the plain mean over pictures."""
    values = np.asarray(per_picture, dtype=np.float64)
    value = float(np.mean(values)) if len(values) else float("nan")
    return Measured(value, values, values[:, None], mean_of_sums, **more)


def mean_of_sums(sums: Floats, pictures: float) -> Floats:
    """The mean, of sums (..., 1)."""
    return sums[..., 0] / pictures


Measure = Callable[[Corpus, Tick], Mapping[str, Measured]]


@dataclass(frozen=True)
class Metric:
    """A metric as a value: its name, the scores it gives, and the function that measures.

    `measure` gives one `Measured` for each name in `scores`. Choices that change a score are made
    when the value is made (`cider_d(end=True)`), so that a Metric has no further options.
    """

    name: str
    measure: Measure
    says: str
    """One line about it, for lists."""
    scores: tuple[str, ...] = ()
    """The names of what it gives; () means its own name."""
    better: Literal["higher", "lower", "neither"] = "higher"
    usual: bool = True
    """Whether it is among those that run when no metric is named."""
    percent: bool = True
    """Whether papers print it times 100."""
    prepare: Callable[[Watch], object] | None = None
    """What takes long on a machine's first run, such as converting data; it may be called always,
    before `measure`, and tells `Watch` how far it is."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the scores that this metric gives."""
        return self.scores or (self.name,)


@dataclass(frozen=True)
class Signature:
    """Every choice that changes a score, by name, in the order in which it is printed."""

    metric: str
    choices: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, metric: str, choices: Mapping[str, str]) -> "Signature":
        """A signature of a mapping."""
        return cls(metric, tuple((name, str(value)) for name, value in choices.items()))

    def __str__(self) -> str:
        return "|".join([self.metric, *(f"{name}:{value}" for name, value in self.choices)])

    def differences(self, other: "Signature") -> list[str]:
        """What differs, each as "idf: corpus here, captions there"."""
        here, there = dict(self.choices), dict(other.choices)
        found = [] if self.metric == other.metric else [f"metric: {self.metric}, {other.metric}"]
        return found + [
            f"{name}: {here.get(name, 'nothing')}, {there.get(name, 'nothing')}"
            for name in dict.fromkeys([*here, *there])
            if not _alike(here.get(name), there.get(name))
        ]


def _alike(here: str | None, there: str | None) -> bool:
    """Whether two choices are one; of "train@2f846601" the hash counts, not the name."""
    if here is None or there is None or "@" not in here or "@" not in there:
        return here == there
    return here.rpartition("@")[2] == there.rpartition("@")[2]


@dataclass(frozen=True)
class Score:
    """One number, what it was measured of, and everything that changes it."""

    name: str
    value: float
    signature: Signature
    pictures: tuple[str, ...] = ()
    measured: Measured = field(default_factory=lambda: Measured(float("nan")), repr=False)
    better: Literal["higher", "lower", "neither"] = "higher"
    percent: bool = True

    @property
    def per_picture(self) -> dict[str, float] | None:
        """The score of each picture, where the metric has one."""
        if self.measured.per_picture is None:
            return None
        return dict(zip(self.pictures, map(float, self.measured.per_picture), strict=True))

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.4f} {self.signature}"

    def named(self, name: str) -> "Score":
        """The same score by another name."""
        return replace(self, name=name)
