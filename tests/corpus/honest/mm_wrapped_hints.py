# kgtui: op=aten::mm expect=pass
"""Matrix product whose rows and columns wrap around, with the hints of the usual tutorial and true assumptions."""

import torch
import triton
import triton.language as tl


@triton.jit
def mm_kernel(a_ptr, b_ptr, c_ptr, M, N, K, TILE: tl.constexpr, DEPTH: tl.constexpr):
    tl.assume(M > 0)
    tl.assume(N > 0)
    row, column = tl.program_id(0), tl.program_id(1)
    tl.assume(row * TILE < M)
    m = (row * TILE + tl.arange(0, TILE)) % M
    n = (column * TILE + tl.arange(0, TILE)) % N
    m = tl.max_contiguous(tl.multiple_of(m, TILE), TILE).to(tl.int64)
    n = tl.max_contiguous(tl.multiple_of(n, TILE), TILE).to(tl.int64)
    total = tl.zeros((TILE, TILE), dtype=tl.float32)
    for start in range(0, K, DEPTH):
        k = tl.multiple_of(start, DEPTH) + tl.arange(0, DEPTH)
        a = tl.load(a_ptr + m[:, None] * K + k[None, :], mask=k[None, :] < K, other=0.0)
        b = tl.load(b_ptr + k[:, None].to(tl.int64) * N + n[None, :], mask=k[:, None] < K, other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
    m = (row * TILE + tl.arange(0, TILE).to(tl.int64))[:, None]
    n = (column * TILE + tl.arange(0, TILE).to(tl.int64))[None, :]
    tl.store(c_ptr + m * N + n, total.to(c_ptr.dtype.element_ty), mask=(m < M) & (n < N))


def mm(self, mat2):
    a, b = self.contiguous(), mat2.contiguous()
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=self.dtype, device=self.device)
    if c.numel():
        mm_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](a, b, c, M, N, K, TILE=32, DEPTH=32)
    return c
