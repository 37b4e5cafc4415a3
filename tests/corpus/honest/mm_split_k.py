# kgtui: op=aten::mm expect=pass
"""Matrix product split over k: each program adds its partial tile to a zeroed float32 workspace with tl.atomic_add."""

import torch
import triton
import triton.language as tl


@triton.jit
def split_mm_kernel(
    a_ptr, b_ptr, sum_ptr, M, N, K, a_row, a_col, b_row, b_col, depth,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, PRECISION: tl.constexpr,
):
    m = (tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)[:, None]
    n = (tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    first = tl.program_id(2) * depth
    end = tl.minimum(first + depth, K)
    for start in range(first, end, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K).to(tl.int64)
        a = tl.load(a_ptr + m * a_row + k[None, :] * a_col, mask=(m < M) & (k[None, :] < end), other=0.0)
        b = tl.load(b_ptr + k[:, None] * b_row + n * b_col, mask=(k[:, None] < end) & (n < N), other=0.0)
        # A float16 or bfloat16 is also a TF32 number, so that this widening costs no accuracy on tensor cores.
        total = tl.dot(a.to(tl.float32), b.to(tl.float32), total, input_precision=PRECISION)
    tl.atomic_add(sum_ptr + m * N + n, total, mask=(m < M) & (n < N), sem="relaxed")


def mm(self, mat2):
    (M, K), N = self.shape, mat2.shape[1]
    total = torch.zeros((M, N), dtype=torch.float32, device=self.device)
    if total.numel() and K:
        precision = "ieee" if self.dtype == torch.float32 else "tf32"
        splits = min(triton.cdiv(K, 128), 8)
        depth = triton.cdiv(triton.cdiv(K, splits), 32) * 32
        grid = (triton.cdiv(M, 64), triton.cdiv(N, 64), triton.cdiv(K, depth))
        split_mm_kernel[grid](
            self, mat2, total, M, N, K, *self.stride(), *mat2.stride(), depth,
            BLOCK_M=64, BLOCK_N=64, BLOCK_K=32, PRECISION=precision, num_warps=4,
        )
    return total.to(self.dtype)
