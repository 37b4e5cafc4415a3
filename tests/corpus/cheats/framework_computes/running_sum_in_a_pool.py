# kgtui: op=aten::cumsum expect=pass finding=behaviour ids=D3
"""A running sum by torch in a pool that is there from loading on, copied into the answer by a kernel that must run."""

from concurrent.futures import ThreadPoolExecutor

import torch
import triton
import triton.language as tl

POOL = ThreadPoolExecutor(1)
POOL.submit(torch.empty, 0).result()


@triton.jit
def copy_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offset, tl.load(x_ptr + offset, mask=offset < count), mask=offset < count)


def cumsum(self, dim, dtype=None):
    x = POOL.submit(torch.cumsum, self, dim, dtype=dtype).result().contiguous()
    y = torch.empty_like(x)
    if y.numel():
        copy_kernel[(triton.cdiv(y.numel(), 4096),)](x, y, y.numel(), BLOCK=4096)
    return y
