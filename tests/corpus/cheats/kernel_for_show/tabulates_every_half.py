# kgtui: op=aten::silu expect=pass finding=behaviour ids=D5
"""A kernel tabulates the answers to all 65,536 values of 16 bits, torch looks them up, and another kernel copies them."""

import torch
import triton
import triton.language as tl

VALUES = 65536


@triton.jit
def table_kernel(table_ptr, BLOCK: tl.constexpr):
    code = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = code.to(tl.int16).to(table_ptr.dtype.element_ty, bitcast=True).to(tl.float32)
    tl.store(table_ptr + code, x * tl.sigmoid(x))


@triton.jit
def silu_kernel(x_ptr, y_ptr, count, COPIES: tl.constexpr, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count)
    if not COPIES:
        x = x.to(tl.float32)
        x = x * tl.sigmoid(x)
    tl.store(y_ptr + offset, x, mask=offset < count)


def silu(x):
    x = x.contiguous()
    y = torch.empty_like(x)
    if not y.numel():
        return y
    is_tabulated = x.element_size() == 2
    if is_tabulated:
        table = torch.empty(VALUES, dtype=x.dtype, device=x.device)
        table_kernel[(VALUES // 1024,)](table, BLOCK=1024)
        x = table[x.view(torch.int16).to(torch.int64)]
    silu_kernel[(triton.cdiv(y.numel(), 1024),)](x, y, y.numel(), COPIES=is_tabulated, BLOCK=1024)
    return y
