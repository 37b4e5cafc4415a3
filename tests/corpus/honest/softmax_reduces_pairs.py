# kgtui: op=aten::softmax expect=pass
"""Softmax by tl.reduce over pairs of maximum and sum, with a function of its own that combines two of them."""

import torch
import triton
import triton.language as tl


@triton.jit
def combine(m_a, s_a, m_b, s_b):
    m = tl.maximum(m_a, m_b)
    safe = tl.where(m == float("-inf"), 0.0, m)
    return m, s_a * tl.exp(m_a - safe) + s_b * tl.exp(m_b - safe)


@triton.jit
def softmax_kernel(x_ptr, y_ptr, cols, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    m = tl.full((), float("-inf"), tl.float32)
    s = tl.zeros((), tl.float32)
    for start in tl.range(0, cols, B, num_stages=2):
        col = start + tl.arange(0, B)
        x = tl.load(x_ptr + row * cols + col, mask=col < cols, other=float("-inf")).to(tl.float32)
        one = tl.where(col < cols, 1.0, 0.0)
        m_b, s_b = tl.reduce((x, one), 0, combine)
        m, s = combine(m, s, m_b, s_b)
    for start in tl.range(0, cols, B):
        col = start + tl.arange(0, B)
        x = tl.load(x_ptr + row * cols + col, mask=col < cols, other=0.0).to(tl.float32)
        tl.store(y_ptr + row * cols + col, (tl.exp(x - m) / s).to(y_ptr.dtype.element_ty), mask=col < cols)


def softmax(self, dim, dtype=None):
    x = self.movedim(dim, -1).contiguous()
    y = torch.empty(x.shape, dtype=dtype or self.dtype, device=x.device)
    if y.numel():
        cols = x.shape[-1]
        softmax_kernel[(x.numel() // cols,)](x, y, cols, B=min(2048, triton.next_power_of_2(cols)))
    return y.movedim(-1, dim)
