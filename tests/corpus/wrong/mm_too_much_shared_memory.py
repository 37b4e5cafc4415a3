# kgtui: op=aten::mm expect=compile_error|runtime_error
"""Tiles of 64 x 64 x 128 in eight stages: right on the CPU, far beyond the shared memory of any GPU."""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["M", "N", "K"])
def mm_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr):
    m = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))[:, None]
    n = (tl.program_id(1) * BLOCK + tl.arange(0, BLOCK))[None, :]
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + m * K + k[None, :], mask=(m < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + n, mask=(k[:, None] < K) & (n < N), other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
    tl.store(c_ptr + m * N + n, total.to(c_ptr.dtype.element_ty), mask=(m < M) & (n < N))


def mm(self, mat2):
    (M, K), N = self.shape, mat2.shape[1]
    c = torch.empty((M, N), dtype=self.dtype, device=self.device)
    if c.numel():
        grid = (triton.cdiv(M, 64), triton.cdiv(N, 64))
        mm_kernel[grid](
            self.contiguous(), mat2.contiguous(), c, M, N, K, BLOCK=64, BLOCK_K=128, num_warps=8, num_stages=8
        )
    return c
