"""ROUGE-L as the official COCO tools compute it.

Knows tokenised captions; nothing of files or of other metrics.

1. Words are cut at the ASCII blank alone, so that an empty caption is one empty word, which an
   empty reference matches, and a no-break space stays inside its word.
2. Precision and recall are each the best over the references, not those of one reference.
3. β is 1.2.
"""

from collections.abc import Sequence

from meshcap.metrics.base import Corpus, Measured, Metric, Tick, mean, no_tick

_BETA = 1.2


def rouge_l() -> Metric:
    """ROUGE-L."""
    return Metric("rouge-l", _measure, "longest common subsequence, F with β = 1.2")


def _measure(corpus: Corpus, tick: Tick = no_tick) -> dict[str, Measured]:
    values = []
    for candidate, references in zip(corpus.candidates, corpus.references, strict=True):
        values.append(rouge_l_of(candidate.split(" "), [text.split(" ") for text in references]))
        tick(1)
    return {"rouge-l": mean(values)}


def rouge_l_of(candidate: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """ROUGE-L of one candidate's words against those of its references."""
    places: dict[str, int] = {}  # of each word, as bits
    for place, word in enumerate(candidate):
        places[word] = places.get(word, 0) | 1 << place
    precision = recall = 0.0
    for reference in references:
        common = _longest_common(places, len(candidate), reference)
        precision = max(precision, common / len(candidate))
        recall = max(recall, common / len(reference))
    if precision == 0 or recall == 0:
        return 0.0
    return ((1 + _BETA**2) * precision * recall) / (recall + _BETA**2 * precision)


def _longest_common(places: dict[str, int], length: int, reference: Sequence[str]) -> int:
    """The length of the longest common subsequence, by Hyyrö's bits.

    A row of the usual table differs from the row above at a few places only; they are kept as
    zeros in the bits of one number, and a whole row is one addition.
    """
    whole = (1 << length) - 1
    row = whole
    for word in reference:
        same = row & places.get(word, 0)
        row = ((row + same) | (row - same)) & whole
    return length - row.bit_count()
