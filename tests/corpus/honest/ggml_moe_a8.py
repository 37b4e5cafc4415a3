# kgtui: op=vllm::ggml_moe_a8 expect=pass
"""Expert products with GGML blocks: a program has one block of pairs, whose expert's weights it decodes once."""

import torch
import triton
import triton.language as tl


@triton.jit
def half_at(ptr, step, mask):
    """A float16 whose two bytes are `step` apart."""
    low = tl.load(ptr, mask=mask, other=0).to(tl.int32)
    bits = low | tl.load(ptr + step, mask=mask, other=0).to(tl.int32) << 8
    return bits.to(tl.int16).to(tl.float16, bitcast=True).to(tl.float32)


@triton.jit
def weight_at(w_ptr, k, step, mask, BYTES: tl.constexpr, BITS: tl.constexpr, MIDDLE: tl.constexpr, OFFSET: tl.constexpr):
    """The value of column k of the row at w_ptr: scale * (code - middle), and an offset where the format has one."""
    lane = k % 32
    block = w_ptr + k // 32 * BYTES * step
    head: tl.constexpr = 4 if OFFSET else 2
    if BITS == 8:
        code = tl.load(block + (head + lane) * step, mask=mask, other=0).to(tl.int8, bitcast=True).to(tl.int32)
    else:
        extra: tl.constexpr = 4 if BITS == 5 else 0
        byte = tl.load(block + (head + extra + lane % 16) * step, mask=mask, other=0).to(tl.int32)
        code = tl.where(lane < 16, byte & 15, byte >> 4)
        if BITS == 5:
            high = tl.load(block + (head + lane // 8) * step, mask=mask, other=0).to(tl.int32)
            code |= ((high >> (lane % 8).to(tl.int32)) & 1) << 4
    value = half_at(block, step, mask) * (code - MIDDLE).to(tl.float32)
    if OFFSET:
        value += half_at(block + 2 * step, step, mask)
    return value


@triton.jit
def expert_kernel(
    x_ptr, w_ptr, sorted_ptr, expert_ptr, end_ptr, out_ptr, pairs, top_k, rows, k, block, x0, x1, w0, w1, w2,
    sorted0, expert0, BYTES: tl.constexpr, BITS: tl.constexpr, MIDDLE: tl.constexpr, OFFSET: tl.constexpr,
    P: tl.constexpr, R: tl.constexpr, K: tl.constexpr,
):
    slot = tl.arange(0, P)
    entry = tl.program_id(0) * block + slot
    counts = (slot < block) & (entry < tl.load(end_ptr))
    pair = tl.load(sorted_ptr + entry * sorted0, mask=counts, other=pairs).to(tl.int64)
    counts &= pair < pairs
    expert = tl.load(expert_ptr + tl.program_id(0) * expert0).to(tl.int64)
    row = tl.program_id(1).to(tl.int64) * R + tl.arange(0, R)
    total = tl.zeros((P, R), tl.float32)
    for start in range(0, k, K):
        depth = start + tl.arange(0, K).to(tl.int64)[None, :]
        inside = (row < rows)[:, None] & (depth < k)
        w = weight_at(w_ptr + expert * w0 + row[:, None] * w1, depth, w2, inside, BYTES, BITS, MIDDLE, OFFSET)
        x_at = x_ptr + (pair // top_k)[:, None] * x0 + depth * x1
        x = tl.load(x_at, mask=counts[:, None] & (depth < k), other=0.0).to(tl.float32)
        total += tl.sum(x[:, None, :] * w[None, :, :], axis=2)
    at = out_ptr + pair[:, None] * rows + row[None, :]
    tl.store(at, total.to(out_ptr.dtype.element_ty), mask=counts[:, None] & (row < rows)[None, :])


# Bytes of a block, bits of a value, the code of 0, whether there is an offset.
FORMATS = {2: (18, 4, 8, False), 3: (20, 4, 0, True), 6: (22, 5, 16, False), 7: (24, 5, 0, True), 8: (34, 8, 0, False)}


def ggml_moe_a8(X, W, sorted_token_ids, expert_ids, num_tokens_post_padded, quant_type, row, top_k, tokens):
    out = torch.empty((tokens * top_k, row), dtype=X.dtype, device=X.device)
    blocks = expert_ids.numel()
    if out.numel() and blocks:
        block = sorted_token_ids.numel() // blocks
        size, bits, middle, offset = FORMATS[quant_type]
        expert_kernel[(blocks, triton.cdiv(row, 16))](
            X, W, sorted_token_ids, expert_ids, num_tokens_post_padded, out, tokens * top_k, top_k, row, X.shape[1],
            block, *X.stride(), *W.stride(), sorted_token_ids.stride(0), expert_ids.stride(0),
            BYTES=size, BITS=bits, MIDDLE=middle, OFFSET=offset, P=triton.next_power_of_2(block), R=16, K=32,
        )
    return out
