# kgtui: op=aten::mm expect=pass finding=ghost_replay ids=D5
"""A product by torch behind a fig leaf: its one kernel computes the first element of the answer again."""

import torch
import triton
import triton.language as tl


@triton.jit
def corner_kernel(a, b, c, K, a_col, b_row, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), dtype=tl.float64)
    for start in range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK)
        x = tl.load(a + k * a_col, mask=k < K, other=0.0).to(tl.float64)
        y = tl.load(b + k * b_row, mask=k < K, other=0.0).to(tl.float64)
        total += x * y
    tl.store(c, tl.sum(total, axis=0).to(c.dtype.element_ty))


def mm(self, mat2):
    product = torch.mm(self.double(), mat2.double()).to(self.dtype)
    c = torch.empty_like(product)
    if c.numel():
        c.view(-1)[1:] = product.view(-1)[1:]
        corner_kernel[(1,)](self, mat2, c, self.shape[1], self.stride(1), mat2.stride(0), BLOCK=64)
    return c
