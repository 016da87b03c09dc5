"""Eq. 5: regions to levels. Knows sets of regions; nothing of words.

Shapes: B pictures, R regions, M memory slots, L levels, D width.
"""

import torch
from torch import Tensor, nn

from meshcap.model.attention import Attention, without
from meshcap.model.layers import AddNorm, FeedForward
from meshcap.model.linear import Linear
from meshcap.model.state import EncodingTrace, Trace


class RegionProjection(nn.Module):
    """The code's way to the model's width: LN(Dropout(ReLU(W x + b)))."""

    def __init__(self, region_width: int, width: int, dropout: float) -> None:
        super().__init__()
        self.linear = Linear(region_width, width)
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(width)

    def forward(self, features: Tensor) -> Tensor:  # (B, R, D_in) → (B, R, D)
        return self.norm(self.dropout(self.linear(features).relu()))


class EncodingLayer(nn.Module):
    """Eq. 5: Z = AddNorm(M_mem(X)), X̃ = AddNorm(F(Z))."""

    def __init__(
        self, attention: Attention, feed_forward: FeedForward, width: int, dropout: float
    ) -> None:
        super().__init__()
        self.attention = attention
        self.attention_norm = AddNorm(width, dropout)
        self.feed_forward = feed_forward
        self.feed_forward_norm = AddNorm(width, dropout)

    def look(
        self,
        regions: Tensor,  # (B, R, D)
        absent: Tensor | None,  # (B, R)
        *,
        weights_too: bool,
    ) -> tuple[Tensor, Tensor | None]:
        """M_mem(X); on request its weights over regions and slots (B, H, R, R + M)."""
        attended = self.attention.project(regions)
        if absent is None:
            return self.attention(regions, attended, weights_too=weights_too)
        # Memory slots come after the regions and are never hidden.
        slots = attended.keys.shape[-2] - absent.shape[-1]
        hidden = nn.functional.pad(absent, (0, slots), value=False)  # (B, R + M)
        attended = without(attended, hidden[:, None, :, None])
        hidden = hidden[:, None, None, :].expand(-1, -1, regions.shape[1], -1)
        return self.attention(regions, attended, hidden, weights_too=weights_too)

    def forward(
        self, regions: Tensor, absent: Tensor | None, trace: Trace | None = None
    ) -> Tensor:  # (B, R, D) → (B, R, D)
        attended, weights = self.look(regions, absent, weights_too=trace is not None)
        looked = self.attention_norm(regions, attended)  # Z
        if trace is not None and weights is not None:
            trace.encoding.append(EncodingTrace(weights, looked))
        return self.feed_forward_norm(looked, self.feed_forward(looked))  # X̃


class IdentityMapEncodingLayer(EncodingLayer):
    """The code's `identity_map_reordering`: x + Dropout(ReLU(sublayer(LN(x)))), twice."""

    def forward(
        self, regions: Tensor, absent: Tensor | None, trace: Trace | None = None
    ) -> Tensor:  # (B, R, D) → (B, R, D)
        first, second = self.attention_norm, self.feed_forward_norm
        attended, weights = self.look(first.norm(regions), absent, weights_too=trace is not None)
        looked = regions + first.dropout(attended.relu())
        if trace is not None and weights is not None:
            trace.encoding.append(EncodingTrace(weights, looked))
        return looked + second.dropout(self.feed_forward(second.norm(looked)).relu())


class Encoder(nn.Module):
    """Section 3.1, full encoder: N layers in sequence, whose outputs are all kept."""

    def __init__(self, layers: list[EncodingLayer]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(
        self,
        regions: Tensor,  # (B, R, D)
        absent: Tensor | None = None,  # (B, R)
        trace: Trace | None = None,
    ) -> Tensor:
        levels = []
        for layer in self.layers:
            regions = layer(regions, absent, trace)
            levels.append(regions)
        return torch.stack(levels, dim=1)  # (B, L, R, D)
