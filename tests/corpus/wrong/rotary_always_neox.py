# kgtui: op=vllm::rotary_embedding expect=wrong_value diagnosis=ignored_argument case="5x2x64 f32 interleaved"
"""is_neox is ignored: element i is always paired with i + half, never 2i with 2i + 1."""

import triton
import triton.language as tl


@triton.jit
def rotary_kernel(
    positions_ptr, x_ptr, cache_ptr, heads, half, x_token, x_head, cache_row, HEADS: tl.constexpr, PAIRS: tl.constexpr
):
    token = tl.program_id(0).to(tl.int64)
    head = tl.arange(0, HEADS)[:, None]
    pair = tl.arange(0, PAIRS)[None, :]
    inside = (head < heads) & (pair < half)
    position = tl.load(positions_ptr + token)
    cos = tl.load(cache_ptr + position * cache_row + pair, mask=pair < half, other=0.0).to(tl.float32)
    sin = tl.load(cache_ptr + position * cache_row + half + pair, mask=pair < half, other=0.0).to(tl.float32)
    first = x_ptr + token * x_token + head * x_head + pair
    a = tl.load(first, mask=inside, other=0.0).to(tl.float32)
    b = tl.load(first + half, mask=inside, other=0.0).to(tl.float32)
    tl.store(first, (a * cos - b * sin).to(x_ptr.dtype.element_ty), mask=inside)
    tl.store(first + half, (b * cos + a * sin).to(x_ptr.dtype.element_ty), mask=inside)


def rotary_embedding(positions, query, key, head_size, cos_sin_cache, is_neox):
    half = cos_sin_cache.shape[1] // 2
    for x in (query, key):
        if x is not None and x.numel():
            tokens, heads, _ = x.shape
            rotary_kernel[(tokens,)](
                positions, x, cos_sin_cache, heads, half, x.stride(0), x.stride(1), cos_sin_cache.stride(0),
                HEADS=triton.next_power_of_2(heads), PAIRS=triton.next_power_of_2(half),
            )
