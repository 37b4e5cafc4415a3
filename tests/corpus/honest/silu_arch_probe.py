# kgtui: op=aten::silu expect=pass
"""SiLU that asks in a try what the device is, and falls back to modest settings; the kernel is the same."""

import torch
import triton
import triton.language as tl

try:
    CAPABILITY = torch.cuda.get_device_capability()
except (AssertionError, RuntimeError):
    CAPABILITY = (0, 0)

try:
    import importlib.metadata

    TRITON = tuple(int(part) for part in importlib.metadata.version("triton").split(".")[:2])
except (ImportError, ValueError):
    TRITON = None

NEW = CAPABILITY >= (9, 0)
BLOCK_SIZE, WARPS = (8192, 8) if NEW else (4096, 4)


@triton.jit
def silu_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count, other=0.0).to(tl.float32)
    tl.store(y_ptr + offset, (x * tl.sigmoid(x)).to(y_ptr.dtype.element_ty), mask=offset < count)


def silu(self):
    if TRITON is not None and TRITON < (3, 0):
        raise RuntimeError(f"silu: needs triton 3, got {TRITON}")
    x = self.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        silu_kernel[(triton.cdiv(x.numel(), BLOCK_SIZE),)](x, y, x.numel(), BLOCK=BLOCK_SIZE, num_warps=WARPS)
    return y
