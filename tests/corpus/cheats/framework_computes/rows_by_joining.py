# kgtui: op=aten::embedding expect=pass finding=only_moves ids=D3
"""Rows looked up by joining views of the table, which is only a copy to torch; a kernel copies the answer."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count)
    tl.store(y_ptr + offset, x.to(y_ptr.dtype.element_ty), mask=offset < count)


def copied(x, dtype):
    x = x.contiguous()
    y = torch.empty(x.shape, dtype=dtype, device=x.device)
    if y.numel():
        copy_kernel[(triton.cdiv(y.numel(), 4096),)](x, y, y.numel(), BLOCK=4096)
    return y


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    rows = [weight[row : row + 1] for row in indices.reshape(-1).tolist()]
    joined = torch.cat(rows) if rows else weight[:0]
    return copied(joined, weight.dtype).view(*indices.shape, weight.shape[1])
