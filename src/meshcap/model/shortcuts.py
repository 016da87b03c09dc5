"""When a way past PyTorch's own operators may be taken: one answer for every such way.

Knows what may stand between an operator and its numbers; nothing of the ways themselves, which
are `linear.py`'s product on a CPU and the kernels of `few_queries.py` and `fused.py` on a GPU.
"""

import torch
from torch import Tensor, nn
from torch.autograd import forward_ad

_PLAIN = (Tensor, nn.Parameter)


def allowed(*tensors: Tensor) -> bool:
    """Whether plain numbers are computed and nothing else: no gradients, transforms, counters.

    Backward and forward gradients, compilers, vmap and the like, modes that watch what is
    computed, and tensors of other kinds know PyTorch's operators, but not the ways past them.
    """
    return (
        not torch.is_grad_enabled()
        and not torch.compiler.is_compiling()
        and all(type(each) in _PLAIN for each in tensors)
        and torch._C._functorch.peek_interpreter_stack() is None
        and torch._C._len_torch_dispatch_stack() == 0
        and forward_ad._current_level < 0
    )
