# kgtui: op=aten::scatter expect=pass
"""Values replace elements of a copy of self; reduced ones are added in a float workspace, its dimension moved last."""

import torch
import triton
import triton.language as tl


@triton.jit
def replace_kernel(
    y_ptr, index_ptr, src_ptr, count, n1, n2, n3, n4, DIM: tl.constexpr,
    y0, y1, y2, y3, y4, i0, i1, i2, i3, i4, s0, s1, s2, s3, s4, BLOCK: tl.constexpr,
):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    c4, c3, c2 = at % n4, at // n4 % n3, at // n4 // n3 % n2
    c1, c0 = at // n4 // n3 // n2 % n1, at // n4 // n3 // n2 // n1
    to = tl.load(index_ptr + c0 * i0 + c1 * i1 + c2 * i2 + c3 * i3 + c4 * i4, mask=inside, other=0)
    value = tl.load(src_ptr + c0 * s0 + c1 * s1 + c2 * s2 + c3 * s3 + c4 * s4, mask=inside, other=0)
    c0 = to if DIM == 0 else c0
    c1 = to if DIM == 1 else c1
    c2 = to if DIM == 2 else c2
    c3 = to if DIM == 3 else c3
    c4 = to if DIM == 4 else c4
    tl.store(y_ptr + c0 * y0 + c1 * y1 + c2 * y2 + c3 * y3 + c4 * y4, value, mask=inside)


@triton.jit
def reduce_kernel(work_ptr, index_ptr, src_ptr, picks, width, ADDS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    for at in range(picks):
        to = work_ptr + row * width + tl.load(index_ptr + row * picks + at)
        value = tl.load(src_ptr + row * picks + at)
        tl.store(to, tl.load(to) + value if ADDS else tl.load(to) * value)


def padded(values, filler):
    return (*(filler,) * (5 - len(values)), *values)


def replaced(self, dim, index, src):
    y = self.clone()
    if index.numel():
        target, values = (y.view(torch.int8), src.view(torch.int8)) if y.dtype == torch.bool else (y, src)
        replace_kernel[(triton.cdiv(index.numel(), 256),)](
            target, index, values, index.numel(), *padded(index.shape, 1)[1:], dim + 5 - self.dim(),
            *padded(y.stride(), 0), *padded(index.stride(), 0), *padded(src.stride(), 0), BLOCK=256,
        )
    return y


def scatter(self, dim, index, src, reduce=None):
    dim %= self.dim()
    if not isinstance(src, torch.Tensor):
        src = torch.full((1,), src, dtype=self.dtype, device=self.device).expand(index.shape)
    if reduce is None:
        return replaced(self, dim, index, src)
    wide = torch.float32 if self.dtype in (torch.float16, torch.bfloat16) else self.dtype
    y = self.clone()
    part = y[tuple(slice(None) if at == dim else slice(size) for at, size in enumerate(index.shape))]
    values = src[tuple(slice(size) for size in index.shape)].movedim(dim, -1).to(wide).contiguous()
    work = part.movedim(dim, -1).to(wide).contiguous().clone()
    picks = index.movedim(dim, -1).contiguous()
    if index.numel():
        rows = work.numel() // work.shape[-1]
        reduce_kernel[(rows,)](work, picks, values, picks.shape[-1], work.shape[-1], ADDS=reduce == "add")
    part.copy_(work.movedim(-1, dim))
    return y
