"""Eq. 6–9: meshed cross-attention, its gates, and the decoding layer.

Knows words as vectors and levels of regions; nothing of vocabularies or searches.

Shapes: B pictures, G groups of words that see one another (pictures in a search, captions in
training), Q words of a group, L levels, R regions, H heads, D width, d_k = D / H.
"""

import torch
from torch import Tensor, nn

from meshcap.model import fused
from meshcap.model.attention import Attention
from meshcap.model.keys_values import KeysValues
from meshcap.model.layers import AddNorm, FeedForward
from meshcap.model.linear import Linear
from meshcap.model.state import DecodingTrace


class Gates(nn.Module):
    """Eq. 8: α_i = σ(W_i [Y, C(X̃ⁱ, Y)] + b_i), one matrix and bias a level."""

    def __init__(self, width: int, levels: int) -> None:
        super().__init__()
        self.levels = nn.ModuleList(Linear(2 * width, width) for _ in range(levels))

    def logits(self, words: Tensor, crossed: Tensor) -> Tensor:
        """W_i [Y, C_i] + b_i of every level: (B, Q, D) and (B, L, Q, D) → (B, L, Q, D)."""
        # Level by level, (L, B, Q, 2 D), so that each level's rows lie together.
        by_level = crossed.transpose(0, 1)
        both = torch.cat([words.expand_as(by_level), by_level], dim=-1)
        logits = [gate(rows) for gate, rows in zip(self.levels, both, strict=True)]
        return torch.stack(logits).transpose(0, 1)

    def forward(self, words: Tensor, crossed: Tensor) -> Tensor:
        """α_i of every level, (B, L, Q, D)."""
        return self.logits(words, crossed).sigmoid()

    def mesh(self, words: Tensor, crossed: Tensor) -> Tensor:
        """Eq. 6 from C(X̃ⁱ, Y): Σ_i α_i ⊙ C_i / √N, (B, Q, D)."""
        if fused.serve(crossed):
            return fused.gated_sum(self.logits(words, crossed), crossed)
        return _scaled_sum(self(words, crossed) * crossed)


class SoftmaxGates(Gates):
    """T1's variant: a softmax across the levels instead of Eq. 8's sigmoids."""

    def forward(self, words: Tensor, crossed: Tensor) -> Tensor:
        return self.logits(words, crossed).softmax(dim=1)

    def mesh(self, words: Tensor, crossed: Tensor) -> Tensor:
        return _scaled_sum(self(words, crossed) * crossed)


def _scaled_sum(gated: Tensor) -> Tensor:
    # 1/√N, not 1/N (section 4.2).
    return gated.sum(dim=1) * gated.shape[1] ** -0.5


class MeshedAttention(nn.Module):
    """Eq. 6: M_mesh(X̃, Y) = Σ_i α_i ⊙ C(X̃ⁱ, Y), scaled by 1/√N.

    With `gates` None every level counts alike; with one level and no gates this is the plain
    Transformer's cross-attention.
    """

    def __init__(self, attention: Attention, gates: Gates | None) -> None:
        super().__init__()
        self.attention = attention
        self.gates = gates

    def cross(
        self, words: Tensor, levels: KeysValues, hidden: Tensor | None, *, weights_too: bool
    ) -> tuple[Tensor, Tensor | None]:
        """Eq. 7: C(X̃ⁱ, Y) of every level (B, L, Q, D); on request weights (B, L, H, Q, R).

        The projections are shared across levels within one decoding layer.
        """
        return self.attention(words[:, None], levels, hidden, weights_too=weights_too)

    def forward(
        self,
        words: Tensor,  # (B, Q, D)
        levels: KeysValues,  # (B, L, H, R, d_k)
        hidden: Tensor | None,  # (B, 1, 1, 1, R)
        trace: DecodingTrace | None = None,
    ) -> Tensor:  # (B, Q, D)
        crossed, weights = self.cross(words, levels, hidden, weights_too=trace is not None)
        if trace is not None and weights is not None:
            gates = torch.ones_like(crossed) if self.gates is None else self.gates(words, crossed)
            trace.levels, trace.crossed, trace.gates = weights, crossed, gates
            return _scaled_sum(gates * crossed)
        if self.gates is None:
            return _scaled_sum(crossed)
        return self.gates.mesh(words, crossed)


class NormedMeshedAttention(MeshedAttention):
    """The code's mesh: AddNorm around each level's attention, none after the sum.

    So the gates see LN(Y + C(X̃ⁱ, Y)) where the paper's see C(X̃ⁱ, Y).
    """

    def __init__(
        self, attention: Attention, gates: Gates | None, width: int, dropout: float
    ) -> None:
        super().__init__(attention, gates)
        self.level_norm = AddNorm(width, dropout)

    def cross(
        self, words: Tensor, levels: KeysValues, hidden: Tensor | None, *, weights_too: bool
    ) -> tuple[Tensor, Tensor | None]:
        crossed, weights = super().cross(words, levels, hidden, weights_too=weights_too)
        return self.level_norm(words[:, None], crossed), weights


class DecodingLayer(nn.Module):
    """Eq. 9: Z = AddNorm(M_mesh(X̃, AddNorm(S_mask(Y)))), Ỹ = AddNorm(F(Z))."""

    def __init__(
        self,
        self_attention: Attention,
        mesh: MeshedAttention,
        feed_forward: FeedForward,
        width: int,
        dropout: float,
        *,
        norm_after_mesh: bool,
    ) -> None:
        super().__init__()
        self.self_attention = self_attention
        self.self_norm = AddNorm(width, dropout)
        self.mesh = mesh
        self.mesh_norm = AddNorm(width, dropout) if norm_after_mesh else None
        self.feed_forward = feed_forward
        self.feed_forward_norm = AddNorm(width, dropout)

    def forward(
        self,
        words: Tensor,  # (G, Q, D)
        spoken: KeysValues,  # (G, H, E, d_k): the words so far, these included
        unseen: Tensor,  # broadcasts to (G, 1, Q, E); True: a word that this one does not see
        levels: KeysValues,  # (B, L, H, R, d_k)
        hidden: Tensor | None,  # (B, 1, 1, 1, R)
        silent: Tensor | None,  # (G, Q, 1); True: padding, whose outputs become 0
        trace: DecodingTrace | None = None,
    ) -> Tensor:  # (G, Q, D)
        attended, weights = self.self_attention(
            words, spoken, unseen, weights_too=trace is not None
        )
        said = _silence(self.self_norm(words, attended), silent)
        pictures = levels.keys.shape[0]
        asking = said.reshape(pictures, -1, said.shape[-1])  # (B, G / B * Q, D)
        meshed = self.mesh(asking, levels, hidden, trace).view_as(said)
        if self.mesh_norm is not None:
            meshed = self.mesh_norm(said, meshed)
        meshed = _silence(meshed, silent)  # Z
        result = _silence(self.feed_forward_norm(meshed, self.feed_forward(meshed)), silent)
        if trace is not None and weights is not None:
            trace.words, trace.said, trace.output = weights, said, result
            trace.visible = (~unseen).expand(words.shape[0], -1, -1, -1)[:, 0]
        return result


def _silence(vectors: Tensor, silent: Tensor | None) -> Tensor:
    return vectors if silent is None else vectors.masked_fill(silent, 0.0)
