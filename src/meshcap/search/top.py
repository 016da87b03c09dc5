"""The few largest of very many numbers, without sorting them.

Knows tensors of numbers; nothing of words.
"""

import torch
from torch import Tensor

# On rows of a vocabulary's length chunks of about its square root leave the least to look at.
_CHUNK = 101
_LEAST_WORTH = 16 * _CHUNK


def largest(numbers: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """As `numbers.topk(count)` along the last dimension, exactly.

    The `count` largest numbers of a row lie in the `count` chunks with the largest maxima, so
    one pass over the row finds the chunks and the rest is small. A topk over whole rows takes
    several passes (docs/performance.md has both times).
    """
    size = numbers.shape[-1]
    chunks = size // _CHUNK
    if size < _LEAST_WORTH or count >= chunks:
        best = numbers.topk(count, dim=-1)
        return best.values, best.indices
    body, tail = numbers.split([chunks * _CHUNK, size - chunks * _CHUNK], dim=-1)
    body = body.unflatten(-1, (chunks, _CHUNK))  # (…, chunks, _CHUNK)
    chosen = body.amax(dim=-1).topk(count, dim=-1, sorted=False).indices  # (…, count)
    inside = body.gather(-2, chosen[..., None].expand(*chosen.shape, _CHUNK)).flatten(-2)
    within = torch.arange(_CHUNK, device=numbers.device)
    places = torch.add(within, chosen[..., None], alpha=_CHUNK).flatten(-2)  # in the whole row
    if tail.shape[-1]:
        rest = torch.arange(chunks * _CHUNK, size, device=numbers.device)
        inside = torch.cat([inside, tail], dim=-1)
        places = torch.cat([places, rest.expand(*places.shape[:-1], -1)], dim=-1)
    values, best = inside.topk(count, dim=-1)
    return values, places.gather(-1, best)
