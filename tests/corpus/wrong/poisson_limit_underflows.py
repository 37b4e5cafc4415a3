# kgtui: op=aten::poisson expect=wrong_value diagnosis=statistic case="1001 f32 rates about two hundred"
"""Multiplies uniform numbers down to the exponential of the rate, which underflows to zero for a rate of two hundred."""

import torch
import triton
import triton.language as tl


@triton.jit
def poisson_kernel(
    rate_ptr, y_ptr, seed, count, n1, n2, n3, n4, r0, r1, r2, r3, r4, BLOCK: tl.constexpr,
):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    i4 = flat % n4
    i3 = flat // n4 % n3
    i2 = flat // n4 // n3 % n2
    i1 = flat // n4 // n3 // n2 % n1
    i0 = flat // n4 // n3 // n2 // n1
    at = rate_ptr + i0 * r0 + i1 * r1 + i2 * r2 + i3 * r3 + i4 * r4
    rate = tl.load(at, mask=inside, other=0.0).to(tl.float32)
    limit = tl.exp(-rate)
    product = tl.rand(seed, flat)
    draw = tl.zeros((BLOCK,), tl.float32)
    step = tl.full((), 1, tl.int64)
    while tl.max((product > limit).to(tl.int32), axis=0) > 0:
        draw += tl.where(product > limit, 1.0, 0.0)
        product = tl.where(product > limit, product * tl.rand(seed, step * count + flat), product)
        step += 1
    tl.store(y_ptr + flat, draw.to(y_ptr.dtype.element_ty), mask=inside)


def seed():
    """A seed of its own for every call, from torch's generator on the host."""
    return int(torch.randint(2**31 - 1, ()))


def in_five(values, fill):
    return (fill,) * (5 - len(values)) + tuple(values)


def poisson(self):
    y = torch.empty(self.shape, dtype=self.dtype, device=self.device)
    if y.numel():
        block = 4096
        poisson_kernel[(triton.cdiv(y.numel(), block),)](
            self, y, seed(), y.numel(), *in_five(y.shape, 1)[1:], *in_five(self.stride(), 0), BLOCK=block,
        )
    return y
