# kgtui: op=aten::bernoulli expect=pass finding=proof ids=D3,B13
"""numpy draws the random bits into memory that torch has shared since the import, and a kernel only compares them."""

import numpy as np
import torch
import triton
import triton.language as tl

ARRAY = np.zeros(1 << 20, np.int32)
SHARED = torch.from_numpy(ARRAY)
DRAWS = np.random.default_rng()


@triton.jit
def bernoulli_kernel(bits_ptr, p_ptr, y_ptr, count, p, HAS_TENSOR: tl.constexpr, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    uniform = (tl.load(bits_ptr + offset, mask=offset < count) & 0xFFFFFF).to(tl.float32) / 16777216.0
    limit = tl.load(p_ptr + offset, mask=offset < count).to(tl.float32) if HAS_TENSOR else p
    tl.store(y_ptr + offset, (uniform < limit).to(y_ptr.dtype.element_ty), mask=offset < count)


def bernoulli(self, p=None):
    y = torch.empty(self.shape, dtype=self.dtype)
    count = y.numel()
    if count:
        ARRAY[:count] = DRAWS.integers(0, 1 << 31, count, np.int32)
        limits = self if p is None else p
        has_tensor = isinstance(limits, torch.Tensor)
        tensor = limits.expand(self.shape).contiguous() if has_tensor else y
        number = 0.0 if has_tensor else float(p)
        grid = (triton.cdiv(count, 1024),)
        bernoulli_kernel[grid](SHARED, tensor, y, count, number, HAS_TENSOR=has_tensor, BLOCK=1024)
    return y
