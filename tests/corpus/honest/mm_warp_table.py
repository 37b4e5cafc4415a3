# kgtui: op=aten::mm expect=pass
"""Matrix product whose tile, depth, warps and stages are looked up by how many rows and columns there are."""

import torch
import triton
import triton.language as tl

SMALL = {"ROWS": 16, "COLS": 64, "DEPTH": 32, "num_warps": 2, "num_stages": 2}
MEDIUM = {"ROWS": 32, "COLS": 64, "DEPTH": 32, "num_warps": 4, "num_stages": 3}
LARGE = {"ROWS": 128, "COLS": 128, "DEPTH": 32, "num_warps": 8, "num_stages": 4}


@triton.jit
def tile_dot(a_ptr, b_ptr, m, n, M, N, K, ROWS: tl.constexpr, COLS: tl.constexpr, DEPTH: tl.constexpr):
    total = tl.zeros((ROWS, COLS), dtype=tl.float32)
    for start in range(0, K, DEPTH):
        k = start + tl.arange(0, DEPTH)
        a = tl.load(a_ptr + m * K + k[None, :], mask=(m < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + n, mask=(k[:, None] < K) & (n < N), other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
    return total


@triton.jit
def mm_kernel(a_ptr, b_ptr, c_ptr, M, N, K, ROWS: tl.constexpr, COLS: tl.constexpr, DEPTH: tl.constexpr):
    m = (tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS))[:, None]
    n = (tl.program_id(1).to(tl.int64) * COLS + tl.arange(0, COLS))[None, :]
    total = tile_dot(a_ptr, b_ptr, m, n, M, N, K, ROWS, COLS, DEPTH)
    tl.store(c_ptr + m * N + n, total.to(c_ptr.dtype.element_ty), mask=(m < M) & (n < N))


def setting(rows, cols):
    if rows * cols >= 1 << 20:
        return LARGE
    return SMALL if rows <= 16 else MEDIUM


def mm(self, mat2):
    (M, K), N = self.shape, mat2.shape[1]
    c = torch.empty((M, N), dtype=torch.float32, device=self.device)
    if c.numel():
        chosen = setting(M, N)
        grid = (triton.cdiv(M, chosen["ROWS"]), triton.cdiv(N, chosen["COLS"]))
        mm_kernel[grid](self.float().contiguous(), mat2.float().contiguous(), c, M, N, K, **chosen)
    return c.to(self.dtype)
