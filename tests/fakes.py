"""A NextWord that reads from a script, and two searches so plain that one sees they are right.

Knows tables, functions from a sentence so far to the log-probabilities of its next word; nothing
of networks, and nothing of meshcap's own searches.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor

from meshcap.regions import Regions
from meshcap.special_words import SPECIAL_WORDS, SpecialWords

Sentence = tuple[int, ...]
"""Word numbers without the beginning; with the end, if it has come."""

Table = Callable[[Sentence], Tensor]
"""A sentence so far → log-probabilities of its next word, (V,)."""

NEVER = -math.inf


# Tables ------------------------------------------------------------------------------------------


def scripted_table(
    size: int, script: Mapping[Sentence, Mapping[int, float]], end: int = SPECIAL_WORDS.end
) -> Table:
    """Probabilities written down; words that are not written have none, and what is not scripted
    ends."""

    @cache
    def table(so_far: Sentence) -> Tensor:
        said = torch.zeros(size)
        for word, probability in script.get(so_far, {end: 1.0}).items():
            said[word] = probability
        return said.log()

    return table


def random_table(
    seed: int, size: int, *, sharpness: float = 1.0, slope: float = 0.0, silent: float = 0.0
) -> Table:
    """Random probabilities, the same for the same `seed` and sentence.

    `slope`: how much less probable each word is than the one before. `silent`: the share of words
    whose probability is 0.
    """

    @cache
    def table(so_far: Sentence) -> Tensor:
        # Hashes of whole numbers are the same in every run.
        generator = torch.Generator().manual_seed(hash((seed, size, *so_far)) & 0xFFFF_FFFF)
        scores = sharpness * torch.randn(size, generator=generator) - slope * torch.arange(size)
        if silent:
            mute = torch.rand(size, generator=generator) < silent
            mute[int(torch.randint(size, (1,), generator=generator))] = False
            scores[mute] = NEVER
        return scores.log_softmax(0)

    return table


# The double --------------------------------------------------------------------------------------


class Spoken(NamedTuple):
    """A state as a value: what each row has said."""

    tables: tuple[Table, ...]  # of each picture
    sentences: tuple[Sentence, ...]  # of each row, the beginning included

    @property
    def beams(self) -> int:
        return len(self.sentences) // len(self.tables)

    def follow(self, parents: Tensor) -> "Spoken":
        pictures, rows = len(self.tables), parents.tolist()
        assert parents.dim() == 1 and rows and len(rows) % pictures == 0, "rows of every picture"
        beams = len(rows) // pictures
        for row, parent in enumerate(rows):
            assert parent // self.beams == row // beams, "a row follows one of its own picture"
        return self._replace(sentences=tuple(self.sentences[parent] for parent in rows))


class ScriptedWords:
    """A NextWord that looks up what it says.

    A picture is the number of its table: a list of such numbers, or Regions whose first feature
    is it (`pictures`). `steps` counts how often it was asked. Of sentences that have ended it says
    that every word is certain, so that a search which goes on with them is found out.
    """

    def __init__(
        self,
        *tables: Table,
        special_words: SpecialWords | None = None,
        longest: int | None = None,
    ) -> None:
        self.tables = tables
        self.steps = 0
        self._special = special_words or SPECIAL_WORDS
        # A NextWord need not have these; without them a search has its own defaults.
        if special_words is not None:
            self.special_words = special_words
        if longest is not None:
            self.longest = longest

    def start(self, regions: Any) -> Spoken:
        named = isinstance(regions, Regions)
        numbers = regions.features[:, 0, 0].int().tolist() if named else list(regions)
        return Spoken(tuple(self.tables[number] for number in numbers), ((),) * len(numbers))

    def step(self, words: Tensor, state: Spoken) -> tuple[Tensor, Spoken]:
        assert words.shape == (len(state.sentences),), "one word a row"
        self.steps += 1
        sentences = tuple(
            (*before, word) for before, word in zip(state.sentences, words.tolist(), strict=True)
        )
        said = []
        for row, sentence in enumerate(sentences):
            beginning, *spoken = sentence
            assert beginning == self._special.beginning, "the first word is the beginning"
            table = state.tables[row // state.beams]
            ended = self._special.end in spoken
            said.append(torch.zeros_like(table(())) if ended else table(tuple(spoken)))
        return torch.stack(said), state._replace(sentences=sentences)


def pictures(*numbers: int, regions: int = 2, width: int = 3) -> Regions:
    """Pictures whose tables have these numbers."""
    first = torch.tensor(numbers, dtype=torch.float32)
    return Regions(first[:, None, None].expand(-1, regions, width).clone())


# The plain searches ------------------------------------------------------------------------------


class Found(NamedTuple):
    """A sentence, the log-probability of each word, and what it is sorted by."""

    words: Sentence
    log_probs: tuple[float, ...]
    score: float


class Rules(NamedTuple):
    """What a search may say."""

    special: SpecialWords
    least: int
    forbidden: Collection[int]
    no_repeats: bool
    length_normalisation: float

    def ended(self, words: Sentence) -> bool:
        return self.special.end in words

    def continued(self, table: Table, so_far: Found) -> Iterator[Found]:
        """A sentence by one more word, in the order of words."""
        for word, log_prob in enumerate(table(so_far.words).tolist()):
            if word in self.forbidden or log_prob == NEVER:
                continue
            if word == self.special.end and len(so_far.words) < self.least:
                continue
            if self.no_repeats and so_far.words[-1:] == (word,):
                continue
            words, log_probs = (*so_far.words, word), (*so_far.log_probs, log_prob)
            score = sum(log_probs) / len(words) ** self.length_normalisation
            yield Found(words, log_probs, score)


def _rules(
    special: SpecialWords = SPECIAL_WORDS,
    least: int = 0,
    forbidden: Collection[int] | None = None,
    no_repeats: bool = False,
    length_normalisation: float = 0.0,
) -> Rules:
    never = special.never_spoken if forbidden is None else forbidden
    return Rules(special, least, never, no_repeats, length_normalisation)


def _sorted(ways: list[Found]) -> list[Found]:
    return sorted(ways, key=lambda found: found.score, reverse=True)  # equal ones keep their order


def plain_beam_search(table: Table, *, beams: int, length: int, **rules: Any) -> list[Found]:
    """One picture's sentences, the best first; fewer than `beams` where there are no more."""
    allowed = _rules(**rules)
    kept = [Found((), (), 0.0)]
    for _ in range(length):
        ways: list[Found] = []
        for found in kept:
            if allowed.ended(found.words):
                ways.append(found)
            else:
                ways.extend(allowed.continued(table, found))
        kept = _sorted(ways)[:beams]
    return kept


def exhaustive_search(table: Table, *, length: int, **rules: Any) -> list[Found]:
    """Every sentence there is, the best first."""
    allowed = _rules(**rules)

    def all_from(found: Found) -> Iterator[Found]:
        if len(found.words) == length or allowed.ended(found.words):
            yield found
            return
        for longer in allowed.continued(table, found):
            yield from all_from(longer)

    return _sorted(list(all_from(Found((), (), 0.0))))
