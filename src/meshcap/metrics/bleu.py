"""BLEU-1 to BLEU-4 as the official COCO tools compute it.

Knows tokenised captions; nothing of files or of other metrics.

1. Matches are clipped by the largest count in any one reference.
2. The reference length is the one closest to the candidate's, the shorter one of two.
3. Tiny numbers keep empty captions from dividing by zero, so that a perfect score is a little
   under 1, as in the official tools.
"""

from functools import partial
from math import exp

import numpy as np

from meshcap.metrics.base import Corpus, Floats, Measured, Metric, Tick, no_tick
from meshcap.metrics.ngrams import LONGEST, Ngrams, Numbers, ngrams

_TINY, _SMALL = 1e-15, 1e-9
NAMES = tuple(f"bleu-{order}" for order in range(1, LONGEST + 1))


def bleu() -> Metric:
    """BLEU-1, -2, -3 and -4."""
    return Metric("bleu", _measure, "n-gram precision with a brevity penalty, BLEU-1 to -4", NAMES)


def _measure(corpus: Corpus, tick: Tick = no_tick) -> dict[str, Measured]:
    texts = [text.split() for text in corpus.candidates]
    texts += [text.split() for references in corpus.references for text in references]
    owners = np.repeat(np.arange(len(corpus)), [len(each) for each in corpus.references])
    statistics = _statistics(ngrams(texts), len(corpus), owners)
    tick(len(corpus))
    values = _values_of_sums(statistics.sum(axis=0))
    per_picture = values_of(statistics)  # (4, P)
    return {
        name: Measured(
            values[order],
            per_picture[order],
            statistics,
            partial(_value, order),
        )
        for order, name in enumerate(NAMES)
    }


def _value(order: int, sums: Floats, _: float) -> Floats:
    """One order's values, as a bootstrap asks for them."""
    value: Floats = values_of(sums)[order]
    return value


def _statistics(found: Ngrams, pictures: int, owners: Numbers) -> Floats:
    """(P, 10): length, reference length, then matches and n-grams of each order."""
    lengths = found.lengths[:pictures]
    columns = [lengths, _closest(lengths, found.lengths[pictures:], owners)]
    for order, each in enumerate(found.orders, start=1):
        ours = each.text < pictures
        most = _most(
            owners[each.text[~ours] - pictures] * each.grams + each.gram[~ours], each.counts[~ours]
        )
        keys = each.text[ours] * each.grams + each.gram[ours]
        at = np.minimum(np.searchsorted(most[0], keys), max(len(most[0]) - 1, 0))
        known = most[0][at] == keys if len(most[0]) else np.zeros(len(keys), bool)
        clipped = np.minimum(each.counts[ours][known], most[1][at[known]])
        columns.append(np.bincount(each.text[ours][known], clipped, pictures))
        columns.append(np.maximum(lengths - order + 1, 0))
    return np.stack(columns, axis=1).astype(np.float64)


def _closest(lengths: Numbers, references: Numbers, owners: Numbers) -> Numbers:
    """(P,) the reference length closest to the candidate's; the shorter one of two."""
    away = np.abs(references - lengths[owners])
    order = np.lexsort((references, away, owners))
    first = np.unique(owners[order], return_index=True)[1]
    return references[order][first]


def _most(keys: Numbers, counts: Numbers) -> tuple[Numbers, Numbers]:
    """The distinct keys, sorted, and of each the largest count."""
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else keys
    most = np.maximum.reduceat(counts[order], starts) if len(keys) else counts
    return keys[starts], most


def _values_of_sums(sums: Floats) -> list[float]:
    """The corpus' values, in plain floats and the official order of operations."""
    length, reference, *pairs = map(float, sums)
    ratio = (length + _TINY) / (reference + _SMALL)
    penalty = exp(1 - 1 / ratio) if ratio < 1 else 1.0
    product, values = 1.0, []
    for order in range(LONGEST):
        product *= (pairs[2 * order] + _TINY) / (pairs[2 * order + 1] + _SMALL)
        values.append(product ** (1 / (order + 1)) * penalty)
    return values


def values_of(sums: Floats) -> Floats:
    """(4, …) BLEU-1 to -4 of statistics (…, 10), those of one caption or added up."""
    ratio = (sums[..., 0] + _TINY) / (sums[..., 1] + _SMALL)
    penalty = np.exp(np.minimum(1 - 1 / ratio, 0))
    precisions = (sums[..., 2::2] + _TINY) / (sums[..., 3::2] + _SMALL)  # (…, 4)
    products = np.cumprod(precisions, axis=-1)
    values: Floats = products ** (1 / np.arange(1, LONGEST + 1)) * penalty[..., None]
    return np.moveaxis(values, -1, 0)
