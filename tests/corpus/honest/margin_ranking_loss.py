# kgtui: op=aten::margin_ranking_loss expect=pass
"""max(0, margin - target * (input1 - input2)); the maximum is a comparison, which lets NaN through."""

import torch
import triton
import triton.language as tl


@triton.jit
def loss_kernel(x_ptr, other_ptr, target_ptr, margin, y_ptr, count, REDUCED: tl.constexpr, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside, other=0).to(tl.float32)
    other = tl.load(other_ptr + offset, mask=inside, other=0).to(tl.float32)
    target = tl.load(target_ptr + offset, mask=inside, other=0).to(tl.float32)
    loss = margin - target * (x - other)
    loss = tl.where(loss < 0, 0.0, loss)
    if REDUCED:
        tl.store(y_ptr + tl.program_id(0), tl.sum(tl.where(inside, loss, 0.0), axis=0))
    else:
        tl.store(y_ptr + offset, loss.to(y_ptr.dtype.element_ty), mask=inside)


@triton.jit
def total_kernel(part_ptr, y_ptr, parts, divisor, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, parts, BLOCK):
        offset = start + tl.arange(0, BLOCK)
        total += tl.load(part_ptr + offset, mask=offset < parts, other=0.0)
    tl.store(y_ptr, (tl.sum(total, axis=0) / divisor).to(y_ptr.dtype.element_ty))


def margin_ranking_loss(input1, input2, target, margin=0.0, reduction=1):
    x, other, target = input1.contiguous(), input2.contiguous(), target.contiguous()
    parts = triton.cdiv(x.numel(), 1024)
    if reduction == 0:
        y = torch.empty_like(x)
        if parts:
            loss_kernel[(parts,)](x, other, target, margin, y, x.numel(), REDUCED=False, BLOCK=1024)
        return y
    part = torch.empty(max(parts, 1), dtype=torch.float32, device=x.device)
    y = torch.empty((), dtype=x.dtype, device=x.device)
    if parts:
        loss_kernel[(parts,)](x, other, target, margin, part, x.numel(), REDUCED=True, BLOCK=1024)
    total_kernel[(1,)](part, y, parts, float(x.numel()) if reduction == 1 else 1.0, BLOCK=1024)
    return y
