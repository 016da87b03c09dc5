"""Small steps between products as single kernels of a GPU.

Knows vectors of the model's width; nothing of what they stand for. A step of a search makes
hundreds of tiny tensors, and launching costs more than computing. Used where Triton is
installed, without gradients; they give what the plain ways give, to rounding.

Shapes: B pictures, Q words, L levels, D width.
"""

import torch
from torch import Tensor, nn

from meshcap.model import shortcuts

try:
    from meshcap.model.kernels import add_norm_kernel, gated_sum_kernel
except ImportError:  # CPU builds of PyTorch come without Triton
    add_norm_kernel = gated_sum_kernel = None

_WIDEST = 4096
_FLOATS = (torch.float32, torch.bfloat16, torch.float16)


def serve(*tensors: Tensor) -> bool:
    """Whether the kernels serve tensors like these."""
    first = tensors[0]
    return (
        add_norm_kernel is not None
        and first.is_cuda
        and first.dtype in _FLOATS
        and first.shape[-1] <= _WIDEST
        and first.numel() > 0
        and all(each.dtype == first.dtype and each.is_contiguous() for each in tensors)
        and shortcuts.allowed(*tensors)
    )


def add_norm(before: Tensor, added: Tensor, norm: nn.LayerNorm) -> Tensor:
    """LN(before + added), both (…, D)."""
    width = before.shape[-1]
    result = torch.empty_like(before)
    add_norm_kernel[(before.numel() // width,)](
        before,
        added,
        norm.weight,
        norm.bias,
        result,
        width,
        norm.eps,
        WIDTH=1 << (width - 1).bit_length(),
        num_warps=4,
    )
    return result


def gated_sum(logits: Tensor, crossed: Tensor) -> Tensor:
    """Eq. 6 from its gates' logits and C(X̃ⁱ, Y), both (B, L, Q, D) → (B, Q, D)."""
    pictures, levels, few, width = crossed.shape
    result = crossed.new_empty(pictures, few, width)
    gated_sum_kernel[(pictures * few,)](
        logits.transpose(0, 1).contiguous(),  # (L, B, Q, D), as they were made
        crossed,
        result,
        pictures * few,
        few,
        width,
        levels**-0.5,
        LEVELS=levels,
        WIDTH=1 << (width - 1).bit_length(),
        num_warps=4,
    )
    return result
