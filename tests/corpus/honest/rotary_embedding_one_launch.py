# kgtui: op=vllm::rotary_embedding expect=pass
"""Query and key turned in place by one launch: a program takes a block of tokens and goes over the heads of both."""

import triton
import triton.language as tl


@triton.jit
def turn(x_ptr, cos, sin, inside, token, pair, x_token, x_head, HEADS: tl.constexpr, HALF: tl.constexpr,
         NEOX: tl.constexpr):  # fmt: skip
    for head in range(HEADS):
        row = x_ptr + token * x_token + head * x_head
        first = row + (pair if NEOX else 2 * pair)
        second = first + (HALF if NEOX else 1)
        a = tl.load(first, mask=inside, other=0.0).to(tl.float32)
        b = tl.load(second, mask=inside, other=0.0).to(tl.float32)
        tl.store(first, (a * cos - b * sin).to(x_ptr.dtype.element_ty), mask=inside)
        tl.store(second, (a * sin + b * cos).to(x_ptr.dtype.element_ty), mask=inside)


@triton.jit
def rotary_kernel(
    position_ptr, query_ptr, key_ptr, table_ptr, tokens, query_token, query_head, key_token, key_head,
    HEADS: tl.constexpr, KEY_HEADS: tl.constexpr, HALF: tl.constexpr, NEOX: tl.constexpr,
    TOKENS: tl.constexpr, PAIRS: tl.constexpr,
):
    token = (tl.program_id(0).to(tl.int64) * TOKENS + tl.arange(0, TOKENS))[:, None]
    pair = tl.arange(0, PAIRS)[None, :]
    inside = (token < tokens) & (pair < HALF)
    position = tl.load(position_ptr + token, mask=token < tokens, other=0)
    cos = tl.load(table_ptr + position * 2 * HALF + pair, mask=inside, other=0.0).to(tl.float32)
    sin = tl.load(table_ptr + position * 2 * HALF + HALF + pair, mask=inside, other=0.0).to(tl.float32)
    turn(query_ptr, cos, sin, inside, token, pair, query_token, query_head, HEADS, HALF, NEOX)
    if KEY_HEADS > 0:
        turn(key_ptr, cos, sin, inside, token, pair, key_token, key_head, KEY_HEADS, HALF, NEOX)


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
    tokens = len(positions)
    if tokens == 0:
        return
    query = query.view(tokens, -1, head_size)
    key = query[:, :0] if key is None else key.view(tokens, -1, head_size)
    half = cos_sin_cache.shape[1] // 2
    rotary_kernel[(triton.cdiv(tokens, 16),)](
        positions, query, key, cos_sin_cache.contiguous(), tokens,
        query.stride(0), query.stride(1), key.stride(0), key.stride(1),
        HEADS=query.shape[1], KEY_HEADS=key.shape[1], HALF=half, NEOX=is_neox,
        TOKENS=16, PAIRS=triton.next_power_of_2(half), num_warps=4,
    )
