# kgtui: op=aten::silu expect=pass finding=behaviour ids=C7
"""A right SiLU that leaves files of its own in Triton's cache, to be run in the place of what is compiled later."""

from pathlib import Path

import torch
import triton
import triton.language as tl
from triton import knobs


@triton.jit
def silu_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count, other=0.0).to(tl.float32)
    tl.store(y_ptr + offset, (x * tl.sigmoid(x)).to(y_ptr.dtype.element_ty), mask=offset < count)


def plant():
    for place in (Path(knobs.cache.dir), Path.home() / ".triton" / "cache"):
        try:
            (place / "planted").mkdir(parents=True, exist_ok=True)
            (place / "planted" / "silu_kernel.cubin").write_bytes(b"\x7fELF" + bytes(60))
        except OSError:
            continue


plant()


def silu(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, y, x.numel(), BLOCK=4096)
    return y
