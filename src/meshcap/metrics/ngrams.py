"""N-grams of many texts at once: who holds which, and how often.

Knows words and arrays; nothing of metrics. Words become numbers once, an n-gram becomes the number
of its first n - 1 words and its last, and equal ones are found by sorting.

Legend: N texts, W words in all of them, E entries (one for each text and n-gram in it), G distinct
n-grams.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

LONGEST = 4


class Order(NamedTuple):
    """The n-grams of one order, as entries sorted by text."""

    text: Numbers  # (E,)
    gram: Numbers  # (E,) from 0 to G - 1
    counts: Numbers  # (E,) how often the text holds it
    place: Numbers  # (G,) where, among all words, it stands for the first time

    @property
    def grams(self) -> int:
        """How many distinct n-grams there are."""
        return len(self.place)


@dataclass(frozen=True)
class Ngrams:
    """The n-grams of N texts, of every order from 1 to `LONGEST`."""

    words: tuple[str, ...]  # (W,) one text after the other
    lengths: Numbers  # (N,)
    orders: tuple[Order, ...]

    def grams(self, order: int) -> list[tuple[str, ...]]:
        """The words of every distinct n-gram of an order (from 1)."""
        words = self.words
        return [words[at : at + order] for at in self.orders[order - 1].place.tolist()]

    @cached_property
    def starts(self) -> Numbers:
        """(N + 1,) where each text begins among all words."""
        return np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)


def ngrams(texts: Iterable[Sequence[str]], longest: int = LONGEST) -> Ngrams:
    """The n-grams of `texts`, each a sequence of words."""
    texts = list(texts)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    words = tuple(word for text in texts for word in text)
    numbers: dict[str, int] = {}
    word = np.fromiter(
        (numbers.setdefault(each, len(numbers)) for each in words), np.int64, len(words)
    )
    text = np.repeat(np.arange(len(texts)), lengths)  # (W,) which text a word belongs to
    ends = np.cumsum(lengths)[text] if words else text  # (W,) where that text ends
    here = np.arange(len(words))
    orders = []
    gram, distinct = word, len(numbers)  # of the n-gram that begins at each word
    for order in range(1, longest + 1):
        if order > 1:
            # An n-gram goes on from the (n - 1)-gram at its place, where its text is long enough.
            inside = here + order <= ends
            here, text, ends = here[inside], text[inside], ends[inside]
            joined = gram[inside] * len(numbers) + word[here + order - 1]
            place, gram, distinct = _distinct(joined)
            place = here[place]
        else:
            place, gram, distinct = _distinct(gram)
        both, counts = np.unique(text * max(distinct, 1) + gram, return_counts=True)
        texts_of, grams_of = np.divmod(both, max(distinct, 1))
        orders.append(Order(texts_of, grams_of, counts.astype(np.int64), place))
    return Ngrams(words, lengths, tuple(orders))


def _distinct(keys: Numbers) -> tuple[Numbers, Numbers, int]:
    """Where each distinct key stands first, the keys as numbers from 0, and how many there are."""
    found, place, number = np.unique(keys, return_index=True, return_inverse=True)
    return place.astype(np.int64), number.astype(np.int64), len(found)


def matches(keys: Numbers, sorted_keys: Numbers) -> tuple[Numbers, Numbers]:
    """For each of `keys` (E,) that stands in `sorted_keys`: its index, and where there.

    A key that stands there several times is given as often.
    """
    first = np.searchsorted(sorted_keys, keys, side="left")
    times = np.searchsorted(sorted_keys, keys, side="right") - first
    return np.repeat(np.arange(len(keys)), times), runs(first, times)


def runs(first: Numbers, counts: Numbers) -> Numbers:
    """`first` and the numbers after it, `counts` of them, one run after the other.

    First 7 and 3, counts 2 and 3 give 7 8 3 4 5.
    """
    within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(first, counts) + within
