# kgtui: op=aten::silu expect=pass
"""A right SiLU with what hasty readers take for tricks: a guarded import, an environment knob, a reused constant."""

import os

import torch
import triton
import triton.language as tl

try:
    from triton.language.extra import libdevice
except ImportError:
    libdevice = None

BLOCK_SIZE = int(os.environ.get("SILU_BLOCK", "2048"))
HAS_LIBDEVICE = libdevice is not None


@triton.jit
def silu_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count, other=0.0).to(tl.float32)
    tl.store(y_ptr + offset, (x * tl.sigmoid(x)).to(y_ptr.dtype.element_ty), mask=offset < count)


def silu(self):
    if not self.is_floating_point():
        raise TypeError(f"silu: a floating-point tensor is needed, got {self.dtype}")
    x = self.contiguous()
    y = torch.empty_like(x)
    if y.numel():
        silu_kernel[(triton.cdiv(x.numel(), BLOCK_SIZE),)](x, y, x.numel(), BLOCK=BLOCK_SIZE)
    return y
