"""A linear map that uses the fastest multiplication at hand.

Knows matrices; nothing of attention or words.

On a CPU a search multiplies few rows with many weights, and all that counts is how fast the
weights are read. The product behind F.linear reads them at a third of what the machine can do;
oneDNN's, which torch's compiler uses for its own code, at full speed once they are packed in its
order (docs/performance.md has the figures). The results agree to rounding.
"""

from functools import lru_cache
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from meshcap.model import shortcuts

_there = torch.backends.mkldnn.is_available()
_multiply = getattr(torch.ops.mkldnn, "_linear_pointwise", None) if _there else None
_reorder = getattr(torch.ops.mkldnn, "_reorder_linear_weight", None)

# The order that oneDNN chooses for so many rows serves fewer and more of them as well.
_ROWS = 64


class _Packed(NamedTuple):
    """Weights in oneDNN's order, and what tells that they are still these weights."""

    weight: Tensor
    place: tuple[int, int]  # address and version of what was packed
    trace: float  # of its numbers and where they stand


@lru_cache(maxsize=64)
def _probe(size: int) -> Tensor:
    """Fixed numbers, whatever the program's own random numbers, types and devices are."""
    chance = torch.Generator("cpu").manual_seed(size)
    return torch.randn(size, generator=chance, dtype=torch.float32, device="cpu")


def _place(weight: Tensor) -> tuple[int, int]:
    # Weights made in inference mode count no versions, and cannot be written to outside it.
    return weight.data_ptr(), 0 if weight.is_inference() else weight._version


def _onednn_serves(rows: Tensor, weight: Tensor) -> bool:
    return (
        rows.device.type == "cpu"
        and rows.dtype is torch.float32
        and weight.dtype is torch.float32
        and rows.numel() > 0
        and not torch.is_autocast_enabled("cpu")
        and bool(torch.backends.mkldnn.enabled)
        and shortcuts.allowed(rows, weight)
    )


class Linear(nn.Linear):
    """x ↦ W x + b. Without gradients on a CPU oneDNN multiplies, everywhere else F.linear.

    Whoever calls a packed one alone, outside `start`, `step` and `decode`, after writing to
    `weight.data`, calls `pack()` first; every other change of weights is seen at once.
    """

    _packed: _Packed | None = None

    def pack(self) -> None:
        """Keep the weights in oneDNN's order too, where that helps; cheap when nothing changed.

        Called at the start of each search and pass. Writing to `weight.data` leaves no trace but
        in the weights themselves, so these are read once: their bilinear form with two fixed
        vectors also tells of numbers that have changed places.
        """
        weight = self.weight
        if _multiply is None or _reorder is None or not _onednn_serves(weight, weight):
            self._packed = None
            return
        across, down = _probe(self.in_features), _probe(self.out_features)
        numbers = weight.detach()
        read = _multiply(across[None], numbers, None, "none", [], "")  # (1, out)
        place, trace = _place(weight), (read[0] @ down).item()
        packed = self._packed
        if packed is None or packed.place != place or packed.trace != trace:
            self._packed = _Packed(_reorder(numbers, _ROWS), place, trace)

    def forward(self, rows: Tensor) -> Tensor:  # (…, in) → (…, out)
        weight, bias = self.weight, self.bias
        if _multiply is None or not _onednn_serves(rows, weight):
            return F.linear(rows, weight, bias)
        packed = self._packed
        if packed is not None and packed.place == _place(weight):
            return cast(Tensor, _multiply(rows, packed.weight, bias, "none", [], ""))
        return cast(Tensor, _multiply(rows, weight, bias, "none", [], ""))

    def __getstate__(self) -> dict[str, Any]:
        # Packed weights can be neither copied nor pickled; they are made again.
        return {**self.__dict__, "_packed": None}
