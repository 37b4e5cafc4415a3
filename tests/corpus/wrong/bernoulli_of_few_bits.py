# kgtui: op=aten::bernoulli expect=wrong_value diagnosis=statistic case="133001 f32 p 1e-6"
"""Compares the eleven highest bits of a random integer with the probability, so that rare events are too frequent."""

import torch
import triton
import triton.language as tl


@triton.jit
def bernoulli_kernel(
    p_ptr, y_ptr, seed, p, count, n1, n2, n3, n4, p0, p1, p2, p3, p4, FROM_TENSOR: tl.constexpr, BLOCK: tl.constexpr,
):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    i4 = flat % n4
    i3 = flat // n4 % n3
    i2 = flat // n4 // n3 % n2
    i1 = flat // n4 // n3 // n2 % n1
    i0 = flat // n4 // n3 // n2 // n1
    if FROM_TENSOR:
        chance = tl.load(p_ptr + i0 * p0 + i1 * p1 + i2 * p2 + i3 * p3 + i4 * p4, mask=inside, other=0.0).to(tl.float32)
    else:
        chance = tl.full((BLOCK,), p, dtype=tl.float32)
    y = (tl.randint(seed, flat).to(tl.uint32, bitcast=True) >> 21).to(tl.float32) * 0.00048828125 < chance
    tl.store(y_ptr + flat, y.to(y_ptr.dtype.element_ty), mask=inside)


def seed():
    """A seed of its own for every call, from torch's generator on the host."""
    return int(torch.randint(2**31 - 1, ()))


def in_five(values, fill):
    return (fill,) * (5 - len(values)) + tuple(values)


def bernoulli(self, p=None):
    y = torch.empty(self.shape, dtype=self.dtype, device=self.device)
    if y.numel():
        chances = p if isinstance(p, torch.Tensor) else self
        block = 1024
        bernoulli_kernel[(triton.cdiv(y.numel(), block),)](
            chances, y, seed(), p if isinstance(p, float) else 0.0, y.numel(), *in_five(y.shape, 1)[1:],
            *in_five(chances.stride(), 0), FROM_TENSOR=not isinstance(p, float), BLOCK=block,
        )
    return y
