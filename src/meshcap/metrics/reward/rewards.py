"""Rewards of whole sentences: CIDEr-D, BLEU, and mixtures, on word numbers.

Knows arrays and the store of references; nothing of networks. The same numbers as scoring the
sentences' text with the official tools, but for sums taken in another order.

Legend: B pictures, K sentences of each (beams), T words, N = B·K, E entries of the sentences.
"""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from meshcap.errors import CaptionError, SettingError
from meshcap.metrics.base import Floats
from meshcap.metrics.bleu import values_of
from meshcap.metrics.cider import SCALE, SIGMA
from meshcap.metrics.ngrams import runs
from meshcap.metrics.reward.grams import LONGEST, Entries, Numbers, entries
from meshcap.metrics.reward.references import Known, Numbered

_WORTH_A_THREAD = 100  # sentences; a smaller part is done before a thread has begun


Pictures = Sequence[Any] | NDArray[Any] | Numbered


class Reward(Protocol):
    """Anything that judges sentences (B, K, T) of B pictures: (B, K), more is better."""

    def __call__(self, sentences: NDArray[np.integer], pictures: Pictures) -> Floats:
        """The reward of each sentence."""


class _Met(NamedTuple):
    """Which of the sentences' n-grams their pictures' references hold."""

    entry: Numbers  # of the sentences' entries
    pair: Numbers  # of the store's pairs of picture and n-gram


class _Base:
    """What the rewards share: shapes, threads, and who meets whom."""

    def __init__(self, known: Known, threads: int = 1) -> None:
        if threads < 1:
            raise SettingError(f"a reward on {threads} threads was asked for; expected at least 1")
        self.known = known
        self.threads = threads
        self._pool: tuple[int, ThreadPoolExecutor] | None = None

    def __call__(self, sentences: NDArray[np.integer], pictures: Pictures) -> Floats:
        """(B, K) the reward of each of the sentences (B, K, T).

        `pictures` (B,) are names, as in the references, or what `Known.numbers` made of names.
        """
        words = np.asarray(sentences)
        if words.ndim != 3 or not np.issubdtype(words.dtype, np.integer):
            raise CaptionError(
                f"sentences are of shape {words.shape} and type {words.dtype}; "
                "expected whole numbers (pictures, sentences, words)"
            )
        numbered = pictures if isinstance(pictures, Numbered) else self.known.numbers(pictures)
        numbers = numbered.places
        if len(numbers) != len(words):
            raise CaptionError(
                f"there are sentences of {len(words)} pictures, and {len(numbers)} pictures are "
                "named; expected as many"
            )
        parts = min(self.threads, max(1, words.shape[0] * words.shape[1] // _WORTH_A_THREAD))
        if parts == 1:
            return self._of(words, numbers)
        cut = np.linspace(0, len(words), parts + 1).astype(int)[1:-1]
        whole = self._threads().map(self._of, np.split(words, cut), np.split(numbers, cut))
        return np.concatenate(list(whole))

    def _threads(self) -> ThreadPoolExecutor:
        """This process' threads; those of the process it was forked from do not run here."""
        if self._pool is None or self._pool[0] != os.getpid():
            self._pool = os.getpid(), ThreadPoolExecutor(self.threads)
        return self._pool[1]

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_pool": None}  # threads cannot be copied or sent

    def _of(self, words: NDArray[np.integer], pictures: Numbers) -> Floats:
        many, beams, longest = words.shape
        if words.size == 0:
            return np.zeros((many, beams))
        tokens, lengths = self.known.official.tokens(words.reshape(many * beams, longest))
        owners = np.repeat(np.arange(many), beams)  # (N,) which of the batch's pictures
        return self._rewards(tokens, lengths, owners, pictures).reshape(many, beams)

    def _rewards(
        self, tokens: Numbers, lengths: Numbers, owners: Numbers, pictures: Numbers
    ) -> Floats:
        raise NotImplementedError

    def _met(self, found: Entries, grams: Numbers, owners: Numbers, pictures: Numbers) -> _Met:
        """Join the sentences' n-grams with their pictures' by one search in sorted keys."""
        known = self.known
        starts = known.first_pair[pictures]
        many = known.first_pair[pictures + 1] - starts
        pairs = runs(starts, many)
        size = known.table.size
        theirs = np.repeat(np.arange(len(pictures)), many) * size + known.gram[pairs]  # sorted
        entry = np.flatnonzero(grams >= 0) if len(theirs) else np.zeros(0, np.int64)
        if not len(entry):
            return _Met(entry, entry)
        ours = owners[found.sentence[entry]] * size + grams[entry]
        at = np.searchsorted(theirs, ours)
        at[at == len(theirs)] = 0
        same = theirs[at] == ours
        return _Met(entry[same], pairs[at[same]])


class CiderReward(_Base):
    """CIDEr-D of each sentence against its picture's references, as `cider_d` scores text."""

    def _rewards(
        self, tokens: Numbers, lengths: Numbers, owners: Numbers, pictures: Numbers
    ) -> Floats:
        known = self.known
        sentences = len(tokens)
        if known.end:
            tokens = np.pad(tokens, ((0, 0), (0, 1)))
            tokens[np.arange(sentences), lengths] = known.end_token
        found = entries(tokens, lengths + known.end)
        grams = known.table.places(found.key)
        rarity = np.where(grams >= 0, known.rarity[grams], np.log(known.documents))
        weight = found.counts * rarity
        cells = found.sentence * LONGEST + found.order
        norms = np.sqrt(np.bincount(cells, weight**2, sentences * LONGEST))

        met = self._met(found, grams, owners, pictures)
        first = known.first_entry[met.pair]
        times = known.first_entry[met.pair + 1] - first
        theirs = runs(first, times)
        entry = np.repeat(met.entry, times)

        # A cell for each sentence and each reference of its picture: (N, most, 4).
        most = int(known.many[pictures].max())
        start = known.first_reference[pictures[owners]]  # (N,)
        sentence = found.sentence[entry]
        reference = known.reference[theirs] - start[sentence]
        cell = (sentence * most + reference) * LONGEST + found.order[entry]
        there = known.weight[theirs]
        product = np.minimum(weight[entry], there) * there
        sums = np.bincount(cell, product, sentences * most * LONGEST)

        many = known.many[pictures[owners]]  # (N,)
        here = np.arange(most) < many[:, None]  # (N, most)
        references = np.where(here, start[:, None] + np.arange(most), 0)
        both = norms.reshape(sentences, 1, LONGEST) * known.norms[references]
        sums = sums.reshape(sentences, most, LONGEST)
        cosines = np.divide(sums, both, out=np.zeros(both.shape), where=both != 0)
        cosine = cosines.sum(axis=2) / LONGEST
        away = self._bigrams(lengths)[:, None] - self._bigrams(known.lengths[references])
        similar = cosine * np.exp(-(away.astype(np.float64) ** 2) / (2 * SIGMA**2))
        return SCALE * similar.sum(axis=1) / many  # no products, no similarity, where none is

    def _bigrams(self, lengths: Numbers) -> Numbers:
        return np.maximum(lengths + self.known.end - 1, 0)


class BleuReward(_Base):
    """BLEU-n of each sentence against its picture's references, as the official tools per image.

    The end is no word here: BLEU has a penalty for brevity of its own.
    """

    def __init__(self, known: Known, order: int = 4, threads: int = 1) -> None:
        super().__init__(known, threads)
        if not 1 <= order <= LONGEST:
            raise SettingError(f"BLEU-{order} was asked for; expected 1 to {LONGEST}")
        self.order = order

    def _rewards(
        self, tokens: Numbers, lengths: Numbers, owners: Numbers, pictures: Numbers
    ) -> Floats:
        known = self.known
        sentences = len(tokens)
        found = entries(tokens, lengths)
        grams = known.table.places(found.key)
        met = self._met(found, grams, owners, pictures)
        clipped = np.minimum(found.counts[met.entry], known.most[met.pair])
        cells = found.sentence[met.entry] * LONGEST + found.order[met.entry]
        statistics = np.empty((sentences, 2 + 2 * LONGEST))
        statistics[:, 0] = lengths
        statistics[:, 1] = self._closest(lengths, owners, pictures)
        statistics[:, 2::2] = np.bincount(cells, clipped, sentences * LONGEST).reshape(-1, LONGEST)
        statistics[:, 3::2] = np.maximum(lengths[:, None] - np.arange(LONGEST), 0)
        result: Floats = values_of(statistics)[self.order - 1]
        return result

    def _closest(self, lengths: Numbers, owners: Numbers, pictures: Numbers) -> Numbers:
        """(N,) the reference length closest to each sentence's, the shorter one of two."""
        known = self.known
        most = int(known.many[pictures].max())
        many = known.many[pictures[owners]][:, None]
        start = known.first_reference[pictures[owners]][:, None]
        there = np.arange(most)
        theirs = known.lengths[start + np.minimum(there, many - 1)]  # (N, most)
        # Twice the distance, and one for a longer one: the smallest is the answer.
        rank = 2 * np.abs(theirs - lengths[:, None]) + (theirs > lengths[:, None])
        best = rank.argmin(axis=1)
        return theirs[np.arange(len(theirs)), best]


class Mixture:
    """A weighted sum of rewards, such as CIDEr-D + 0.5 BLEU-4; any `Reward` may be among them."""

    def __init__(self, parts: Mapping[Reward, float]) -> None:
        if not parts:
            raise SettingError("a mixture of no rewards was asked for; expected at least one")
        if not all(np.isfinite(weight) for weight in parts.values()):
            raise SettingError(f"weights of a mixture are {list(parts.values())}; expected numbers")
        self.parts = dict(parts)

    def __call__(self, sentences: NDArray[np.integer], pictures: Pictures) -> Floats:
        """(B, K) the weighted sum of the rewards of sentences (B, K, T)."""
        shape = np.shape(sentences)[:2]
        total = np.zeros(shape)
        for part, weight in self.parts.items():
            rewards = np.asarray(part(sentences, pictures))
            if rewards.shape != shape:
                raise SettingError(
                    f"a part of a mixture gave rewards of shape {rewards.shape}; expected {shape}"
                )
            total += weight * rewards
        return total
