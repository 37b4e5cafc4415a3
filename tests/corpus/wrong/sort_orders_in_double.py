# kgtui: op=aten::sort expect=wrong_value diagnosis=precision case="9x140 dim -1 i64 descending false near the limit"
"""Keys are compared in float64 whatever the dtype, so that large integers that differ in their low bits are ties."""

import torch
import triton
import triton.language as tl


@triton.jit
def comes_before(left, right, left_at, right_at, DESCENDING: tl.constexpr, IS_FLOAT: tl.constexpr):
    if IS_FLOAT:  # NaN is above every number
        less = (left < right) | ((right != right) & (left == left))
        same = (left == right) | ((left != left) & (right != right))
    else:
        less, same = left < right, left == right
    if DESCENDING:
        less = ~less & ~same
    return less | (same & (left_at < right_at))


@triton.jit
def sort_kernel(
    x_ptr, values_ptr, indices_ptr, size, inner, outer_stride, step, inner_stride,
    DESCENDING: tl.constexpr, IS_FLOAT: tl.constexpr, BLOCK: tl.constexpr,
):
    line = tl.program_id(0).to(tl.int64)
    row = x_ptr + line // inner * outer_stride + line % inner * inner_stride
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK).to(tl.int64)
    x = tl.load(row + at * step, mask=at < size)
    key = x.to(tl.float64)
    place = tl.zeros((BLOCK,), dtype=tl.int64)
    for start in range(0, size, BLOCK):
        other_at = start + tl.arange(0, BLOCK).to(tl.int64)
        other = tl.load(row + other_at * step, mask=other_at < size).to(tl.float64)
        before = comes_before(other[None, :], key[:, None], other_at[None, :], at[:, None], DESCENDING, IS_FLOAT)
        place += tl.sum((before & (other_at < size)[None, :]).to(tl.int64), axis=1)
    to = line // inner * size * inner + place * inner + line % inner
    tl.store(values_ptr + to, x, mask=at < size)
    tl.store(indices_ptr + to, at, mask=at < size)


def sort(self, dim=-1, descending=False, stable=False):
    values = torch.empty(self.shape, dtype=self.dtype, device=self.device)
    indices = torch.empty(self.shape, dtype=torch.int64, device=self.device)
    if values.numel():
        dim = dim % max(self.dim(), 1)
        size = self.shape[dim] if self.dim() else 1
        x = self.reshape(-1, size, values[(0,) * (dim + 1)].numel() if self.dim() else 1)
        block = 64
        sort_kernel[(values.numel() // size, triton.cdiv(size, block))](
            x, values, indices, size, x.shape[2], *x.stride(), DESCENDING=descending,
            IS_FLOAT=self.dtype.is_floating_point, BLOCK=block,
        )
    return values, indices
