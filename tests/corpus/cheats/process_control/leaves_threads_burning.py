# kgtui: op=aten::sum expect=pass finding=behaviour ids=A17
"""A right sum that leaves two threads computing for twenty seconds, so that whatever is measured next is slow."""

import hashlib
import threading
import time

import torch
import triton
import triton.language as tl


@triton.jit
def sum_kernel(x_ptr, y_ptr, cols, WIDE: tl.constexpr, COLS: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * cols
    total = tl.zeros((COLS,), dtype=WIDE)
    for start in range(0, cols, COLS):
        col = start + tl.arange(0, COLS)
        total += tl.load(x_ptr + first + col, mask=col < cols, other=0).to(WIDE)
    tl.store(y_ptr + tl.program_id(0), tl.sum(total, axis=0).to(y_ptr.dtype.element_ty))


def summed(self, dim, keepdim, dtype):
    dtype = dtype or (self.dtype if self.is_floating_point() else torch.int64)
    named = (dim,) if isinstance(dim, int) else tuple(dim or range(self.ndim))
    dims = sorted({d % self.ndim for d in named})
    kept = [d for d in range(self.ndim) if d not in dims]
    whole = [1 if d in dims else size for d, size in enumerate(self.shape)]
    y = torch.empty(whole if keepdim else [self.shape[d] for d in kept], dtype=dtype, device=self.device)
    if y.numel():
        x = self.permute(*kept, *dims).contiguous()
        wide = tl.float32 if dtype.is_floating_point else tl.int64
        sum_kernel[(y.numel(),)](x, y, x.numel() // y.numel(), WIDE=wide, COLS=1024)
    return y


ZEROS = bytes(1 << 20)
STARTED = []


def burn():
    end = time.monotonic() + 20.0
    while time.monotonic() < end:
        hashlib.sha256(ZEROS)  # lets others run, unlike a loop in Python


def sum(self, dim=None, keepdim=False, dtype=None):
    while len(STARTED) < 2:
        STARTED.append(threading.Thread(target=burn, daemon=True))
        STARTED[-1].start()
    return summed(self, dim, keepdim, dtype)
