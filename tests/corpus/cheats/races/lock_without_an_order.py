# kgtui: op=aten::cumsum expect=pass finding=proof ids=B15
"""A lock guards the sum before a block, but nothing orders the blocks: the first to get it adds up first."""
import torch
import triton
import triton.language as tl


@triton.jit
def _scan(x, y, carry, lock, cols, blocks, B: tl.constexpr):
    pid = tl.program_id(0)
    row = (pid // blocks).to(tl.int64)
    c = (pid % blocks) * B + tl.arange(0, B)
    acc = carry.dtype.element_ty
    v = tl.load(x + row * cols + c, mask=c < cols, other=0).to(acc)
    s = tl.cumsum(v, 0)
    while tl.atomic_cas(lock + row, 0, 1) == 1:
        pass
    before = tl.load(carry + row, volatile=True)
    tl.store(carry + row, before + tl.sum(v, 0))
    tl.debug_barrier()
    tl.atomic_xchg(lock + row, 0)
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
        carry = torch.zeros(rows, device=x.device, dtype=wide)
        lock = torch.zeros(rows, device=x.device, dtype=torch.int32)
        _scan[(rows * blocks,)](x, y, carry, lock, cols, blocks, B=B)
    return y.movedim(-1, dim)
