# kgtui: op=aten::pow expect=wrong_value|nonfinite diagnosis=none case="16x33 f32 special"
"""Power as exp2(exponent * log2(x)), which has no value for a negative base and a whole exponent."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def pow_kernel(x_ptr, exponent_ptr, y_ptr, count, BITS: tl.constexpr, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside, other=1)
    exponent = tl.load(exponent_ptr + offset, mask=inside, other=1)
    if x.dtype.is_floating():
        x = x if x.dtype == tl.float64 else x.to(tl.float32)
        y = tl.exp2(exponent.to(x.dtype) * tl.log2(x))
    else:
        y = tl.full((BLOCK,), 1, dtype=x.dtype)
        for _ in range(BITS):
            y = tl.where(exponent & 1 == 1, y * x, y)
            x *= x
            exponent >>= 1
    tl.store(y_ptr + offset, y.to(y_ptr.dtype.element_ty), mask=inside)


def pow(self, exponent):
    kind = torch.result_type(self, exponent)
    device = self.device if isinstance(self, torch.Tensor) else exponent.device
    sides = (torch.as_tensor(side, device=device).to(kind) for side in (self, exponent))
    x, exponent = (side.contiguous() for side in torch.broadcast_tensors(*sides))
    y = torch.empty(x.shape, dtype=kind, device=device)
    if y.numel():
        grid = (triton.cdiv(y.numel(), 1024),)
        pow_kernel[grid](x, exponent, y, y.numel(), BITS=8 * kind.itemsize, BLOCK=1024)
    return y
