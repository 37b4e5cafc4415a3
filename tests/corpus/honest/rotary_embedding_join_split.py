# kgtui: op=vllm::rotary_embedding expect=pass
"""Interleaved pairs by tl.split and tl.join of whole heads that are read once, NeoX halves by two loads."""

import torch
import triton
import triton.language as tl


@triton.jit
def _interleaved(x, pos, cache, heads, half, xt, xh, cr, HEADS: tl.constexpr, HALF: tl.constexpr):
    t = tl.program_id(0).to(tl.int64)
    h = tl.arange(0, HEADS)[:, None]
    c = tl.arange(0, 2 * HALF)[None, :]
    inside = (h < heads) & (c < 2 * half)
    at = x + t * xt + h * xh + c
    v = tl.load(at, mask=inside, other=0.0).to(tl.float32)
    p = tl.arange(0, HALF)
    row = tl.load(pos + t) * cr
    cos = tl.load(cache + row + p, mask=p < half, other=0.0).to(tl.float32)[None, :]
    sin = tl.load(cache + row + half + p, mask=p < half, other=0.0).to(tl.float32)[None, :]
    a, b = tl.split(tl.reshape(v, (HEADS, HALF, 2)))
    turned = tl.reshape(tl.join(a * cos - b * sin, b * cos + a * sin), (HEADS, 2 * HALF))
    tl.store(at, turned.to(x.dtype.element_ty), mask=inside)


@triton.jit
def _halves(x, pos, cache, heads, half, xt, xh, cr, HEADS: tl.constexpr, HALF: tl.constexpr):
    t = tl.program_id(0).to(tl.int64)
    h = tl.arange(0, HEADS)[:, None]
    p = tl.arange(0, HALF)[None, :]
    m = (h < heads) & (p < half)
    row = tl.load(pos + t) * cr
    cos = tl.load(cache + row + p, mask=p < half, other=0.0).to(tl.float32)
    sin = tl.load(cache + row + half + p, mask=p < half, other=0.0).to(tl.float32)
    left = x + t * xt + h * xh + p
    a = tl.load(left, mask=m, other=0.0).to(tl.float32)
    b = tl.load(left + half, mask=m, other=0.0).to(tl.float32)
    tl.store(left, (a * cos - b * sin).to(x.dtype.element_ty), mask=m)
    tl.store(left + half, (b * cos + a * sin).to(x.dtype.element_ty), mask=m)


def rotary_embedding(positions, query, key, head_size, cos_sin_cache, is_neox):
    given = [x for x in (query, key) if x is not None]
    if any(x.stride(-1) != 1 for x in (positions, cos_sin_cache, *given)):
        dense = [x.contiguous() for x in given]
        rotary_embedding(
            positions.contiguous(), dense[0], dense[1] if len(dense) > 1 else None, head_size,
            cos_sin_cache.contiguous(), is_neox,
        )  # fmt: skip
        for x, turned in zip(given, dense):
            x.copy_(turned)
        return
    kernel = _halves if is_neox else _interleaved
    half = cos_sin_cache.size(1) // 2
    for x in filter(lambda x: x is not None and x.numel() > 0, (query, key)):
        x = x.view(x.shape[0], -1, head_size) if x.dim() == 2 and x.is_contiguous() else (
            x if x.dim() == 3 else x.unflatten(-1, (-1, head_size)))
        assert x.stride(-1) == 1
        tokens, heads, _ = x.shape
        kernel[(tokens,)](
            x, positions, cos_sin_cache, heads, half, x.stride(0), x.stride(1), cos_sin_cache.stride(0),
            HEADS=triton.next_power_of_2(heads), HALF=triton.next_power_of_2(half),
        )
