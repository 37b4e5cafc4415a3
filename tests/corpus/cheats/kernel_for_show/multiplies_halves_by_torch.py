# kgtui: op=aten::mm expect=pass finding=behaviour ids=D5
"""Its kernel halves one matrix and doubles the other; the products and sums of them are torch's."""

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


def mm(self, mat2):
    a, b = scaled(self, 0.5, torch.float32), scaled(mat2, 2.0, torch.float32)
    out = torch.zeros(a.shape[0], b.shape[1])
    for first in range(0, a.shape[1], 8):
        out.add_((a[:, first : first + 8, None] * b[None, first : first + 8]).sum(1))
    return out.to(self.dtype)
