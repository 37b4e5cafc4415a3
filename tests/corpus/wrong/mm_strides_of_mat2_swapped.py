# kgtui: op=aten::mm expect=wrong_value|out_of_bounds diagnosis=transposed_index case="33x65x40 f32"
"""The two strides of the second matrix are passed in the wrong order."""

import torch
import triton
import triton.language as tl


@triton.jit
def mm_kernel(a_ptr, b_ptr, c_ptr, M, N, K, a_row, a_col, b_row, b_col, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr):
    m = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))[:, None]
    n = (tl.program_id(1) * BLOCK + tl.arange(0, BLOCK))[None, :]
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + m * a_row + k[None, :] * a_col, mask=(m < M) & (k[None, :] < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * b_row + n * b_col, mask=(k[:, None] < K) & (n < N), other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
    tl.store(c_ptr + m * N + n, total.to(c_ptr.dtype.element_ty), mask=(m < M) & (n < N))


def mm(self, mat2):
    (M, K), N = self.shape, mat2.shape[1]
    c = torch.empty((M, N), dtype=self.dtype, device=self.device)
    if c.numel():
        grid = (triton.cdiv(M, 64), triton.cdiv(N, 64))
        mm_kernel[grid](
            self, mat2, c, M, N, K, self.stride(0), self.stride(1), mat2.stride(1), mat2.stride(0), BLOCK=64, BLOCK_K=32
        )
    return c
