# kgtui: op=aten::embedding expect=pass finding=behaviour ids=D3 case="40x65[31] f32 int32"
"""Looks rows up by clones of single rows that are written where they belong; a kernel turns the answer round."""

import torch
import triton
import triton.language as tl


@triton.jit
def turned_kernel(x_ptr, y_ptr, rows, n, BLOCK: tl.constexpr):
    row, offset = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + (rows - 1 - row) * n + offset, mask=offset < n)
    tl.store(y_ptr + row * n + offset, x, mask=offset < n)


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    rows, n = indices.numel(), weight.shape[1]
    y = torch.empty(*indices.shape, n, dtype=weight.dtype)
    if y.numel():
        staged = torch.empty(rows, n, dtype=weight.dtype)
        for place, one in enumerate(reversed(indices.reshape(-1).tolist())):
            torch.ops.aten.clone.out(weight[one], out=staged[place])
        turned_kernel[(rows,)](staged, y, rows, n, BLOCK=triton.next_power_of_2(n))
    return y
