"""Section 4.3: several models as one, by the mean of what they say of the next word.

Knows NextWords; nothing of networks. The members must share one vocabulary.
"""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from meshcap.errors import SettingError, VocabularyError
from meshcap.search.protocol import NextWord, Replayable, Reservable
from meshcap.special_words import SPECIAL_WORDS, SpecialWords

Mean = Literal["probabilities", "log-probabilities"]


class EnsembleState(NamedTuple):
    """The members' states, side by side."""

    members: tuple[Any, ...]

    def follow(self, parents: Tensor) -> "EnsembleState":
        return EnsembleState(tuple(each.follow(parents) for each in self.members))

    def reserve(self, beams: int, length: int) -> "EnsembleState":
        return EnsembleState(
            tuple(
                each.reserve(beams, length) if isinstance(each, Reservable) else each
                for each in self.members
            )
        )


class Ensemble:
    """A NextWord that averages its members.

    `mean`: of probabilities, as the paper says; or of log-probabilities, as the authors' code
    does (not normalised again).
    """

    def __init__(self, members: Iterable[NextWord[Any]], mean: Mean = "probabilities") -> None:
        self.members = tuple(members)
        if not self.members:
            raise SettingError("an ensemble has no members; expected at least one")
        if mean not in ("probabilities", "log-probabilities"):
            raise SettingError(
                f"an ensemble's 'mean' is {mean!r}; expected probabilities or log-probabilities"
            )
        self.mean = mean
        self.special_words = _together(self.members)
        rooms = [each.longest for each in self.members if hasattr(each, "longest")]
        if rooms:
            self.longest = min(rooms)

    def start(self, regions: Any) -> EnsembleState:
        return EnsembleState(tuple(each.start(regions) for each in self.members))

    def step(self, words: Tensor, state: EnsembleState) -> tuple[Tensor, EnsembleState]:
        said = [
            each.step(words, own) for each, own in zip(self.members, state.members, strict=True)
        ]
        sizes = {log_probs.shape[-1] for log_probs, _ in said}
        if len(sizes) > 1:
            raise VocabularyError(
                f"an ensemble's members have vocabularies of {sorted(sizes)} words; "
                "expected one vocabulary"
            )
        stacked = torch.stack([log_probs for log_probs, _ in said])  # (members, rows, V)
        if self.mean == "log-probabilities":
            mean = stacked.mean(dim=0)
        else:
            mean = stacked.logsumexp(dim=0) - math.log(len(said))
        return mean, EnsembleState(tuple(own for _, own in said))

    def replay_key(self) -> Hashable | None:
        """The members' keys; None where one of them cannot be recorded."""
        keys = [
            each.replay_key() if isinstance(each, Replayable) else None for each in self.members
        ]
        return None if None in keys else tuple(keys)


def _together(members: Sequence[NextWord[Any]]) -> SpecialWords:
    """The members' special words: one numbering; what one never says, all of them never say."""
    each = [getattr(member, "special_words", SPECIAL_WORDS) for member in members]
    numberings = {(own.unknown, own.padding, own.beginning, own.end) for own in each}
    if len(numberings) > 1:
        raise VocabularyError(
            "an ensemble's members number <unk>, <pad>, <bos>, <eos> as "
            f"{' and '.join(map(str, sorted(numberings)))}; expected one numbering"
        )
    return replace(
        each[0],
        never_spoken=tuple(sorted({word for own in each for word in own.never_spoken})),
        after_end=max(own.after_end for own in each),
    )
