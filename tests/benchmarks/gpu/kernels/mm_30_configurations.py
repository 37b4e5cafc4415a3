# ruff: noqa: N803, N806 -- sizes and blocks have the names that kernels of libraries give them
# kgtui: op=aten::mm expect=pass
"""A matrix product with an autotuner of 30 configurations and a key of all three sizes, as libraries have it."""

import torch
import triton
import triton.language as tl


def configurations():
    """30 of them: tiles, depths and stages."""
    tiles = (
        (128, 256),
        (256, 128),
        (128, 128),
        (64, 256),
        (256, 64),
        (128, 64),
        (64, 128),
        (64, 64),
        (32, 64),
        (64, 32),
    )
    return [
        triton.Config(
            {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP": 8},
            num_stages=stages,
            num_warps=8 if m * n > 8192 else 4,
        )
        for m, n in tiles
        for k, stages in ((32, 3), (32, 4), (64, 3))
    ]


@triton.autotune(configs=configurations(), key=["M", "N", "K"])
@triton.jit
def mm_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, a_row, a_col, b_row, b_col, c_row, c_col,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(0)
    rows, columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    in_group = GROUP * columns
    first = program // in_group * GROUP
    height = min(rows - first, GROUP)
    m = (first + program % in_group % height).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = (program % in_group // height).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(
            a_ptr + m[:, None] * a_row + k[None, :] * a_col, mask=(m[:, None] < M) & (k[None, :] < K), other=0.0
        )
        b = tl.load(
            b_ptr + k[:, None] * b_row + n[None, :] * b_col, mask=(k[:, None] < K) & (n[None, :] < N), other=0.0
        )
        total = tl.dot(a, b, total, input_precision="ieee")
    inside = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c_ptr + m[:, None] * c_row + n[None, :] * c_col, total.to(c_ptr.dtype.element_ty), mask=inside)


def mm(self, mat2):
    (M, K), N = self.shape, mat2.shape[1]
    c = torch.empty((M, N), dtype=self.dtype, device=self.device)
    if c.numel():
        grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"]),)  # noqa: E731
        mm_kernel[grid](self, mat2, c, M, N, K, *self.stride(), *mat2.stride(), *c.stride())
    return c
