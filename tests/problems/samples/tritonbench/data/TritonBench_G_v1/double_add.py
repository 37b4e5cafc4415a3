import torch
import triton
import triton.language as tl


@triton.jit
def _double_add_kernel(x_ptr, y_ptr, out_ptr, size, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < size
    x = tl.load(x_ptr + offsets, mask=inside)
    y = tl.load(y_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, 2 * x + y, mask=inside)


def double_add(x, y):
    out = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 64),)
    _double_add_kernel[grid](x, y, out, x.numel(), BLOCK=64)
    return out

##################################################################################################################################################

import torch


def test_double_add():
    torch.manual_seed(42)
    results = {}
    results["one_block"] = double_add(torch.rand(64, device="cuda"), torch.rand(64, device="cuda"))
    results["tail"] = double_add(torch.rand(100, device="cuda"), torch.rand(100, device="cuda"))
    return results


result_gold = test_double_add()
