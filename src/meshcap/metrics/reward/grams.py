"""N-grams of sentences of token numbers, packed into single integers, and where each is known.

Knows integers only; nothing of words, references or scores.

A token's number has 16 bits and begins at 1, so that an n-gram of up to four tokens is one 64-bit
integer, and n-grams of different orders never meet. All is arithmetic on arrays: no loop goes over
words.

Legend: N sentences, T tokens of the longest, E entries (one for each sentence and n-gram in it),
G known n-grams.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Packed = NDArray[np.uint64]
Numbers = NDArray[np.int64]

BITS = 16
MOST_TOKENS = 2**BITS - 1
LONGEST = 4

_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: spreads keys over buckets


class Entries(NamedTuple):
    """The n-grams of N sentences, of all orders, each once a sentence."""

    sentence: Numbers  # (E,)
    order: Numbers  # (E,) 0 for single tokens, to 3
    key: Packed  # (E,)
    counts: Numbers  # (E,)


def entries(tokens: Numbers, lengths: Numbers) -> Entries:
    """The n-grams of sentences (N, T), of which the first `lengths` (N,) tokens count."""
    rows, longest = tokens.shape
    inside = np.arange(longest) < lengths[:, None]  # (N, T)
    token = np.where(inside, tokens, 0).astype(np.uint64)
    key = np.zeros((rows, 0), np.uint64)
    found: list[tuple[Numbers, Numbers, Packed, Numbers]] = []
    for order in range(min(LONGEST, longest)):
        # Each n-gram is the one before it at its place, and one token more above it.
        one_more = token[:, order:] << np.uint64(BITS * order)
        key = token if order == 0 else key[:, :-1] | one_more
        whole = np.where(inside[:, order:], key, 0)
        whole.sort(axis=1)
        # Equal keys stand together now; zeros, which are no n-grams, stand first.
        first = np.ones(whole.shape, bool)
        first[:, 1:] = whole[:, 1:] != whole[:, :-1]
        at = np.flatnonzero(first)
        counts = np.diff(at, append=first.size)
        packed = whole.ravel()[at]
        real = packed != 0
        at, packed, counts = at[real], packed[real], counts[real]
        found.append((at // whole.shape[1], np.full(len(at), order), packed, counts))
    if not found:
        nothing = np.zeros(0, np.int64)
        return Entries(nothing, nothing, nothing.astype(np.uint64), nothing)
    sentence, orders, packed, counts = map(np.concatenate, zip(*found, strict=True))
    return Entries(sentence, orders, packed, counts)


class Table:
    """Known n-grams: from packed keys to their places in order.

    Keys lie in buckets by some bits of their product with a constant. A look-up reads all its
    buckets at once and goes on with those whose first key was another: loads that do not wait for
    each other, where a binary search waits at each of twenty steps.
    """

    def __init__(self, keys: Packed) -> None:
        """`keys` (G,) are sorted and distinct, and none is 0."""
        self.size = len(keys)
        self._shift = np.uint64(64 - max(1, (2 * max(self.size, 1) - 1).bit_length()))
        buckets = self._bucket(keys)
        order = np.argsort(buckets, kind="stable")
        many = np.bincount(buckets, minlength=int(2 ** (64 - int(self._shift))))
        self._starts = np.concatenate([[0], np.cumsum(many)]).astype(np.int32)
        # One more key, which equals none, for look-ups that begin behind the last.
        self._keys = np.append(keys[order], np.uint64(0))
        self._places = np.append(order, 0).astype(np.int64)
        self._deepest = int(many.max(initial=0))

    def _bucket(self, keys: Packed) -> Numbers:
        return ((keys * _SPREAD) >> self._shift).astype(np.int64)

    def places(self, keys: Packed) -> Numbers:
        """(E,) the place of each key among the known ones, -1 for the others."""
        at = self._starts[self._bucket(keys)].astype(np.int64)
        hit = self._keys[at] == keys
        result = np.where(hit, self._places[at], -1)
        # What stands behind a bucket is another key, so reading on past its end is harmless.
        left = np.flatnonzero(~hit)
        for step in range(1, self._deepest):
            further = np.minimum(at[left] + step, self.size)
            hit = self._keys[further] == keys[left]
            result[left[hit]] = self._places[further[hit]]
            left = left[~hit]
            if not len(left):
                break
        return result
