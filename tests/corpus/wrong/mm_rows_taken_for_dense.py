# kgtui: op=aten::mm expect=wrong_value diagnosis=wrong_stride case="40x71x48 f32 mat2 padded"
"""Takes rows of mat2 for neighbours wherever the numbers of a row are."""

import torch
import triton
import triton.language as tl


@triton.jit
def mm_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, a_row, a_col, b_row, b_col,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):
    # Tiles are walked in groups of rows, so that neighbours share their part of b in L2.
    program = tl.program_id(0)
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    group = program // (GROUP * tiles_n)
    group_rows = tl.minimum(tiles_m - group * GROUP, GROUP)
    tile_m = group * GROUP + program % (GROUP * tiles_n) % group_rows
    tile_n = program % (GROUP * tiles_n) // group_rows

    m = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)
    n = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K).to(tl.int64)
        a = tl.load(
            a_ptr + m[:, None] * a_row + k[None, :] * a_col,
            mask=(m[:, None] < M) & (k[None, :] < K), other=0.0,
        )
        b = tl.load(
            b_ptr + k[:, None] * b_row + n[None, :] * b_col,
            mask=(k[:, None] < K) & (n[None, :] < N), other=0.0,
        )
        total = tl.dot(a, b, total, input_precision="ieee")
    c = total.to(c_ptr.dtype.element_ty)
    tl.store(c_ptr + m[:, None] * N + n[None, :], c, mask=(m[:, None] < M) & (n[None, :] < N))


def mm(self, mat2):
    (M, K), N = self.shape, mat2.shape[1]
    c = torch.empty((M, N), dtype=self.dtype, device=self.device)
    if mat2.stride(1) == 1:
        mat2 = mat2.as_strided((K, N), (N, 1))
    if c.numel() == 0:
        return c
    if self.dtype == torch.float32:
        block_m, block_n, block_k, warps = 64, 64, 32, 4
    elif M * N >= 128 * 128 * 64:
        block_m, block_n, block_k, warps = 128, 128, 64, 8
    else:
        block_m, block_n, block_k, warps = 64, 64, 64, 4
    grid = (triton.cdiv(M, block_m) * triton.cdiv(N, block_n),)
    mm_kernel[grid](
        self, mat2, c, M, N, K, *self.stride(), *mat2.stride(),
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, GROUP=8, num_warps=warps, num_stages=3,
    )
    return c
