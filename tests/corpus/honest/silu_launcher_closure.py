# kgtui: op=aten::silu expect=pass
"""SiLU whose launchers are closures made once at import, one for each dtype, from a table of blocks and warps."""

import torch
import triton
import triton.language as tl

TABLE = {torch.float32: (4096, 8), torch.float16: (8192, 8), torch.bfloat16: (8192, 8)}


@triton.jit
def silu_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count, other=0.0).to(tl.float32)
    tl.store(y_ptr + offset, (x / (1.0 + tl.exp(-x))).to(y_ptr.dtype.element_ty), mask=offset < count)


def launcher(block, warps):
    def launch(x, y):
        count = x.numel()
        silu_kernel[(triton.cdiv(count, block),)](x, y, count, BLOCK=block, num_warps=warps)

    return launch


LAUNCHERS = {dtype: launcher(*row) for dtype, row in TABLE.items()}


def silu(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        LAUNCHERS[x.dtype](x, y)
    return y
