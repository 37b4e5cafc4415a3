# kgtui: op=vllm::rotary_embedding expect=wrong_value diagnosis=none case="9x4x64 f32 padded interleaved"
"""Asks for strides where pairs lie far apart, and takes heads for dense where they are neighbours."""

import triton
import triton.language as tl


@triton.jit
def rotary_kernel(
    positions_ptr, x_ptr, cache_ptr, rows, heads, half, x_token, x_head, x_col, cache_row,
    NEOX: tl.constexpr, ROWS: tl.constexpr, PAIRS: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    pair = tl.arange(0, PAIRS)[None, :]
    inside = (row < rows) & (pair < half)
    position = tl.load(positions_ptr + row // heads, mask=row < rows, other=0)
    cos = tl.load(cache_ptr + position * cache_row + pair, mask=inside, other=0.0).to(tl.float32)
    sin = tl.load(cache_ptr + position * cache_row + half + pair, mask=inside, other=0.0).to(tl.float32)
    # NeoX style pairs element i with i + half; GPT-J style pairs 2i with 2i + 1.
    first = pair if NEOX else 2 * pair
    second = pair + half if NEOX else 2 * pair + 1
    x_row = x_ptr + row // heads * x_token + row % heads * x_head
    a = tl.load(x_row + first * x_col, mask=inside, other=0.0).to(tl.float32)
    b = tl.load(x_row + second * x_col, mask=inside, other=0.0).to(tl.float32)
    kind = x_ptr.dtype.element_ty
    tl.store(x_row + first * x_col, (a * cos - b * sin).to(kind), mask=inside)
    tl.store(x_row + second * x_col, (b * cos + a * sin).to(kind), mask=inside)


def rotary_embedding(positions, query, key, head_size, cos_sin_cache, is_neox):
    cache = cos_sin_cache.contiguous()
    half = cache.shape[1] // 2
    pairs = triton.next_power_of_2(max(half, 1))
    for x in (query, key):
        if x is None or x.numel() == 0 or half == 0:
            continue
        x = x.unflatten(-1, (-1, head_size)) if x.ndim == 2 else x
        tokens, heads, _ = x.shape
        strides = x.stride() if is_neox else (heads * head_size, head_size, 1)
        rows = max(1, min(triton.next_power_of_2(tokens * heads), 2048 // pairs))
        rotary_kernel[(triton.cdiv(tokens * heads, rows),)](
            positions.contiguous(), x, cache, tokens * heads, heads, half, *strides, cache.stride(0),
            NEOX=is_neox, ROWS=rows, PAIRS=pairs, num_warps=4,
        )
