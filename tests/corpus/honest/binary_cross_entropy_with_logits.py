# kgtui: op=aten::binary_cross_entropy_with_logits expect=pass
"""Cross entropy of logits by a stable log-sigmoid; weights are broadcast to the shape of the logits first."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def loss_kernel(x_ptr, target_ptr, weight_ptr, positive_ptr, y_ptr, count, REDUCED: tl.constexpr, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside, other=0).to(tl.float32)
    target = tl.load(target_ptr + offset, mask=inside, other=0).to(tl.float32)
    log_sigmoid = tl.where(x < 0, x, tl.where(x != x, x, 0.0)) - libdevice.log1p(tl.exp(-tl.abs(x)))
    scale = 1.0
    if positive_ptr is not None:
        scale = 1.0 + (tl.load(positive_ptr + offset, mask=inside, other=0).to(tl.float32) - 1.0) * target
    loss = (1.0 - target) * x - scale * log_sigmoid
    if weight_ptr is not None:
        loss *= tl.load(weight_ptr + offset, mask=inside, other=0).to(tl.float32)
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


def binary_cross_entropy_with_logits(self, target, weight=None, pos_weight=None, reduction=1):
    x, target = self.contiguous(), target.contiguous()
    weight, positive = (None if w is None else w.expand(x.shape).contiguous() for w in (weight, pos_weight))
    parts = triton.cdiv(x.numel(), 1024)
    if reduction == 0:
        y = torch.empty_like(x)
        if parts:
            loss_kernel[(parts,)](x, target, weight, positive, y, x.numel(), REDUCED=False, BLOCK=1024)
        return y
    part = torch.empty(max(parts, 1), dtype=torch.float32, device=x.device)
    y = torch.empty((), dtype=x.dtype, device=x.device)
    if parts:
        loss_kernel[(parts,)](x, target, weight, positive, part, x.numel(), REDUCED=True, BLOCK=1024)
    total_kernel[(1,)](part, y, parts, float(x.numel()) if reduction == 1 else 1.0, BLOCK=1024)
    return y
