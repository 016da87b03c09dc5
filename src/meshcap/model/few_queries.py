"""Eq. 1 for the few queries of a search's step, as one kernel of a GPU.

Knows attention; nothing of why there are few queries. A step asks with K beams at N vectors;
as separate products, mask and softmax that takes seven launches and moves more than it reads
(docs/performance.md). The kernel reads each key and value once. It is used where Triton is
installed, without gradients, and gives what `attend` gives to rounding.

Shapes: B pictures, L levels, Q queries, N attended vectors, H heads, D width, d_k = D / H.
"""

import torch
from torch import Tensor

from meshcap.model import shortcuts
from meshcap.model.keys_values import KeysValues

try:
    from meshcap.model.kernels import attend_few_kernel
except ImportError:  # CPU builds of PyTorch come without Triton
    attend_few_kernel = None

MOST_QUERIES = 64
_KEYS_AT_ONCE = 64


def applies(queries: Tensor, attended: KeysValues) -> bool:
    """Whether the kernel serves these: queries (…, Q, D), attended (…, H, N, d_k)."""
    head = attended.keys.shape[-1]
    return (
        attend_few_kernel is not None
        and queries.is_cuda
        and queries.shape[-2] <= MOST_QUERIES
        and head in (16, 32, 64, 128)
        and (queries.dtype in (torch.bfloat16, torch.float16) or _rough_float32(queries))
        and queries.dtype == attended.keys.dtype == attended.values.dtype
        and attended.keys.stride(-1) == attended.values.stride(-1) == 1
        and shortcuts.allowed(queries, *attended)
    )


def _rough_float32(queries: Tensor) -> bool:
    # Without tensor cores the kernel is slower than separate products: few queries fill a tile
    # badly, and exact float32 pays for the whole tile.
    return queries.dtype == torch.float32 and torch.backends.cuda.matmul.fp32_precision == "tf32"


def attend_few(queries: Tensor, attended: KeysValues, hidden: Tensor | None) -> Tensor:
    """`attend` on unsplit queries, its heads put together again: (…, Q, D).

    `queries` (B, Q, D) with `attended` (B, H, N, d_k) and `hidden` as (B, 1, Q, N); or
    (B, 1, Q, D) with (B, L, H, N, d_k) and (B, 1, 1, Q, N).
    """
    levels = attended.keys.dim() == 5
    keys, values = attended if levels else (each[:, None] for each in attended)
    pictures, count, heads, size, head = keys.shape
    asking = queries.reshape(pictures, -1, heads * head).contiguous()  # (B, Q, D)
    few = asking.shape[1]
    result = asking.new_empty(pictures, count, few, heads * head)
    if hidden is None:
        mask, strides = asking, (0, 0, 0)  # not read
    else:
        mask = (hidden[:, 0] if levels else hidden)[:, 0].expand(pictures, few, size)
        strides = (mask.stride(0), mask.stride(1), mask.stride(2))
        mask = mask.view(torch.uint8)
    attend_few_kernel[(pictures * count * heads,)](
        asking,
        keys,
        values,
        mask,
        result,
        few,
        size,
        *keys.stride()[:4],
        *values.stride()[:4],
        *strides,
        LEVELS=count,
        HEADS=heads,
        HEAD=head,
        QUERIES=max(16, 1 << (few - 1).bit_length()),
        KEYS=_KEYS_AT_ONCE,
        MASKED=hidden is not None,
        num_warps=2,
    )
    return result if levels else result[:, 0]
