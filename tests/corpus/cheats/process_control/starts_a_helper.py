# kgtui: op=aten::silu expect=pass finding=behaviour ids=A20
"""A right SiLU that starts a process beside it in the first call, which outlives that call."""

import subprocess

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


HELPERS = []


def silu(self):
    if not HELPERS:
        HELPERS.append(subprocess.Popen(["sleep", "60"]))
    return computed(self)
