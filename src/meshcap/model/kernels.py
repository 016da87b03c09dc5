"""The kernels behind `few_queries.py` and `fused.py`, in Triton.

Knows addresses and strides; nothing of tensors. Triton's language has no types: the checker
passes over this file.
"""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["few", "size"])
def attend_few_kernel(
    asking,
    keys,
    values,
    mask,
    result,
    few,
    size,
    key_b,
    key_l,
    key_h,
    key_n,
    value_b,
    value_l,
    value_h,
    value_n,
    mask_b,
    mask_q,
    mask_n,
    LEVELS: tl.constexpr,
    HEADS: tl.constexpr,
    HEAD: tl.constexpr,
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,
    MASKED: tl.constexpr,
):
    """Eq. 1: one program a picture, level and head.

    Queries (B, Q, H · d_k), keys and values (B, L, H, N, d_k), mask (B, Q, N), result
    (B, L, Q, H · d_k).
    """
    program = tl.program_id(0).to(tl.int64)
    h = program % HEADS
    level = (program // HEADS) % LEVELS
    b = program // (HEADS * LEVELS)
    q = tl.arange(0, QUERIES)
    n = tl.arange(0, KEYS)
    d = tl.arange(0, HEAD)
    there = q < few
    rows = (b * few + q)[:, None] * (HEADS * HEAD) + h * HEAD + d[None, :]
    queries = tl.load(asking + rows, mask=there[:, None], other=0.0)
    keys += b * key_b + level * key_l + h * key_h
    values += b * value_b + level * value_l + h * value_h

    # Softmax as the keys come: the largest score, the sum and the weighted values so far.
    largest = tl.full((QUERIES,), -float("inf"), tl.float32)
    total = tl.zeros((QUERIES,), tl.float32)
    sums = tl.zeros((QUERIES, HEAD), tl.float32)
    for first in range(0, size, KEYS):
        at = first + n
        inside = at < size
        own = tl.load(keys + at[:, None] * key_n + d[None, :], mask=inside[:, None], other=0.0)
        scores = tl.dot(queries, tl.trans(own), input_precision="tf32")
        if MASKED:
            hidden = tl.load(
                mask + b * mask_b + q[:, None] * mask_q + at[None, :] * mask_n,
                mask=there[:, None] & inside[None, :],
                other=0,
            )
            # Finite, as in `attend`: where all is hidden the weights are still numbers.
            scores = tl.where(hidden != 0, -1.0e38, scores)
        scores = tl.where(inside[None, :], scores, -float("inf"))
        larger = tl.maximum(largest, tl.max(scores, 1))
        weights = tl.exp(scores - larger[:, None])
        shrink = tl.exp(largest - larger)
        own = tl.load(values + at[:, None] * value_n + d[None, :], mask=inside[:, None], other=0.0)
        total = total * shrink + tl.sum(weights, 1)
        sums = sums * shrink[:, None] + tl.dot(weights.to(own.dtype), own, input_precision="tf32")
        largest = larger
    sums = sums / total[:, None]
    rows = ((b * LEVELS + level) * few + q)[:, None] * (HEADS * HEAD) + h * HEAD + d[None, :]
    tl.store(result + rows, sums.to(result.dtype.element_ty), mask=there[:, None])


@triton.jit
def add_norm_kernel(before, added, gain, shift, result, width, small, WIDTH: tl.constexpr):
    """LN(before + added): one program a row of the model's width."""
    row = tl.program_id(0).to(tl.int64) * width
    at = tl.arange(0, WIDTH)
    inside = at < width
    sums = tl.load(before + row + at, mask=inside, other=0.0).to(tl.float32)
    sums += tl.load(added + row + at, mask=inside, other=0.0).to(tl.float32)
    off = tl.where(inside, sums - tl.sum(sums) / width, 0.0)
    off *= tl.rsqrt(tl.sum(off * off) / width + small)
    off *= tl.load(gain + at, mask=inside, other=0.0).to(tl.float32)
    off += tl.load(shift + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(result + row + at, off.to(result.dtype.element_ty), mask=inside)


@triton.jit(do_not_specialize=["rows", "few"])
def gated_sum_kernel(
    logits, crossed, result, rows, few, width, scale, LEVELS: tl.constexpr, WIDTH: tl.constexpr
):
    """Eq. 6: one program a word. Logits (L, B · Q, D), crossed (B, L, Q, D), result (B · Q, D)."""
    word = tl.program_id(0).to(tl.int64)
    picture, q = word // few, word % few
    at = tl.arange(0, WIDTH)
    inside = at < width
    total = tl.zeros((WIDTH,), tl.float32)
    for level in tl.static_range(LEVELS):
        place = (level * rows + word) * width + at
        gate = tl.sigmoid(tl.load(logits + place, mask=inside, other=0.0).to(tl.float32))
        place = ((picture * LEVELS + level) * few + q) * width + at
        total += gate * tl.load(crossed + place, mask=inside, other=0.0).to(tl.float32)
    tl.store(result + word * width + at, (total * scale).to(result.dtype.element_ty), mask=inside)
