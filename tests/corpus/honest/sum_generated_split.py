# kgtui: op=aten::sum expect=pass
"""In the way of generated code: a split reduction and one over its parts; a copy is made where no view is possible."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def red_fused_sum_0(
    in_ptr0, out_ptr0, stride0, stride1, xnumel, rnumel, per_split,
    XBLOCK: tl.constexpr, RBLOCK: tl.constexpr, ACC: tl.constexpr,
):
    xindex = (tl.program_id(0).to(tl.int64) * XBLOCK + tl.arange(0, XBLOCK))[:, None]
    xmask = xindex < xnumel
    split = tl.program_id(1)
    rbase = tl.arange(0, RBLOCK)[None, :]
    _tmp2 = tl.full([XBLOCK, RBLOCK], 0, ACC)
    for roffset in range(0, per_split, RBLOCK):
        rindex = roffset + rbase
        r1 = (split * per_split + rindex).to(tl.int64)
        rmask = (rindex < per_split) & (r1 < rnumel)
        tmp0 = tl.load(in_ptr0 + (xindex * stride0 + r1 * stride1), xmask & rmask, other=0)
        _tmp2 += tl.broadcast_to(tmp0.to(ACC), [XBLOCK, RBLOCK])
    tmp2 = tl.sum(_tmp2, 1)[:, None]
    tl.store(out_ptr0 + (xindex * tl.num_programs(1) + split), tmp2.to(out_ptr0.dtype.element_ty), xmask)


@triton.jit
def per_fused_sum_1(in_ptr0, out_ptr0, RNUMEL: tl.constexpr):
    xindex = tl.program_id(0)
    rindex = tl.arange(0, RNUMEL)
    tmp0 = tl.load(in_ptr0 + (rindex + RNUMEL * xindex))
    tl.store(out_ptr0 + xindex, tl.sum(tmp0, 0).to(out_ptr0.dtype.element_ty))


def sum(self, dim=None, keepdim=False, dtype=None):
    if self.ndim == 0:
        return sum(self.reshape(1), None, False, dtype)
    dims = sorted({d % self.ndim for d in (dim or range(self.ndim))})
    kept = [d for d in range(self.ndim) if d not in dims]
    dtype = dtype or (self.dtype if self.dtype.is_floating_point else torch.int64)
    shape = [1 if d in dims else size for d, size in enumerate(self.shape) if keepdim or d not in dims]
    buf1 = torch.empty(shape, dtype=dtype, device=self.device)
    if buf1.numel() == 0:
        return buf1
    xnumel, rnumel = buf1.numel(), math.prod(self.shape[d] for d in dims)
    rows = self.permute(kept + dims)
    try:
        rows = rows.view(xnumel, rnumel)
    except RuntimeError:
        rows = rows.contiguous().view(xnumel, rnumel)
    acc, name = (torch.int64, tl.int64) if not dtype.is_floating_point else (torch.float32, tl.float32)
    if dtype == torch.float64:
        acc, name = torch.float64, tl.float64
    splits = min(256, triton.next_power_of_2(max(1, rnumel // 4096)))
    buf0 = buf1 if splits == 1 else torch.empty((xnumel, splits), dtype=acc, device=self.device)
    red_fused_sum_0[(triton.cdiv(xnumel, 4), splits)](
        rows, buf0, *rows.stride(), xnumel, rnumel, triton.cdiv(rnumel, splits), XBLOCK=4, RBLOCK=512, ACC=name,
    )
    if splits > 1:
        per_fused_sum_1[(xnumel,)](buf0, buf1, RNUMEL=splits)
    return buf1
