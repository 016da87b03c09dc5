"""Eq. 1–3: attention, its heads and their memory slots; and attention on attention.

Knows sets of vectors; nothing of levels, gates or layers.

Shapes: B pictures, G groups (pictures, or captions), N attended vectors, Q queries, M memory
slots, H heads, D width, d_k = D / H. `…` is B, or B and L levels.
"""

import torch
from torch import Tensor, nn

from meshcap.model import few_queries
from meshcap.model.keys_values import KeysValues
from meshcap.model.linear import Linear


def attend(
    queries: Tensor,  # (…, H, Q, d_k)
    attended: KeysValues,
    hidden: Tensor | None = None,  # broadcasts to (…, H, Q, N); True: not to be seen
) -> tuple[Tensor, Tensor]:
    """Eq. 1: softmax(Q (K / √d)ᵀ) V, and the softmax's weights (…, H, Q, N)."""
    scores = queries @ attended.keys.transpose(-2, -1)
    if hidden is not None:
        # The least finite number, not -inf: where everything is hidden the weights stay finite,
        # and `without` has made the values of hidden vectors 0, so that the result is 0.
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
    weights = scores.softmax(dim=-1)
    return weights @ attended.values, weights


def without(attended: KeysValues, absent: Tensor) -> KeysValues:
    """The same with the values of absent vectors 0: (…, 1, N, 1) booleans in `absent`."""
    return KeysValues(attended.keys, attended.values.masked_fill(absent, 0.0))


class Attention(nn.Module):
    """Eq. 2: multi-head attention, W_o [heads], from queries Y to attended vectors X."""

    def __init__(self, width: int, heads: int, *, on_attention: bool = False) -> None:
        super().__init__()
        self.heads = heads
        self.scale = (width // heads) ** -0.5
        self.queries = Linear(width, width)
        self.keys = Linear(width, width)
        self.values = Linear(width, width)
        self.output = Linear(width, width)
        self.on_attention = AttentionOnAttention(width) if on_attention else None

    def split(self, vectors: Tensor) -> Tensor:
        """(…, N, D) → (…, H, N, d_k)"""
        return vectors.unflatten(-1, (self.heads, -1)).transpose(-3, -2)

    def project(self, vectors: Tensor) -> KeysValues:  # (…, N, D)
        """W_k X / √d_k and W_v X, by head."""
        return KeysValues(
            self.split(self.keys(vectors) * self.scale), self.split(self.values(vectors))
        )

    def forward(
        self,
        asking: Tensor,  # (…, Q, D)
        attended: KeysValues,
        hidden: Tensor | None = None,
        *,
        weights_too: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """The attended vectors (…, Q, D); on request the heads' weights (…, H, Q, N)."""
        queries, weights = self.queries(asking), None
        if not weights_too and few_queries.applies(queries, attended):
            together = few_queries.attend_few(queries, attended, hidden)
        else:
            heads, weights = attend(self.split(queries), attended, hidden)
            if weights_too and hidden is not None:
                # Where all is hidden these were uniform over values of 0: nothing was attended.
                weights = weights.masked_fill(hidden, 0.0)
            together = heads.transpose(-3, -2).flatten(-2)
        result = self.output(together)
        if self.on_attention is not None:
            result = self.on_attention(result, asking)
        return result, weights


class MemoryAttention(Attention):
    """Eq. 3: attention whose keys and values are joined by M learned slots in every head."""

    def __init__(
        self,
        width: int,
        heads: int,
        slots: int,
        *,
        scaled: bool = False,
        on_attention: bool = False,
    ) -> None:
        super().__init__(width, heads, on_attention=on_attention)
        # Head j owns columns j·d_k … (j+1)·d_k - 1, so that each head has its own slots.
        self.memory_keys = nn.Parameter(torch.empty(slots, width))
        self.memory_values = nn.Parameter(torch.empty(slots, width))
        self.scales = (1.0, slots**0.5) if scaled else (self.scale, 1.0)

    def project(self, vectors: Tensor) -> KeysValues:  # (B, R, D)
        """Eq. 3: K = [W_k X, M_k], V = [W_v X, M_v]. Memory does not depend on the input.

        The authors' factors, √d_k for keys and √M for values, are `scaled`; theirs and Eq. 1's
        1/√d_k cancel.
        """
        regions = super().project(vectors)
        slots = (
            self.split(memory * scale).expand(vectors.shape[0], -1, -1, -1)
            for memory, scale in zip(
                (self.memory_keys, self.memory_values), self.scales, strict=True
            )
        )
        return KeysValues(
            *(torch.cat(pair, dim=-2) for pair in zip(regions, slots, strict=True))
        )  # (B, H, R + M, d_k)


class AttentionOnAttention(nn.Module):
    """T1's baseline: σ(G [attended, query]) ⊙ (I [attended, query]) replaces the result."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.information = Linear(2 * width, width)
        self.gate = Linear(2 * width, width)

    def forward(self, attended: Tensor, asking: Tensor) -> Tensor:  # both (…, Q, D)
        both = torch.cat([attended, asking.expand_as(attended)], dim=-1)
        return self.information(both) * self.gate(both).sigmoid()
