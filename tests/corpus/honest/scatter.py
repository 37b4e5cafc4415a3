# kgtui: op=aten::scatter expect=pass
"""Scatter: one program a line copies self and then writes or reduces in order, so that no two values race."""

import torch
import triton
import triton.language as tl


@triton.jit
def scatter_kernel(
    x_ptr, index_ptr, src_ptr, y_ptr, size, picks, n1, n2, n3,
    x0, x1, x2, x3, x_dim, i0s, i1s, i2s, i3s, i_dim, s0, s1, s2, s3, s_dim, y0, y1, y2, y3, y_dim,
    m0, m1, m2, m3, REDUCE: tl.constexpr, WIDE: tl.constexpr,
):
    line = tl.program_id(0).to(tl.int64)
    i3, i2, i1 = line % n3, line // n3 % n2, line // n3 // n2 % n1
    i0 = line // n3 // n2 // n1
    x_row = x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3
    y_row = y_ptr + i0 * y0 + i1 * y1 + i2 * y2 + i3 * y3
    for at in range(size):
        tl.store(y_row + at * y_dim, tl.load(x_row + at * x_dim).to(WIDE))
    if (i0 < m0) & (i1 < m1) & (i2 < m2) & (i3 < m3):
        for at in range(picks):
            to = y_row + tl.load(index_ptr + i0 * i0s + i1 * i1s + i2 * i2s + i3 * i3s + at * i_dim) * y_dim
            value = tl.load(src_ptr + i0 * s0 + i1 * s1 + i2 * s2 + i3 * s3 + at * s_dim).to(WIDE)
            if REDUCE == "add":
                value += tl.load(to)
            if REDUCE == "multiply":
                value *= tl.load(to)
            tl.store(to, value)


def lines(tensor, dim):
    """Sizes or strides in four dimensions without dim, and that of dim."""
    values = list(tensor)
    own = values.pop(dim)
    return values, own


def scatter(self, dim, index, src, reduce=None):
    dim %= self.dim()
    # Reduced values are kept in float32 until the end.
    wide = torch.float32 if reduce and self.dtype in (torch.float16, torch.bfloat16) else self.dtype
    y = torch.empty(self.shape, dtype=wide, device=self.device)
    if y.numel() == 0:
        return y.to(self.dtype)
    if not isinstance(src, torch.Tensor):
        src = torch.tensor(src, dtype=self.dtype, device=self.device).expand(index.shape)
    arguments = []
    for tensor in (self, index, src, y):
        strides, own = lines(tensor.stride(), dim)
        arguments += [*(0,) * (4 - len(strides)), *strides, own]
    sizes, size = lines(self.shape, dim)
    bounds, picks = lines(index.shape, dim)
    pad = (1,) * (4 - len(sizes))
    types = {torch.float16: tl.float16, torch.bfloat16: tl.bfloat16, torch.float32: tl.float32}
    target = y.view(torch.int8) if y.dtype == torch.bool else y
    source, values = (self.view(torch.int8), src.view(torch.int8)) if y.dtype == torch.bool else (self, src)
    kinds = {torch.float64: tl.float64, torch.int64: tl.int64, torch.int32: tl.int32, torch.int16: tl.int16,
             torch.int8: tl.int8, torch.uint8: tl.uint8}
    scatter_kernel[(y.numel() // size,)](
        source, index, values, target, size, picks, *(*pad, *sizes)[1:], *arguments, *pad, *bounds,
        REDUCE=reduce or "", WIDE=(types | kinds)[target.dtype],
    )
    return y.to(self.dtype)
