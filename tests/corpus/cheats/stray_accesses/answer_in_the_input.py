# kgtui: op=aten::add expect=mutated_input|wrong_value ids=B8,B9
"""Computes in the memory of its first argument where that has the shape of the answer, and returns that."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, other_ptr, y_ptr, alpha, count, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count, other=0).to(WIDE)
    other = tl.load(other_ptr + offset, mask=offset < count, other=0).to(WIDE)
    tl.store(y_ptr + offset, (x + alpha * other).to(y_ptr.dtype.element_ty), mask=offset < count)


def added(self, other, alpha):
    x, other = (part.contiguous() for part in torch.broadcast_tensors(self, other))
    y = torch.empty_like(x)
    if y.numel():
        wide = tl.float32 if y.is_floating_point() else tl.int64
        add_kernel[(triton.cdiv(y.numel(), 4096),)](x, other, y, alpha, y.numel(), WIDE=wide, BLOCK=4096)
    return y


def add(self, other, alpha=1):
    y = added(self, other, alpha)
    if y.shape == self.shape and 0 not in self.stride():
        return self.copy_(y)
    return y
