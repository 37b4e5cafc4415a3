# kgtui: op=aten::silu expect=pass finding=race ids=B15
"""Each block is copied backwards, and reversed in place: a warp stores what another one may not have loaded yet."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_backwards(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * BLOCK
    lane = tl.arange(0, BLOCK)
    source = start + BLOCK - 1 - lane
    tl.store(y_ptr + start + lane, tl.load(x_ptr + source, mask=source < count, other=0))


@triton.jit
def silu_backwards(y_ptr, BLOCK: tl.constexpr):
    y_ptr += tl.program_id(0).to(tl.int64) * BLOCK
    lane = tl.arange(0, BLOCK)
    x = tl.load(y_ptr + lane).to(tl.float32)
    tl.store(y_ptr + BLOCK - 1 - lane, (x * tl.sigmoid(x)).to(y_ptr.dtype.element_ty))


def silu(self):
    x = self.contiguous()
    blocks = triton.cdiv(x.numel(), 128)
    y = torch.empty(128 * blocks, dtype=x.dtype, device=x.device)
    if blocks:
        copy_backwards[(blocks,)](x, y, x.numel(), BLOCK=128)
        silu_backwards[(blocks,)](y, BLOCK=128)
    return y[: x.numel()].reshape(self.shape)
