"""Eq. 4 and AddNorm: what stands between the attentions.

Knows vectors of the model's width; nothing of regions, words or levels.
"""

import torch
from torch import Tensor, nn

from meshcap.model import fused
from meshcap.model.linear import Linear


class FeedForward(nn.Module):
    """Eq. 4: F(X)_i = U ReLU(V X_i + b) + c, for each position alone."""

    def __init__(self, width: int, inner: int, dropout_inside: float = 0.0) -> None:
        super().__init__()
        self.inner = Linear(width, inner)
        self.outer = Linear(inner, width)
        self.dropout = nn.Dropout(dropout_inside)

    def forward(self, vectors: Tensor) -> Tensor:  # (…, D) → (…, D)
        inner = self.inner(vectors)
        # In place where nobody can look: a large batch's inner vectors are its largest tensor.
        inner = inner.relu() if torch.is_grad_enabled() else inner.relu_()
        return self.outer(self.dropout(inner))


class AddNorm(nn.Module):
    """Section 3.1: AddNorm(sublayer) = LN(x + Dropout(sublayer(x)))."""

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(width)

    def forward(self, before: Tensor, added: Tensor) -> Tensor:  # both broadcast to (…, D)
        if not self.training and before.shape == added.shape and fused.serve(before, added):
            return fused.add_norm(before, added, self.norm)
        return self.norm(before + self.dropout(added))
