# kgtui: op=vllm::gptq_shuffle expect=pass
"""Rows of packed weights gathered nibble by nibble into a new matrix of words, which then replaces the old one."""

import torch
import triton
import triton.language as tl


@triton.jit
def shuffle_kernel(
    words_ptr, perm_ptr, out_ptr, columns, words0, words1, perm_stride, BITS: tl.constexpr, PERMUTED: tl.constexpr,
    COLS: tl.constexpr,
):
    word = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1).to(tl.int64) * COLS + tl.arange(0, COLS)
    count: tl.constexpr = 32 // BITS
    packed = tl.zeros([COLS], dtype=tl.int32)
    for place in tl.static_range(count):
        # 4-bit words hold even rows before odd ones.
        own = ((place % 4) * 2 + place // 4) if BITS == 4 else place
        row = word * count + own
        if PERMUTED:
            row = tl.load(perm_ptr + row * perm_stride).to(tl.int64)
        source = tl.load(words_ptr + row // count * words0 + col * words1, mask=col < columns, other=0)
        value = (source >> ((row % count) * BITS).to(tl.int32)) & ((1 << BITS) - 1)
        packed |= value << (place * BITS)
    tl.store(out_ptr + word * columns + col, packed, mask=col < columns)


def gptq_shuffle(q_weight, q_perm, bit):
    words, columns = q_weight.shape
    out = torch.empty((words, columns), dtype=torch.int32, device=q_weight.device)
    width = min(triton.next_power_of_2(columns), 256)
    permuted = q_perm.shape[0] > 0
    shuffle_kernel[(words, triton.cdiv(columns, width))](
        q_weight, q_perm if permuted else q_weight, out, columns, *q_weight.stride(), q_perm.stride(0), BITS=bit,
        PERMUTED=permuted, COLS=width,
    )
    q_weight.copy_(out)
