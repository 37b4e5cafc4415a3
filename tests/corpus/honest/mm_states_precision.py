# kgtui: op=aten::mm expect=pass
"""Matrix product that says at import which precision it wants of torch, full, and asks its own tl.dot for the same."""

import torch
import triton
import triton.language as tl

torch.backends.cuda.matmul.allow_tf32 = False  # as it is by default; this file is measured beside torch's own product


@triton.jit
def mm_kernel(a_ptr, b_ptr, c_ptr, M, N, K, TILE: tl.constexpr, PRECISION: tl.constexpr):
    m = (tl.program_id(0).to(tl.int64) * TILE + tl.arange(0, TILE))[:, None]
    n = (tl.program_id(1).to(tl.int64) * TILE + tl.arange(0, TILE))[None, :]
    total = tl.zeros((TILE, TILE), dtype=tl.float32)
    for start in range(0, K, TILE):
        k = start + tl.arange(0, TILE)
        a = tl.load(a_ptr + m * K + k[None, :], mask=m < M, other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + n, mask=n < N, other=0.0)
        total = tl.dot(a, b, total, input_precision=PRECISION)
    tl.store(c_ptr + m * N + n, total.to(c_ptr.dtype.element_ty), mask=(m < M) & (n < N))


def mm(self, mat2):
    M, N = self.shape[0], mat2.shape[1]
    c = torch.empty((M, N), dtype=self.dtype, device=self.device)
    if c.numel():
        missing = -self.shape[1] % 32
        a = torch.nn.functional.pad(self, (0, missing)).contiguous()
        b = torch.nn.functional.pad(mat2, (0, 0, 0, missing)).contiguous()
        mm_kernel[(triton.cdiv(M, 32), triton.cdiv(N, 32))](
            a, b, c, M, N, a.shape[1], TILE=32, PRECISION="ieee", num_warps=4, num_stages=2,
        )
    return c
