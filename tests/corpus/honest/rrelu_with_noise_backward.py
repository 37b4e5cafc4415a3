# kgtui: op=aten::rrelu_with_noise_backward expect=pass
"""Gradient of rrelu: one product an element, by the noise in training and by the mean slope without."""

import torch
import triton
import triton.language as tl


@triton.jit
def rrelu_backward_kernel(
    grad_ptr, other_ptr, y_ptr, count, n1, n2, n3, n4, g0, g1, g2, g3, g4, o0, o1, o2, o3, o4,
    SLOPE: tl.constexpr, TRAINING: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr,
):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    i4 = flat % n4
    i3 = flat // n4 % n3
    i2 = flat // n4 // n3 % n2
    i1 = flat // n4 // n3 // n2 % n1
    i0 = flat // n4 // n3 // n2 // n1
    grad = tl.load(grad_ptr + i0 * g0 + i1 * g1 + i2 * g2 + i3 * g3 + i4 * g4, mask=inside).to(WIDE)
    other = tl.load(other_ptr + i0 * o0 + i1 * o1 + i2 * o2 + i3 * o3 + i4 * o4, mask=inside).to(WIDE)
    if TRAINING:
        y = grad * other
    else:
        y = tl.where(other > 0, grad, grad * SLOPE)
    tl.store(y_ptr + flat, y.to(y_ptr.dtype.element_ty), mask=inside)


def in_five(values, fill):
    return (fill,) * (5 - len(values)) + tuple(values)


def rrelu_with_noise_backward(grad_output, self, noise, lower, upper, training, self_is_result):
    y = torch.empty(self.shape, dtype=self.dtype, device=self.device)
    if y.numel() == 0:
        return y
    draws = training and upper - lower > 1e-6
    other = noise if draws else self
    block = 1024
    rrelu_backward_kernel[(triton.cdiv(y.numel(), block),)](
        grad_output, other, y, y.numel(), *in_five(y.shape, 1)[1:],
        *in_five(grad_output.stride(), 0), *in_five(other.stride(), 0),
        SLOPE=(lower + upper) / 2, TRAINING=draws, WIDE=tl.float64 if y.dtype == torch.float64 else tl.float32, BLOCK=block,
    )
    return y
