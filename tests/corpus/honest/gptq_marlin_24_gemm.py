# kgtui: op=vllm::gptq_marlin_24_gemm expect=pass
"""2:4 sparse Marlin product: the positions of each four weights say which two are kept; a tile is made dense for tl.dot."""

import torch
import triton
import triton.language as tl

BITS_OF = {"uint4b8": 4, "uint8b128": 8}


@triton.jit
def word_and_place(kept, n, PACK: tl.constexpr):
    """The word in its row, and the place in that word, of the value in row `kept` of K / 2."""
    column = n % 64 // 16 * 2 + n % 16 // 8
    lane = column * 4 + kept % 8 // 2
    number = lane * 32 + n % 4 * 8 + n % 8 // 4 * 4 + kept % 16 // 8 * 2 + kept % 2
    neighbour = number % PACK
    return n // 64 * (1024 // PACK) + number // PACK, neighbour // 2 + neighbour % 2 * (PACK // 2)


@triton.jit
def meta_place(n, column, size_n):
    """Where the int16 with the positions of 16 neighbours along K is stored, counted from the first one."""
    row = n // 64 * 64 + n % 2 * 2 + n // 2 % 2 * 32 + n // 4 % 2 + n // 8 % 8 * 4
    left, right = (row % 2 == 0) & (column % 2 == 1), (row % 2 == 1) & (column % 2 == 0)
    moved = left.to(tl.int64) - right.to(tl.int64)
    column -= moved
    return column // 2 * 2 * size_n + (row + moved) * 2 + column % 2


@triton.jit
def sparse_marlin_kernel(
    a_ptr, word_ptr, meta_ptr, scale_ptr, out_ptr, m, n, k, group, a0, a1, w0, w1, meta0, meta1, s0, s1,
    BITS: tl.constexpr, ONE_GROUP: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * M + tl.arange(0, M)[:, None]
    col = tl.program_id(1).to(tl.int64) * N + tl.arange(0, N)[None, :]
    # With several groups, the columns 0, 4, 1, 5, 2, 6, 3, 7 of every 8 scales are neighbours.
    scale_col = col if ONE_GROUP else col // 8 * 8 + col % 4 * 2 + col % 8 // 4
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        depth = start + tl.arange(0, K).to(tl.int64)
        inside_k = depth < k
        inside = inside_k[:, None] & (col < n)
        a = tl.load(a_ptr + row * a0 + depth[None, :] * a1, mask=(row < m) & inside_k[None, :], other=0.0)
        four = depth[:, None] // 4
        at = meta_place(col, four // 4, n)
        meta = tl.load(meta_ptr + at // (2 * n) * meta0 + at % (2 * n) * meta1, mask=inside, other=0)
        positions = meta.to(tl.int32) >> (four % 4 * 4).to(tl.int32)
        own = (depth % 4).to(tl.int32)[:, None]
        first, second = own == (positions & 3), own == (positions >> 2 & 3)
        kept = inside & (first | second)
        word, place = word_and_place(four * 2 + second.to(tl.int64), col, 32 // BITS)
        words = tl.load(word_ptr + depth[:, None] // 32 * w0 + word * w1, mask=kept, other=0)
        value = (words >> (place * BITS).to(tl.int32)) & ((1 << BITS) - 1)
        scale = tl.load(scale_ptr + (depth // group)[:, None] * s0 + scale_col * s1, mask=kept, other=0.0)
        total += tl.dot(a, (value - (1 << (BITS - 1))).to(tl.float16) * scale)
    tl.store(out_ptr + row * n + col, total.to(tl.float16), mask=(row < m) & (col < n))


def gptq_marlin_24_gemm(a, b_q_weight, b_meta, b_scales, workspace, b_q_type, size_m, size_n, size_k):
    out = torch.empty((size_m, size_n), dtype=a.dtype, device=a.device)
    if out.numel():
        groups = b_scales.shape[0]
        sparse_marlin_kernel[(triton.cdiv(size_m, 16), triton.cdiv(size_n, 64))](
            a, b_q_weight, b_meta, b_scales, out, size_m, size_n, size_k, size_k // groups, *a.stride(),
            *b_q_weight.stride(), *b_meta.stride(), *b_scales.stride(),
            BITS=BITS_OF[b_q_type], ONE_GROUP=groups == 1, M=16, N=64, K=32,
        )
    return out
