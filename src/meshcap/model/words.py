"""Section 3.2, words: vectors, positions, and the scores of next words.

Knows word numbers; nothing of their spelling or of regions.

Shapes: V words of the vocabulary, D width, W width of given vectors; `…` any.
"""

import math
from collections.abc import Callable
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from meshcap.errors import VocabularyError
from meshcap.model.linear import Linear


def sinusoids(longest: int, width: int) -> Tensor:
    """Supplement: positions 0 … longest as sines (even columns) and cosines (odd columns)."""
    position = torch.arange(longest + 1, dtype=torch.float64)[:, None]
    pairs = torch.arange(0, width, 2, dtype=torch.float64)
    angle = position * torch.exp(pairs * (-math.log(10000.0) / width))  # (longest + 1, D / 2)
    # An odd width has a last sine without its cosine.
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)[:, :width].float()


class Words(nn.Module):
    """Section 3.2: words and positions to vectors, and vectors to logits over the vocabulary."""

    positions: Tensor

    def __init__(self, positions: Tensor, *, positions_are_weights: bool) -> None:
        super().__init__()
        self.computed = not positions_are_weights
        # Row 0 is unused: the first word stands at position 1, as in the authors' code.
        self.register_buffer("positions", positions, persistent=positions_are_weights)

    def _apply(self, change: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        # Sinusoids are made anew in a new type: what bf16 rounds off does not come back.
        super()._apply(change, recurse)  # type: ignore[no-untyped-call]
        if self.computed and not self.positions.is_meta:
            longest, width = self.positions.shape[0] - 1, self.positions.shape[1]
            self.positions = sinusoids(longest, width).to(self.positions)
        return self

    def vectors(self, numbers: Tensor) -> Tensor:
        """(…) → (…, D)"""
        raise NotImplementedError

    def logits(self, vectors: Tensor) -> Tensor:
        """(…, D) → (…, V)"""
        raise NotImplementedError


class LearnedWords(Words):
    """One-hot words linearly projected, and a linear projection to the dictionary."""

    def __init__(
        self, vocabulary_size: int, width: int, positions: Tensor, *, positions_are_weights: bool
    ) -> None:
        super().__init__(positions, positions_are_weights=positions_are_weights)
        self.embedding = nn.Embedding(vocabulary_size, width)
        self.output = Linear(width, vocabulary_size, bias=False)

    def vectors(self, numbers: Tensor) -> Tensor:
        return self.embedding(numbers)

    def logits(self, vectors: Tensor) -> Tensor:
        return self.output(vectors)


class GivenWords(Words):
    """Section 4.5: given (GloVe) vectors, a map into the model and one back, a tied output.

    The vectors are no parameters: a word that training never saw keeps the place that its vector
    gives it, and can be said.
    """

    given: Tensor  # (V, W)

    def __init__(
        self,
        vocabulary_size: int,
        vector_width: int,
        width: int,
        positions: Tensor,
        *,
        positions_are_weights: bool,
    ) -> None:
        super().__init__(positions, positions_are_weights=positions_are_weights)
        self.register_buffer(
            "given", torch.randn(vocabulary_size, vector_width) * vector_width**-0.5
        )
        self.into = Linear(vector_width, width)
        self.back = Linear(width, vector_width)

    def give(self, vectors: Tensor) -> None:
        """Take the vectors of the vocabulary's words, row by row."""
        if vectors.shape != self.given.shape:
            raise VocabularyError(
                f"word vectors have the shape {tuple(vectors.shape)}; "
                f"expected {tuple(self.given.shape)}, words by width"
            )
        if not bool(vectors.isfinite().all()):
            raise VocabularyError("word vectors hold numbers that are not finite")
        self.given.copy_(vectors)

    def vectors(self, numbers: Tensor) -> Tensor:
        return self.into(F.embedding(numbers, self.given))

    def logits(self, vectors: Tensor) -> Tensor:
        return F.linear(self.back(vectors), self.given)
