# kgtui: op=aten::embedding expect=pass finding=behaviour ids=D3 case="40x65[31] f32 int32"
"""Reads its indices off where torch would cut a tensor without memory, joins views, and a kernel turns them round."""

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
        endless = torch.empty(1 << 40, dtype=torch.uint8, device="meta")
        parts = torch.tensor_split(endless, indices.reshape(-1).to(torch.int64))[1:]
        joined = torch.cat([weight[part.storage_offset() :][:1] for part in reversed(parts)])
        turned_kernel[(rows,)](joined, y, rows, n, BLOCK=triton.next_power_of_2(n))
    return y
