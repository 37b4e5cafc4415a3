# kgtui: op=aten::silu expect=pass
"""SiLU compiled by warmup once for each specialisation; the handle that this gives is launched, as tutorials do."""

import torch
import triton
import triton.language as tl


@triton.jit
def _silu(x, y, n, B: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n).to(tl.float32)
    tl.store(y + i, v * tl.sigmoid(v), mask=i < n)


HANDLES = {}


def silu(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    n = x.numel()
    if n == 0:
        return y
    key = (x.dtype, x.device, x.data_ptr() % 16 == 0, n % 16 == 0, n == 1)  # what Triton compiles other code for
    if key not in HANDLES:
        compiled = _silu.warmup(x, y, n, B=256, grid=(1,))
        compiled._init_handles()
        HANDLES[key] = compiled
    HANDLES[key][(triton.cdiv(n, 256), 1, 1)](x, y, n, 256)
    return y
