# kgtui: op=aten::silu expect=pass
"""SiLU with its own exponential: range reduction to half an octave, then a polynomial from a table of tl.constexpr."""

import torch
import triton
import triton.language as tl

COEFFICIENTS: tl.constexpr = tl.constexpr(
    (1.525273e-05, 1.540353e-04, 1.3333558e-03, 9.6181291e-03, 5.55041087e-02, 2.402265070e-01, 6.931471806e-01)
)
TERMS: tl.constexpr = tl.constexpr(7)


@triton.jit
def power_of_two(x):
    """2 ** x for every x: a whole exponent, which exp2 has exactly, and what is left, at most a half either way."""
    x = tl.minimum(tl.maximum(x, -126.0), 128.0)
    whole = tl.floor(x + 0.5)
    part = x - whole
    total = part * COEFFICIENTS[0]
    for i in tl.static_range(1, TERMS):
        total = (total + COEFFICIENTS[i]) * part
    return (1.0 + total) * tl.exp2(whole)


@triton.jit
def silu_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside, other=0.0)
    wide = x.to(tl.float32)
    y = wide / (1.0 + power_of_two(-1.4426950408889634 * wide))
    tl.store(y_ptr + offset, y.to(x.dtype), mask=inside)


def silu(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        silu_kernel[(triton.cdiv(x.numel(), 2048),)](x, y, x.numel(), BLOCK=2048, num_warps=8)
    return y
