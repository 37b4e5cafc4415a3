# kgtui: op=vllm::marlin_int4_fp8_preprocess expect=pass
"""Eight nibbles of a word rewritten one after another, a block of words of a row per program."""

import torch
import triton
import triton.language as tl


@triton.jit
def preprocess_kernel(
    words_ptr, zeros_ptr, out_ptr, columns, per_group, words0, words1, zeros0, zeros1, out0, out1,
    ZEROS: tl.constexpr, COLS: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1).to(tl.int64) * COLS + tl.arange(0, COLS)
    words = tl.load(words_ptr + row * words0 + col * words1, mask=col < columns, other=0)
    zeros = tl.full([COLS], -2004318072, dtype=tl.int32)  # 8 in every nibble
    if ZEROS:
        zeros = tl.load(zeros_ptr + row // per_group * zeros0 + col * zeros1, mask=col < columns, other=0)
    packed = tl.zeros([COLS], dtype=tl.int32)
    for place in tl.static_range(8):
        value = (words >> (place * 4)) & 15
        zero = (zeros >> (place * 4)) & 15
        packed |= tl.where(value >= zero, value - zero, 15 - value) << (place * 4)
    tl.store(out_ptr + row * out0 + col * out1, packed, mask=col < columns)


def marlin_int4_fp8_preprocess(qweight, qzeros_or_none=None, inplace=False):
    rows, columns = qweight.shape
    out = qweight if inplace else torch.empty((rows, columns), dtype=torch.int32, device=qweight.device)
    if out.numel():
        zeros = qweight if qzeros_or_none is None else qzeros_or_none
        width = min(triton.next_power_of_2(columns), 256)
        preprocess_kernel[(rows, triton.cdiv(columns, width))](
            qweight, zeros, out, columns, rows // zeros.shape[0], *qweight.stride(), *zeros.stride(), *out.stride(),
            ZEROS=qzeros_or_none is not None, COLS=width,
        )
    return out
