# kgtui: op=aten::silu expect=pass finding=behaviour ids=A2
"""A right SiLU with a thread left behind that keeps the last output in hand and could still write it."""

import threading

import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count, other=0.0).to(tl.float32)
    tl.store(y_ptr + offset, (x * tl.sigmoid(x)).to(y_ptr.dtype.element_ty), mask=offset < count)


def computed(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, y, x.numel(), BLOCK=4096)
    return y


HANDED = []
WAKE = threading.Event()


def keep(outputs):
    while not WAKE.wait(60.0):
        latest = outputs[-1]
        del latest


def silu(self):
    y = computed(self)
    HANDED.append(y)
    del HANDED[:-2]
    if threading.active_count() == 1:
        threading.Thread(target=keep, args=(HANDED,), daemon=True).start()
    return y
