# kgtui: op=vllm::ggml_mul_mat_a8 expect=pass
"""Product with GGML blocks: a tile of weights is decoded by addresses alone and multiplied in float32."""

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
def product_kernel(
    w_ptr, x_ptr, out_ptr, batch, rows, k, w0, w1, x0, x1, BYTES: tl.constexpr, BITS: tl.constexpr, MIDDLE: tl.constexpr, OFFSET: tl.constexpr,
    B: tl.constexpr, R: tl.constexpr, K: tl.constexpr,
):
    sample = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)[:, None]
    row = tl.program_id(1).to(tl.int64) * R + tl.arange(0, R)[None, :]
    total = tl.zeros((B, R), tl.float32)
    for start in range(0, k, K):
        depth = start + tl.arange(0, K).to(tl.int64)
        x = tl.load(x_ptr + sample * x0 + depth[None, :] * x1, mask=(sample < batch) & (depth < k)[None, :], other=0.0)
        inside = (depth < k)[:, None] & (row < rows)
        w = weight_at(w_ptr + row * w0, depth[:, None], w1, inside, BYTES, BITS, MIDDLE, OFFSET)
        total = tl.dot(x.to(tl.float32), w, total, input_precision="ieee")
    at = out_ptr + sample * rows + row
    tl.store(at, total.to(out_ptr.dtype.element_ty), mask=(sample < batch) & (row < rows))


# Bytes of a block, bits of a value, the code of 0, whether there is an offset.
FORMATS = {2: (18, 4, 8, False), 3: (20, 4, 0, True), 6: (22, 5, 16, False), 7: (24, 5, 0, True), 8: (34, 8, 0, False)}


def ggml_mul_mat_a8(W, X, quant_type, row):
    batch, k = X.shape
    out = torch.empty((batch, row), dtype=X.dtype, device=X.device)
    if out.numel():
        size, bits, middle, offset = FORMATS[quant_type]
        product_kernel[(triton.cdiv(batch, 16), triton.cdiv(row, 32))](
            W, X, out, batch, row, k, *W.stride(), *X.stride(),
            BYTES=size, BITS=bits, MIDDLE=middle, OFFSET=offset, B=16, R=32, K=32,
        )
    return out
