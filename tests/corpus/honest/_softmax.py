# kgtui: op=aten::_softmax expect=pass
"""Softmax with a whole row in one block, also from float16 to float32."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    inside = col < cols
    x = tl.load(x_ptr + row * cols + col, mask=inside, other=float("-inf")).to(tl.float32)
    power = tl.exp(x - tl.max(x, axis=0))
    power = tl.where(inside, power, 0.0)
    tl.store(y_ptr + row * cols + col, (power / tl.sum(power, axis=0)).to(y_ptr.dtype.element_ty), mask=inside)


def _softmax(self, dim, half_to_float):
    x = self.movedim(dim, -1).contiguous()
    y = torch.empty(x.shape, dtype=torch.float32 if half_to_float else x.dtype, device=x.device)
    if y.numel():
        cols = x.shape[-1]
        softmax_kernel[(x.numel() // cols,)](x, y, cols, BLOCK=triton.next_power_of_2(cols))
    return y.movedim(-1, dim)
