# kgtui: op=vllm::rotary_embedding expect=pass
"""Rotary embedding of rows of cosines and sines that torch looks up by position before the launch."""

import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, cs_ptr, st, sh, HALF: tl.constexpr, B: tl.constexpr, NEOX: tl.constexpr):
    t = tl.program_id(0).to(tl.int64)
    h = tl.program_id(1)
    i = tl.arange(0, B)
    m = i < HALF
    c = tl.load(cs_ptr + t * 2 * HALF + i, mask=m).to(tl.float32)
    s = tl.load(cs_ptr + t * 2 * HALF + HALF + i, mask=m).to(tl.float32)
    p = x_ptr + t * st + h * sh
    a_at = p + (i if NEOX else 2 * i)
    b_at = p + (i + HALF if NEOX else 2 * i + 1)
    a = tl.load(a_at, mask=m).to(tl.float32)
    b = tl.load(b_at, mask=m).to(tl.float32)
    tl.store(a_at, a * c - b * s, mask=m)
    tl.store(b_at, b * c + a * s, mask=m)


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
    cs = cos_sin_cache[positions]
    half = cs.shape[1] // 2
    for x in (query, key):
        if x is None or x.numel() == 0:
            continue
        v = x.unflatten(-1, (-1, head_size)) if x.dim() == 2 else x
        kernel[v.shape[:2]](v, cs, v.stride(0), v.stride(1), HALF=half, B=triton.next_power_of_2(half), NEOX=is_neox)
