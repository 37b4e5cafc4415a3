# kgtui: op=vllm::rotary_embedding expect=wrong_value diagnosis=missing_scale case="7x2x64 f32"
"""The signs of the sine are exchanged: pairs are turned by the same angle the other way round."""

import triton
import triton.language as tl


@triton.jit
def rotary_kernel(positions_ptr, x_ptr, cache_ptr, half, x_token, x_head, NEOX: tl.constexpr, PAIRS: tl.constexpr):
    token, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    pair = tl.arange(0, PAIRS)
    row = cache_ptr + tl.load(positions_ptr + token) * 2 * half
    cos = tl.load(row + pair, mask=pair < half).to(tl.float32)
    sin = tl.load(row + half + pair, mask=pair < half).to(tl.float32)
    first = pair if NEOX else 2 * pair
    second = pair + half if NEOX else 2 * pair + 1
    x_row = x_ptr + token * x_token + head * x_head
    a = tl.load(x_row + first, mask=pair < half).to(tl.float32)
    b = tl.load(x_row + second, mask=pair < half).to(tl.float32)
    kind = x_ptr.dtype.element_ty
    tl.store(x_row + first, (a * cos + b * sin).to(kind), mask=pair < half)
    tl.store(x_row + second, (b * cos - a * sin).to(kind), mask=pair < half)


def rotary_embedding(positions, query, key, head_size, cos_sin_cache, is_neox):
    half = cos_sin_cache.shape[1] // 2
    for x in (query, key):
        if x is None or x.numel() == 0:
            continue
        x = x.unflatten(-1, (-1, head_size)) if x.ndim == 2 else x
        rotary_kernel[x.shape[:2]](
            positions, x, cos_sin_cache, half, *x.stride()[:2], NEOX=is_neox, PAIRS=triton.next_power_of_2(half)
        )
