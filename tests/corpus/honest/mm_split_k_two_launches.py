# kgtui: op=aten::mm expect=pass
"""Matrix product split over k without atomics: float32 copies in, partial products in a workspace, then a sum."""

import torch
import triton
import triton.language as tl


@triton.jit
def partial_products(a_ptr, b_ptr, part_ptr, M, N, K, depth, TILE: tl.constexpr, STEP: tl.constexpr):
    m = (tl.program_id(0).to(tl.int64) * TILE + tl.arange(0, TILE))[:, None]
    n = (tl.program_id(1).to(tl.int64) * TILE + tl.arange(0, TILE))[None, :]
    part = tl.program_id(2).to(tl.int64)
    end = tl.minimum((part + 1) * depth, K)
    total = tl.zeros((TILE, TILE), dtype=tl.float32)
    for start in range(part * depth, end, STEP):
        k = start + tl.arange(0, STEP)
        a = tl.load(a_ptr + m * K + k[None, :], mask=(m < M) & (k[None, :] < end), other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + n, mask=(k[:, None] < end) & (n < N), other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
    tl.store(part_ptr + part * M * N + m * N + n, total, mask=(m < M) & (n < N))


@triton.jit
def sum_parts(part_ptr, c_ptr, count, parts, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for part in range(parts):
        total += tl.load(part_ptr + offset, mask=offset < count, other=0.0)
        part_ptr += count
    tl.store(c_ptr + offset, total.to(c_ptr.dtype.element_ty), mask=offset < count)


def mm(self, mat2):
    (M, K), N = self.shape, mat2.shape[1]
    c = torch.empty((M, N), dtype=self.dtype, device=self.device)
    if c.numel():
        parts = max(1, min(triton.cdiv(K, 256), 16))
        depth = triton.cdiv(triton.cdiv(K, parts), 32) * 32
        part = torch.empty((parts, M, N), dtype=torch.float32, device=c.device)
        grid = (triton.cdiv(M, 32), triton.cdiv(N, 32), parts)
        partial_products[grid](
            self.float().contiguous(), mat2.float().contiguous(), part, M, N, K, depth, TILE=32, STEP=32, num_warps=2,
        )
        sum_parts[(triton.cdiv(M * N, 2048),)](part, c, M * N, parts, BLOCK=2048, num_warps=4)
    return c
