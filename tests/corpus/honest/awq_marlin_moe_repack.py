# kgtui: op=vllm::awq_marlin_moe_repack expect=pass
"""AWQ words to Marlin tiles: every word of the answer gathers its values from places of interleaved columns."""

import torch
import triton
import triton.language as tl


@triton.jit
def repack_kernel(
    q_ptr, out_ptr, count, words, q0, q1, q2, BITS: tl.constexpr, PACK: tl.constexpr, BLOCK: tl.constexpr,
):
    expert = tl.program_id(1).to(tl.int64)
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    tile, word = flat // words, flat % words
    per_four: tl.constexpr = 1024 // PACK  # words of four tiles side by side
    result = tl.zeros((BLOCK,), tl.int32)
    for place in tl.static_range(PACK):
        # Even values of a word come first.
        value_number = word % per_four * PACK + (place * 2) % PACK + place * 2 // PACK
        lane, own = value_number // 32, value_number % 32
        part = own % 8
        row = 2 * (lane % 4) + part % 2 + part % 4 // 2 * 8
        k = tile * 16 + row
        n = word // per_four * 64 + own // 8 * 16 + lane // 4 + part // 4 * 8
        column = n % PACK
        shift = (column // 2 + column % 2 * (PACK // 2)) * BITS  # even columns of a word come first
        at = q_ptr + expert * q0 + k * q1 + n // PACK * q2
        value = (tl.load(at, mask=inside, other=0) >> shift.to(tl.int32)) & ((1 << BITS) - 1)
        result |= value << (place * BITS)
    tl.store(out_ptr + expert * count + flat, result, mask=inside)


def awq_marlin_moe_repack(b_q_weight, perm, size_k, size_n, num_bits, is_a_8bit=False):
    experts, words = b_q_weight.shape[0], size_n * num_bits // 2
    out = torch.empty((experts, size_k // 16, words), dtype=torch.int32, device=b_q_weight.device)
    if out.numel():
        count = out[0].numel()
        repack_kernel[(triton.cdiv(count, 256), experts)](
            b_q_weight, out, count, words, *b_q_weight.stride(),
            BITS=num_bits, PACK=32 // num_bits, BLOCK=256,
        )
    return out
