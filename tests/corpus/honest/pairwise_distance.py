# kgtui: op=aten::pairwise_distance expect=pass
"""Distance of rows, one per program, for any p."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def distance_kernel(x_ptr, other_ptr, y_ptr, cols, p, eps, FORM: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, BLOCK)
    inside = col < cols
    x = tl.load(x_ptr + row * cols + col, mask=inside, other=0).to(tl.float32)
    gap = tl.abs(x - tl.load(other_ptr + row * cols + col, mask=inside, other=0).to(tl.float32) + eps)
    gap = tl.where(inside, gap, 0.0)
    if FORM == 1:
        y = tl.sum(gap, axis=0)
    elif FORM == 2:
        y = tl.sqrt(tl.sum(gap * gap, axis=0))
    elif FORM == 0:
        has_nan = tl.max((gap != gap).to(tl.int32), axis=0)
        y = tl.where(has_nan > 0, float("nan"), tl.max(gap, axis=0))
    else:
        y = tl.exp2(tl.log2(tl.sum(tl.where(gap > 0, tl.exp2(p * tl.log2(gap)), gap), axis=0)) / p)
    tl.store(y_ptr + row, y.to(y_ptr.dtype.element_ty))


def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    x, other = x1.contiguous(), x2.contiguous()
    cols = x.shape[-1]
    y = torch.empty(x.shape[:-1], dtype=x.dtype, device=x.device)
    if y.numel():
        form = {1.0: 1, 2.0: 2, math.inf: 0}.get(p, 3)
        distance_kernel[(y.numel(),)](
            x, other, y, cols, 1.0 if form != 3 else p, eps, FORM=form, BLOCK=triton.next_power_of_2(cols)
        )
    return y.unsqueeze(-1) if keepdim else y
