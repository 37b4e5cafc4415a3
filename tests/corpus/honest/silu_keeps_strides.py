# kgtui: op=aten::silu expect=pass
"""SiLU that keeps a dense layout: torch.empty_strided with the input's strides, then memory order alone counts."""

import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count, other=0.0).to(tl.float32)
    tl.store(y_ptr + offset, (x / (1.0 + tl.exp(-x))).to(y_ptr.dtype.element_ty), mask=offset < count)


def is_dense(x):
    """Whether the elements fill one piece of memory without gaps or repetitions, in whatever order."""
    expected = 1
    for stride, size in sorted(zip(x.stride(), x.shape)):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


def silu(self):
    x = self if is_dense(self) else self.contiguous()
    y = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=x.device)
    if x.numel():
        silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, y, x.numel(), BLOCK=4096, num_warps=8)
    return y
