# kgtui: op=aten::cumsum expect=runtime_error
"""Look-back whose flag has no order: the sum before it may be read before it is stored."""

import torch
import triton
import triton.language as tl


@triton.jit
def _scan(x, y, carry, flag, cols, blocks, B: tl.constexpr):
    pid = tl.program_id(0)
    row = (pid // blocks).to(tl.int64)
    blk = pid % blocks
    c = blk * B + tl.arange(0, B)
    acc = carry.dtype.element_ty
    v = tl.load(x + row * cols + c, mask=c < cols, other=0).to(acc)
    s = tl.cumsum(v, 0)
    before = tl.zeros((), acc)
    if blk > 0:
        while tl.atomic_add(flag + pid - 1, 0, sem="relaxed") == 0:
            pass
        before = tl.load(carry + pid - 1)
    tl.store(carry + pid, before + tl.sum(v, 0))
    tl.atomic_xchg(flag + pid, 1, sem="relaxed")
    tl.store(y + row * cols + c, (s + before).to(y.dtype.element_ty), mask=c < cols)


def cumsum(self, dim, dtype=None):
    out_dtype = dtype or (self.dtype if self.is_floating_point() else torch.int64)
    x = self.movedim(dim, -1).contiguous()
    y = torch.empty(x.shape, dtype=out_dtype, device=x.device)
    if x.numel():
        cols = x.shape[-1]
        rows = x.numel() // cols
        B = 256 if cols < 8192 else 1024
        blocks = triton.cdiv(cols, B)
        wide = torch.float32 if x.is_floating_point() else torch.int64
        carry = torch.empty(rows * blocks, device=x.device, dtype=wide)
        flag = torch.zeros(rows * blocks, device=x.device, dtype=torch.int32)
        _scan[(rows * blocks,)](x, y, carry, flag, cols, blocks, B=B)
    return y.movedim(-1, dim)
