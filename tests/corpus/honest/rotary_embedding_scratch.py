# kgtui: op=vllm::rotary_embedding expect=pass
"""Rotary embedding of query and key joined by torch.cat; what was turned is copied back into the caller's tensors."""

import torch
import triton
import triton.language as tl


@triton.jit
def rotate(x_ptr, table_ptr, position_ptr, heads, HEAD: tl.constexpr, HALF: tl.constexpr, NEOX: tl.constexpr,
           HEADS: tl.constexpr, PAIRS: tl.constexpr):  # fmt: skip
    token = tl.program_id(0).to(tl.int64)
    head = (tl.program_id(1) * HEADS + tl.arange(0, HEADS))[:, None]
    pair = tl.arange(0, PAIRS)[None, :]
    inside = (head < heads) & (pair < HALF)
    at = table_ptr + tl.load(position_ptr + token) * 2 * HALF + pair
    cos = tl.load(at, mask=pair < HALF, other=0.0).to(tl.float32)
    sin = tl.load(at + HALF, mask=pair < HALF, other=0.0).to(tl.float32)
    row = x_ptr + (token * heads + head) * HEAD
    if NEOX:
        first = row + pair
        second = first + HALF
    else:
        first = row + 2 * pair
        second = first + 1
    a = tl.load(first, mask=inside, other=0.0).to(tl.float32)
    b = tl.load(second, mask=inside, other=0.0).to(tl.float32)
    tl.store(first, (a * cos - b * sin).to(x_ptr.dtype.element_ty), mask=inside)
    tl.store(second, (b * cos + a * sin).to(x_ptr.dtype.element_ty), mask=inside)


def rotary_embedding(positions, query, key, head_size, cos_sin_cache, is_neox):
    tokens = len(positions)
    if tokens == 0:
        return
    given = [x.view(tokens, -1, head_size) for x in (query, key) if x is not None]
    scratch = torch.cat(given, dim=1)
    table = cos_sin_cache.contiguous()
    half = table.shape[1] // 2
    heads = scratch.shape[1]
    rotate[(tokens, triton.cdiv(heads, 16))](
        scratch, table, positions.contiguous(), heads, HEAD=head_size, HALF=half, NEOX=is_neox,
        HEADS=16, PAIRS=triton.next_power_of_2(half), num_warps=4,
    )
    for x, turned in zip(given, scratch.split([x.shape[1] for x in given], dim=1)):
        x.copy_(turned)
