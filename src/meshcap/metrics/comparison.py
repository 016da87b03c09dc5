"""How sure a score is: bootstrap intervals, and two systems compared on the same pictures.

Knows scores and their statistics; nothing of how a metric measures.

Pictures are drawn with replacement, and the corpus' score is made anew of the drawn pictures'
statistics, so that BLEU and METEOR, which are no means over pictures, are resampled rightly.
CIDEr's document frequencies stay those of the whole corpus. The same seed and pictures give the
same draws to every metric and system (that is what makes the comparison a paired one).

Legend: P pictures, N samples, S statistics.
"""

from dataclasses import dataclass

import numpy as np

from meshcap.errors import SettingError
from meshcap.metrics.base import Floats, Score

SAMPLES = 1000
MOST_SAMPLES = 1_000_000
CONFIDENCE = 0.95
_AT_ONCE = 2**21  # numbers of drawn weights in memory


@dataclass(frozen=True)
class Comparison:
    """`ours` minus `theirs`, with an interval and a two-sided p value."""

    ours: Score
    theirs: Score
    difference: float
    low: float
    high: float
    p_value: float
    samples: int
    seed: int
    confidence: float = CONFIDENCE

    def __str__(self) -> str:
        return (
            f"{self.ours.name}: {self.difference:+.4f} "
            f"[{self.low:+.4f}, {self.high:+.4f}], p = {self.p_value:.4f}"
        )


def can_resample(score: Score) -> bool:
    """Whether a score has what a bootstrap needs."""
    return score.measured.statistics is not None and score.measured.total is not None


def interval(
    score: Score, *, samples: int = SAMPLES, seed: int = 0, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """The percentile interval of a score over resampled pictures."""
    return _percentiles(_resampled(score, samples, seed), confidence)


def compare(
    ours: Score,
    theirs: Score,
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    confidence: float = CONFIDENCE,
) -> Comparison:
    """Compare two systems on the same pictures by a paired bootstrap.

    The p value is the share of samples whose difference lies at least as far from the samples'
    mean as the measured difference lies from zero: how often equal systems would differ as much
    (two-sided, as in SacreBLEU).
    """
    expect_comparable(ours, theirs)
    draws = _resampled(ours, samples, seed) - _resampled(theirs, samples, seed)
    draws = draws[~np.isnan(draws)]
    if not len(draws):
        raise SettingError(f"{ours.name} is defined for no sample; there is nothing to compare")
    difference = ours.value - theirs.value
    low, high = _percentiles(draws, confidence)
    beyond = int(np.sum(np.abs(draws - draws.mean()) >= abs(difference)))
    p_value = (beyond + 1) / (len(draws) + 1)
    return Comparison(ours, theirs, difference, low, high, p_value, samples, seed, confidence)


def expect_comparable(ours: Score, theirs: Score) -> None:
    """Refuse two scores that were not measured alike, or not on the same pictures."""
    differences = ours.signature.differences(theirs.signature)
    if differences:
        raise SettingError(
            f"two scores of {ours.name} cannot be compared, for their signatures differ "
            f"({'; '.join(differences)}); expected scores that were measured alike"
        )
    if ours.pictures != theirs.pictures:
        raise SettingError(
            f"two scores of {ours.name} cannot be compared: they are of different pictures "
            f"({len(ours.pictures)} and {len(theirs.pictures)}, or in another order)"
        )


def _percentiles(values: Floats, confidence: float) -> tuple[float, float]:
    if not 0 < confidence < 1:
        raise SettingError(f"confidence is {confidence}; expected a number between 0 and 1")
    values = values[~np.isnan(values)]
    if not len(values):
        return float("nan"), float("nan")
    outside = (1 - confidence) / 2
    low, high = np.quantile(values, [outside, 1 - outside])
    return float(low), float(high)


def _resampled(score: Score, samples: int, seed: int) -> Floats:
    """(N,) the score of each sample of pictures."""
    statistics, total = score.measured.statistics, score.measured.total
    if statistics is None or total is None:
        raise SettingError(
            f"{score.name} is no sum over pictures, so a bootstrap has nothing to resample"
        )
    if not 1 <= samples <= MOST_SAMPLES:
        raise SettingError(
            f"a bootstrap of {samples:,} samples was asked for; expected 1 to {MOST_SAMPLES:,}"
        )
    pictures = len(statistics)
    random = np.random.default_rng(seed)
    values = []
    step = max(1, _AT_ONCE // max(pictures, 1))
    for start in range(0, samples, step):
        many = min(step, samples - start)
        drawn = random.integers(0, pictures, (many, pictures))
        # How often each picture is drawn, (many, P): then a sample's sums are one product.
        rows = np.arange(many)[:, None] * pictures
        times = np.bincount((drawn + rows).ravel(), minlength=many * pictures)
        sums = times.reshape(many, pictures).astype(np.float64) @ statistics  # (many, S)
        values.append(total(sums, float(pictures)))
    return np.concatenate(values)
