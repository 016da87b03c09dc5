"""The seam of the program: what a search asks of whatever scores the next word.

The network, an ensemble, an ONNX session and the tests' scripted table are all NextWords.

Shapes: B pictures, K sentences a picture, T words, V vocabulary; rows are B pictures times the
beams of each, those of the first picture first.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

from torch import Tensor


class SearchState(Protocol):
    """A value that stands for the words spoken so far by each row."""

    def follow(self, parents: Tensor) -> Self:
        """The state whose row i continues row `parents[i]`, a row of the same picture."""
        ...


S = TypeVar("S", bound=SearchState)


class NextWord(Protocol[S]):
    """Anything that scores next words.

    A search asks `len()` of the regions how many pictures they are, and works on the device of
    their `features`, if they have any; it hands them to `start` and knows nothing else of them.
    It may also have: `special_words`, the numbers of words that are none (else 0, 1, 2, 3 are
    `<unk>`, `<pad>`, `<bos>`, `<eos>`); `longest`, the most words it has positions for.
    """

    def start(self, regions: Any, /) -> S:
        """The state before the first word, one row a picture."""
        ...

    def step(self, words: Tensor, state: S, /) -> tuple[Tensor, S]:
        """Each row's newest word (rows,) → log-probabilities of its next (rows, V), and state."""
        ...


@runtime_checkable
class Reservable(Protocol):
    """A state that can make room for a whole search at its start."""

    def reserve(self, beams: int, length: int) -> Self:
        """The same state, of which each will be stepped once, `length` times in a row."""
        ...


@runtime_checkable
class Replayable(Protocol):
    """A NextWord whose steps have fixed shapes and ask the GPU nothing: it can be recorded."""

    def replay_key(self) -> Hashable | None:
        """What must be unchanged for a recording to be still true, addresses included.

        None: it cannot be recorded after all.
        """
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Hypotheses:
    """Sentences found, the best first."""

    words: Tensor  # (B, K, T) word numbers up to the end's, then filling
    log_probs: Tensor  # (B, K, T) of each word, the end's included; 0 after it
    scores: Tensor  # (B, K) what they are sorted by: the sum of log_probs, unless normalised

    def __len__(self) -> int:
        return self.words.shape[0]

    def __repr__(self) -> str:
        return "Hypotheses({} pictures, {} sentences of {} words)".format(*self.words.shape)

    def first(self, pictures: int) -> "Hypotheses":
        """Those of the first so many pictures."""
        return Hypotheses(self.words[:pictures], self.log_probs[:pictures], self.scores[:pictures])

    def best(self, captions: int) -> "Hypotheses":
        """The so many best of each picture."""
        return Hypotheses(
            self.words[:, :captions], self.log_probs[:, :captions], self.scores[:, :captions]
        )
