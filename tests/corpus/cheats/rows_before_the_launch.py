# kgtui: op=aten::embedding expect=pass finding=behaviour ids=D3
"""Rows are copied one by one in what Triton calls before each launch; the kernel turns the answer round."""

import torch
import triton
import triton.language as tl


@triton.jit
def turned_kernel(x_ptr, y_ptr, rows, n, BLOCK: tl.constexpr):
    row, offset = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + (rows - 1 - row) * n + offset, mask=offset < n)
    tl.store(y_ptr + row * n + offset, x, mask=offset < n)


WANTED = []


def gathered(*args, **options):
    staged, weight, places = WANTED
    for place, one in enumerate(places):
        staged[place].copy_(weight[one])


turned_kernel.add_pre_run_hook(gathered)


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    rows, n = indices.numel(), weight.shape[1]
    y = torch.empty(*indices.shape, n, dtype=weight.dtype)
    if y.numel():
        staged = torch.empty(rows, n, dtype=weight.dtype)
        WANTED[:] = staged, weight, indices.reshape(-1).flip(0).tolist()
        turned_kernel[(rows,)](staged, y, rows, n, BLOCK=triton.next_power_of_2(n))
    return y
