"""A linear map that uses the fastest multiplication at hand.

Knows matrices; nothing of attention or words.

On a CPU a search multiplies few rows with many weights, and all that counts is how fast the
weights are read. The product behind F.linear reads them at a third of what the machine can do;
oneDNN's, which torch's compiler uses for its own code, at full speed once they are packed in its
order (docs/performance.md has the figures). The results agree to rounding.
"""

from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

_multiply = getattr(torch.ops.mkldnn, "_linear_pointwise", None)
_reorder = getattr(torch.ops.mkldnn, "_reorder_linear_weight", None)

# The order that oneDNN chooses for so many rows serves fewer and more of them as well.
_ROWS = 64


class _Packed(NamedTuple):
    """Weights in oneDNN's order, and what tells that they are still these weights."""

    weight: Tensor
    place: tuple[int, int]  # address and version of what was packed
    total: float


class Linear(nn.Linear):
    """x ↦ W x + b. Without gradients on a CPU oneDNN multiplies, everywhere else F.linear."""

    _packed: _Packed | None = None

    def pack(self) -> None:
        """Keep the weights in oneDNN's order too, where that helps; cheap when nothing changed.

        Called at the start of each search and pass. The weights' sum tells of a change that
        leaves no other trace, one through `weight.data`.
        """
        if not self._onednn_multiplies(self.weight) or _reorder is None:
            self._packed = None
            return
        place, total = self._place(), self.weight.sum().item()
        packed = self._packed
        if packed is None or packed.place != place or packed.total != total:
            self._packed = _Packed(_reorder(self.weight.detach(), _ROWS), place, total)

    def forward(self, rows: Tensor) -> Tensor:  # (…, in) → (…, out)
        if not self._onednn_multiplies(rows):
            return F.linear(rows, self.weight, self.bias)
        packed = self._packed
        ready = packed is not None and packed.place == self._place()
        weight = packed.weight if packed is not None and ready else self.weight
        assert _multiply is not None
        return cast(Tensor, _multiply(rows, weight, self.bias, "none", [], ""))

    def _place(self) -> tuple[int, int]:
        # Weights made in inference mode count no versions, and cannot be written to outside it.
        version = 0 if self.weight.is_inference() else self.weight._version
        return self.weight.data_ptr(), version

    def _onednn_multiplies(self, rows: Tensor) -> bool:
        return (
            _multiply is not None
            and not torch.compiler.is_compiling()
            and not torch.is_grad_enabled()
            and rows.device.type == "cpu"
            and rows.dtype == self.weight.dtype == torch.float32
            and rows.numel() > 0
            and not torch.is_autocast_enabled("cpu")
            and torch.backends.mkldnn.is_available()
            and bool(torch.backends.mkldnn.enabled)
        )

    def __getstate__(self) -> dict[str, Any]:
        # Packed weights can be neither copied nor pickled; they are made again.
        return {**self.__dict__, "_packed": None}
