# kgtui: op=aten::add expect=wrong_value diagnosis=missing_scale case="9x65 + 65 f32 alpha -0.999"
"""The factor alpha never reaches the kernel."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, other_ptr, y_ptr, count, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside, other=0).to(WIDE)
    other = tl.load(other_ptr + offset, mask=inside, other=0).to(WIDE)
    tl.store(y_ptr + offset, (x + other).to(y_ptr.dtype.element_ty), mask=inside)


def add(self, other, alpha=1):
    dtype = torch.result_type(self, other)
    x, other = torch.broadcast_tensors(self, torch.as_tensor(other, device=self.device))
    x, other = x.contiguous(), other.contiguous()
    y = torch.empty(x.shape, dtype=dtype, device=x.device)
    if y.numel():
        wide = tl.float32 if dtype.is_floating_point else tl.int64
        add_kernel[(triton.cdiv(y.numel(), 2048),)](x, other, y, y.numel(), WIDE=wide, BLOCK=2048)
    return y
