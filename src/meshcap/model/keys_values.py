"""What attention attends to, as a value.

Knows tensors only.

Shapes: N attended vectors, H heads, d_k a head's width; `…` is B pictures, or B and L levels.
"""

from typing import NamedTuple

from torch import Tensor


class KeysValues(NamedTuple):
    """What is attended, projected once and kept: W_k X / √d_k and W_v X by head."""

    keys: Tensor  # (…, H, N, d_k); Eq. 1's 1/√d stands with them, so that it is paid once
    values: Tensor  # (…, H, N, d_k)
