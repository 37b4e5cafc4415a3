# kgtui: op=aten::rrelu_with_noise expect=pass
"""Leaky ReLU with slopes of tl.rand that noise receives; the answer is computed from the slopes as they are stored."""

import torch
import triton
import triton.language as tl


@triton.jit
def rrelu_kernel(
    x_ptr, noise_ptr, y_ptr, seed, lower, upper, count, n1, n2, n3, n4, x0, x1, x2, x3, x4, s0, s1, s2, s3, s4,
    TRAINING: tl.constexpr, BLOCK: tl.constexpr,
):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    i4 = flat % n4
    i3 = flat // n4 % n3
    i2 = flat // n4 // n3 % n2
    i1 = flat // n4 // n3 // n2 % n1
    i0 = flat // n4 // n3 // n2 // n1
    x = tl.load(x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3 + i4 * x4, mask=inside).to(tl.float32)
    if TRAINING:
        slope = tl.where(x <= 0, lower + (upper - lower) * tl.rand(seed, flat), 1.0).to(noise_ptr.dtype.element_ty)
        tl.store(noise_ptr + i0 * s0 + i1 * s1 + i2 * s2 + i3 * s3 + i4 * s4, slope, mask=inside)
        y = x * slope.to(tl.float32)
    else:
        y = tl.where(x <= 0, x * ((lower + upper) / 2), x)
    tl.store(y_ptr + flat, y.to(y_ptr.dtype.element_ty), mask=inside)


def seed():
    """A seed of its own for every call, from torch's generator on the host."""
    return int(torch.randint(2**31 - 1, ()))


def in_five(values, fill):
    return (fill,) * (5 - len(values)) + tuple(values)


def rrelu_with_noise(self, noise, lower=0.125, upper=1 / 3, training=False):
    y = torch.empty(self.shape, dtype=self.dtype, device=self.device)
    if y.numel():
        rrelu_kernel[(triton.cdiv(y.numel(), 1024),)](
            self, noise, y, seed(), lower, upper, y.numel(), *in_five(y.shape, 1)[1:], *in_five(self.stride(), 0),
            *in_five(noise.stride(), 0), TRAINING=training, BLOCK=1024,
        )
    return y
