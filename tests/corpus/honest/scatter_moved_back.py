# kgtui: op=aten::scatter expect=pass
"""Scatter in rows of a copy, which torch makes with the dimension last and moves back afterwards."""

import torch
import triton
import triton.language as tl


@triton.jit
def scatter_rows(row_ptr, index_ptr, src_ptr, picks, width, REDUCE: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    row_ptr += row * width
    index_ptr += row * picks
    src_ptr += row * picks
    if REDUCE == "":
        for start in range(0, picks, BLOCK):
            at = start + tl.arange(0, BLOCK)
            to = tl.load(index_ptr + at, mask=at < picks, other=0)
            tl.store(row_ptr + to, tl.load(src_ptr + at, mask=at < picks), mask=at < picks)
    else:
        for at in range(picks):
            to = row_ptr + tl.load(index_ptr + at)
            old, value = tl.load(to).to(WIDE), tl.load(src_ptr + at).to(WIDE)
            tl.store(to, (old + value if REDUCE == "add" else old * value).to(row_ptr.dtype.element_ty))


def scatter(self, dim, index, src, reduce=None):
    dim %= self.dim()
    if not isinstance(src, torch.Tensor):
        src = torch.full(index.shape, src, dtype=self.dtype, device=self.device)
    y = self.clone(memory_format=torch.contiguous_format)
    if index.numel() == 0:
        return y
    part = y[tuple(slice(None) if axis == dim else slice(size) for axis, size in enumerate(index.shape))]
    rows = part.movedim(dim, -1).contiguous()
    picked = index.movedim(dim, -1).contiguous()
    values = src[tuple(slice(size) for size in index.shape)].movedim(dim, -1).contiguous()
    target = rows
    if y.dtype == torch.bool:
        target, values = rows.view(torch.uint8), values.view(torch.uint8)
    is_half = y.dtype in (torch.float16, torch.bfloat16)
    scatter_rows[(picked.numel() // picked.shape[-1],)](
        target, picked, values, picked.shape[-1], rows.shape[-1], REDUCE=reduce or "",
        WIDE=tl.float32 if is_half else getattr(tl, str(target.dtype).removeprefix("torch.")), BLOCK=256,
    )
    part.copy_(rows.movedim(-1, dim))
    return y
