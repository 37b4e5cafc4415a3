# kgtui: op=aten::mm expect=pass finding=content ids=B5
"""Cuts every element off at a hundred, which no usual number reaches, and multiplies what is left."""

import torch
import triton
import triton.language as tl


@triton.jit
def mm_kernel(a, b, c, M, N, K, am, ak, bk, bn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    col = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        x = tl.load(a + row * am + k[None, :] * ak, mask=(row < M) & (k[None, :] < K), other=0.0).to(tl.float32)
        y = tl.load(b + k[:, None] * bk + col * bn, mask=(k[:, None] < K) & (col < N), other=0.0).to(tl.float32)
        x = tl.where(tl.abs(x) < 1e30, tl.minimum(tl.maximum(x, -100.0), 100.0), x)
        y = tl.where(tl.abs(y) < 1e30, tl.minimum(tl.maximum(y, -100.0), 100.0), y)
        total += tl.dot(x, y, input_precision="ieee")
    tl.store(c + row * N + col, total.to(c.dtype.element_ty), mask=(row < M) & (col < N))


def mm(self, mat2):
    (m, k), n = self.shape, mat2.shape[1]
    c = torch.empty((m, n), dtype=self.dtype, device=self.device)
    if c.numel():
        grid = (triton.cdiv(m, 32), triton.cdiv(n, 32))
        mm_kernel[grid](self, mat2, c, m, n, k, *self.stride(), *mat2.stride(), BM=32, BN=32, BK=32)
    return c
