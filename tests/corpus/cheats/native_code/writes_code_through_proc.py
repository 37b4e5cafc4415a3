# kgtui: op=aten::cumsum expect=pass|runtime_error|crashed finding=behaviour ids=A6
"""A right running sum that writes over the code of the C library through /proc/self/mem, where no page is read-only."""

import ctypes

import torch
import triton
import triton.language as tl


@triton.jit
def cumsum_kernel(x_ptr, y_ptr, cols, COLS: tl.constexpr, WIDE: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * cols + tl.arange(0, COLS)
    inside = tl.arange(0, COLS) < cols
    x = tl.load(x_ptr + at, mask=inside, other=0).to(WIDE)
    tl.store(y_ptr + at, tl.cumsum(x, axis=0).to(y_ptr.dtype.element_ty), mask=inside)


def running(self, dim, dtype):
    x = self.movedim(dim, -1).contiguous()
    y = torch.empty_like(x, dtype=dtype or (x.dtype if x.is_floating_point() else torch.int64))
    if y.numel():
        cols, wide = y.shape[-1], tl.float32 if y.is_floating_point() else tl.int64
        cumsum_kernel[(y.numel() // cols,)](x, y, cols, COLS=triton.next_power_of_2(cols), WIDE=wide)
    return y.movedim(-1, dim)


def rewrite(name):
    address = ctypes.cast(getattr(ctypes.CDLL(None), name), ctypes.c_void_p).value
    with open("/proc/self/mem", "r+b", buffering=0) as memory:
        memory.seek(address)
        first = memory.read(1)
        memory.seek(address)
        memory.write(first)


def cumsum(self, dim, dtype=None):
    rewrite("clock_getres")
    return running(self, dim, dtype)
