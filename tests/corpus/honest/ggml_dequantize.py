# kgtui: op=vllm::ggml_dequantize expect=pass
"""Block formats decoded value by value: each lane computes its byte, its bits and its scale by addresses alone."""

import torch
import triton
import triton.language as tl


@triton.jit
def half_at(ptr, low, high_step, mask):
    bits = tl.load(ptr + low, mask=mask, other=0).to(tl.int32) | tl.load(ptr + low + high_step, mask=mask, other=0).to(tl.int32) << 8
    return bits.to(tl.int16).to(tl.float16, bitcast=True).to(tl.float32)


@triton.jit
def dequantize_kernel(
    w_ptr, out_ptr, n, w0, w1, BYTES: tl.constexpr, BITS: tl.constexpr, MIDDLE: tl.constexpr, OFFSET: tl.constexpr,
    COLS: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1).to(tl.int64) * COLS + tl.arange(0, COLS)
    inside = col < n
    lane = col % 32
    block = row * w0 + col // 32 * BYTES * w1
    scale = half_at(w_ptr, block, w1, inside)
    head: tl.constexpr = 4 if OFFSET else 2
    if BITS == 8:
        code = tl.load(w_ptr + block + (head + lane) * w1, mask=inside, other=0).to(tl.int8, bitcast=True).to(tl.int32)
    else:
        extra: tl.constexpr = 4 if BITS == 5 else 0
        byte = tl.load(w_ptr + block + (head + extra + lane % 16) * w1, mask=inside, other=0).to(tl.int32)
        code = tl.where(lane < 16, byte & 15, byte >> 4)
        if BITS == 5:
            high = tl.load(w_ptr + block + (head + lane // 8) * w1, mask=inside, other=0).to(tl.int32)
            code |= ((high >> (lane % 8).to(tl.int32)) & 1) << 4
    y = scale * (code - MIDDLE).to(tl.float32)
    if OFFSET:
        y += half_at(w_ptr, block + 2 * w1, w1, inside)
    tl.store(out_ptr + row * n + col, y.to(out_ptr.dtype.element_ty), mask=inside)


# Bytes of a block, bits of a value, the code of 0, whether there is an offset.
FORMATS = {2: (18, 4, 8, False), 3: (20, 4, 0, True), 6: (22, 5, 16, False), 7: (24, 5, 0, True), 8: (34, 8, 0, False)}


def ggml_dequantize(W, quant_type, m, n, dtype=None):
    out = torch.empty((m, n), dtype=dtype or torch.float16, device=W.device)
    if out.numel():
        size, bits, middle, offset = FORMATS[quant_type]
        width = min(triton.next_power_of_2(n), 512)
        dequantize_kernel[(m, triton.cdiv(n, width))](
            W, out, n, *W.stride(), BYTES=size, BITS=bits, MIDDLE=middle, OFFSET=offset, COLS=width
        )
    return out
