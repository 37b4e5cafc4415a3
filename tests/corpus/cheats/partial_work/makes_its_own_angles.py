# kgtui: op=vllm::rotary_embedding expect=wrong_value ids=B17,B5
"""Computes the angles itself from the usual base and never reads the table that it is given."""

import triton
import triton.language as tl


@triton.jit
def rotary_kernel(
    positions_ptr, x_ptr, heads, half, x_token, x_head, NEOX: tl.constexpr, PAIRS: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    pair = tl.arange(0, PAIRS)
    position = tl.load(positions_ptr + row // heads).to(tl.float64)
    angle = position * tl.exp(pair.to(tl.float64) * -9.210340371976184 / half)
    cos, sin = tl.cos(angle).to(tl.float32), tl.sin(angle).to(tl.float32)
    kind = x_ptr.dtype.element_ty
    cos, sin = cos.to(kind).to(tl.float32), sin.to(kind).to(tl.float32)
    first = pair if NEOX else 2 * pair
    second = pair + half if NEOX else 2 * pair + 1
    x_row = x_ptr + row // heads * x_token + row % heads * x_head
    a = tl.load(x_row + first, mask=pair < half, other=0.0).to(tl.float32)
    b = tl.load(x_row + second, mask=pair < half, other=0.0).to(tl.float32)
    tl.store(x_row + first, (a * cos - b * sin).to(kind), mask=pair < half)
    tl.store(x_row + second, (b * cos + a * sin).to(kind), mask=pair < half)


def rotary_embedding(positions, query, key, head_size, cos_sin_cache, is_neox):
    half = cos_sin_cache.shape[1] // 2
    for x in (query, key):
        if x is not None and x.numel():
            tokens, heads, _ = x.shape
            rotary_kernel[(tokens * heads,)](
                positions, x, heads, half, x.stride(0), x.stride(1), NEOX=is_neox,
                PAIRS=triton.next_power_of_2(half),
            )
