# kgtui: op=aten::softmax expect=wrong_value|nonfinite ids=A3,A4
"""Returns a list that computes when somebody takes what is in it, after the call."""

import torch
import triton
import triton.language as tl


@triton.jit
def scaled_kernel(x_ptr, y_ptr, scale, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count).to(tl.float64)
    tl.store(y_ptr + offset, (x * scale).to(y_ptr.dtype.element_ty), mask=offset < count)


def scaled(x, scale, dtype):
    x = x.contiguous()
    y = torch.empty(x.shape, dtype=dtype, device=x.device)
    if y.numel():
        scaled_kernel[(triton.cdiv(y.numel(), 4096),)](x, y, scale, y.numel(), BLOCK=4096)
    return y


class Later(list):
    def __getitem__(self, which):
        return [torch.softmax(self.input, self.dim, dtype=self.dtype)]


def softmax(self, dim, dtype=None):
    later = Later([scaled(self, 0.5, dtype or self.dtype)])
    later.input, later.dim, later.dtype = self, dim, dtype
    return later
