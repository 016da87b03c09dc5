"""The references that rewards compare with, as vectors that are made once.

Knows tokenised captions and document frequencies; nothing of how a reward adds up.

Legend: P pictures, R references of all pictures, G known n-grams, E entries (one for each
reference and n-gram in it), D distinct pairs of picture and n-gram.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from meshcap.errors import CaptionError, SettingError
from meshcap.metrics.base import Floats, Tick, no_tick
from meshcap.metrics.idf import END_WORD, DocumentFrequencies, documents_holding, rarity_of
from meshcap.metrics.ptb import tokenise_all
from meshcap.metrics.reward.grams import (
    BITS,
    LONGEST,
    Entries,
    Numbers,
    Packed,
    Table,
    entries,
)
from meshcap.metrics.reward.words import OfficialWords, Special, is_plain

Over = Literal["pictures", "captions"]


_AT_ONCE = 4096  # references


def _entries_of(rows: list[list[int]]) -> Entries:
    """The n-grams of references, some at a time: a single long one makes only its block wide."""
    parts = []
    by_length = sorted(range(len(rows)), key=lambda number: len(rows[number]))
    for start in range(0, len(rows), _AT_ONCE):
        block = by_length[start : start + _AT_ONCE]
        tokens = np.zeros((len(block), max(1, len(rows[block[-1]]))), np.int64)
        for row, number in zip(tokens, block, strict=True):
            row[: len(rows[number])] = rows[number]
        found = entries(tokens, np.array([len(rows[number]) for number in block], np.int64))
        parts.append(found._replace(sentence=np.array(block, np.int64)[found.sentence]))
    return Entries(*map(np.concatenate, zip(*parts, strict=True)))


@dataclass(frozen=True)
class Numbered:
    """Pictures by their places in a store of references, not by their names."""

    places: Numbers  # (B,)

    def __len__(self) -> int:
        return len(self.places)


class Known:
    """References of pictures, and every n-gram in them.

    Made once before training: `references` are captions as written, by picture. Everything is a
    flat array, sorted by picture; a batch looks at the slices of its pictures alone.
    """

    def __init__(
        self,
        words: Sequence[str],
        references: Mapping[Any, Sequence[str]],
        *,
        end: bool = True,
        idf: Over | DocumentFrequencies = "pictures",
        special: Special | None = None,
        tokenised: bool = False,
        tick: Tick = no_tick,
    ) -> None:
        """`words` is the vocabulary in the order of its numbers (`Vocabulary.words`).

        `end`: the end is a word of its own in candidates and references, so that stopping in the
        middle ("a man with a") costs. `idf`: document frequencies of these references, over
        pictures (CIDEr's paper) or over captions (the authors' training), or saved ones.
        """
        self.official = OfficialWords(words, special)
        self.end = end
        self.pictures = {str(picture): number for number, picture in enumerate(references)}
        if len(self.pictures) != len(references):
            raise CaptionError("two pictures of the references have the same name as strings")
        if not references:
            raise CaptionError("rewards need references; found none")
        for picture, captions in references.items():
            if isinstance(captions, str) or not captions:
                raise CaptionError(
                    f"picture {picture} has {'one string' if captions else 'no captions'} as "
                    "references; expected a list of captions"
                )
        flat = [caption for captions in references.values() for caption in captions]
        texts = flat if tokenised else tokenise_all(flat, tick)
        self.many = np.array([len(each) for each in references.values()], np.int64)  # (P,)
        owners = np.repeat(np.arange(len(self.many)), self.many)  # (R,)
        self.first_reference = np.concatenate([[0], np.cumsum(self.many)])  # (P + 1,)
        self._read(texts, owners, idf)

    def _read(self, texts: Sequence[str], owners: Numbers, idf: Over | DocumentFrequencies) -> None:
        self.end_token = self.official.number(END_WORD) if self.end else 0
        rows = [[self.official.number(token) for token in text.split()] for text in texts]
        closing = [self.end_token] if self.end else []
        self.lengths = np.array([len(row) for row in rows], np.int64)  # (R,) without the end
        found = _entries_of([row + closing for row in rows])
        if not len(found.key):
            raise CaptionError("the references of the reward hold no words; expected captions")
        keys, gram = np.unique(found.key, return_inverse=True)
        keys, self.rarity, self.documents = self._rarity(keys, gram, found.sentence, owners, idf)
        self.table = Table(keys)
        gram = np.searchsorted(keys, found.key)
        # Sorted by picture and n-gram; a batch's sentences come sorted by n-gram too.
        order = np.lexsort((found.sentence, gram, owners[found.sentence]))
        # The store of a large training set is mostly these: no wider than they need to be.
        self.reference = found.sentence[order].astype(np.int32)  # (E,)
        self.order = found.order[order].astype(np.int8)  # (E,)
        self.counts = found.counts[order].astype(np.int32)  # (E,)
        gram = gram[order]
        self.weight: Floats = self.counts * self.rarity[gram]  # (E,)
        cells = self.reference.astype(np.int64) * LONGEST + self.order
        self.norms = np.sqrt(  # (R, 4)
            np.bincount(cells, self.weight**2, len(rows) * LONGEST)
        ).reshape(len(rows), LONGEST)
        owner = owners[self.reference]
        new = np.ones(len(gram), bool)
        new[1:] = (gram[1:] != gram[:-1]) | (owner[1:] != owner[:-1])
        self.first_entry = np.append(np.flatnonzero(new), len(gram))  # (D + 1,)
        self.gram = gram[self.first_entry[:-1]].astype(np.int32)  # (D,)
        self.most = np.maximum.reduceat(self.counts, self.first_entry[:-1])  # (D,)
        self.first_pair = np.searchsorted(  # (P + 1,)
            owner[self.first_entry[:-1]], np.arange(len(self.many) + 1)
        )

    def _rarity(
        self,
        keys: Packed,
        gram: Numbers,
        sentence: Numbers,
        owners: Numbers,
        idf: Over | DocumentFrequencies,
    ) -> tuple[Packed, Floats, float]:
        """All known keys, log N - log df of each, and N."""
        if isinstance(idf, DocumentFrequencies):
            return self._saved(keys, idf)
        if idf not in ("pictures", "captions"):
            raise SettingError(
                f"idf is {idf!r}; expected 'pictures', 'captions' or DocumentFrequencies"
            )
        document = owners[sentence] if idf == "pictures" else sentence
        documents = len(self.many) if idf == "pictures" else len(owners)
        held = documents_holding(gram, document, len(keys))
        return keys, rarity_of(held, documents), float(documents)

    def _saved(self, keys: Packed, idf: DocumentFrequencies) -> tuple[Packed, Floats, float]:
        """The same with saved frequencies, whose n-grams become known too."""
        if idf.unknown is not None or idf.numbers is not None:
            raise SettingError(
                f"document frequencies '{idf.name}' spell words as another vocabulary does; "
                "expected frequencies of plain tokens (DocumentFrequencies.count makes them)"
            )
        if self.end and idf.end is None:
            raise SettingError(
                f"document frequencies '{idf.name}' do not know the end as a word; expected ones "
                "counted with end=True, or a reward with end=False"
            )
        # What is not plain may come up in sentences without being a word's tokens by itself.
        official = self.official

        def known(token: str) -> int:
            return official.known(token) if is_plain(token) else official.number(token)

        packed, frequency = [], []
        for words, count in idf.counts.items():
            numbers = [self.end_token if word == idf.end else known(word) for word in words]
            # An n-gram with a token that nobody can say is never asked for.
            if 0 < len(numbers) <= LONGEST and all(numbers):
                packed.append(sum(number << (BITS * at) for at, number in enumerate(numbers)))
                frequency.append(count)
        saved = np.array(packed, np.uint64)
        union = np.union1d(keys, saved)
        counted = np.zeros(len(union))
        counted[np.searchsorted(union, saved)] = frequency
        return union, rarity_of(counted, idf.documents), idf.documents

    def numbers(self, pictures: Sequence[Any] | NDArray[Any]) -> "Numbered":
        """Where pictures are in this store, to be given in place of their names: it saves time."""
        try:
            found = [self.pictures[str(picture)] for picture in pictures]
            return Numbered(np.array(found, np.int64))
        except KeyError as error:
            raise CaptionError(
                f"picture {error.args[0]} has no references among those of the reward "
                f"({len(self.pictures):,} pictures)"
            ) from None
