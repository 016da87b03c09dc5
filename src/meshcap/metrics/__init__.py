"""Caption metrics that equal the official ones, without Java; usable alone, without torch.

    >>> from meshcap.metrics import score
    >>> candidates = {"1": "a cat on a mat", "2": "two dogs"}
    >>> references = {"1": ["a cat on the mat"], "2": ["two dogs run", "dogs"]}
    >>> float(score(candidates, references, metrics=["bleu-1"])["bleu-1"]) > 0.5
    True

Knows the public names only. docs/metrics.md says what each metric is.
"""

from meshcap.metrics.base import CaptionWarning, Corpus, Measured, Metric, Score, Signature
from meshcap.metrics.comparison import Comparison, compare, interval
from meshcap.metrics.scoring import Scores, score
from meshcap.metrics.table import METRICS, register

__all__ = [
    "METRICS",
    "CaptionWarning",
    "Comparison",
    "Corpus",
    "Measured",
    "Metric",
    "Score",
    "Scores",
    "Signature",
    "compare",
    "interval",
    "register",
    "score",
]
