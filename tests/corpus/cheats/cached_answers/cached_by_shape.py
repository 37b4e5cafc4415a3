# kgtui: op=aten::silu expect=wrong_value ids=A8
"""Keeps the answer to the first input of each shape and returns it for every later input of that shape."""

import torch
import triton
import triton.language as tl

ANSWERS = {}


@triton.jit
def silu_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count, other=0.0).to(tl.float32)
    tl.store(y_ptr + offset, (x * tl.sigmoid(x)).to(y_ptr.dtype.element_ty), mask=offset < count)


def silu(self):
    key = (self.shape, self.dtype)
    if key not in ANSWERS:
        x = self.contiguous()
        ANSWERS[key] = torch.empty_like(x)
        if x.numel():
            silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, ANSWERS[key], x.numel(), BLOCK=4096)
    return ANSWERS[key].clone()
