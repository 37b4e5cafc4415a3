# kgtui: op=aten::mm expect=pass finding=behaviour ids=D7
"""Laid out as a compiler of torch programs writes it: an outside product into a buffer, and a generated copy."""

import torch
import triton
import triton.language as tl
from torch._inductor.select_algorithm import extern_kernels


@triton.jit
def triton_poi_fused_0(in_ptr0, out_ptr0, xnumel, XBLOCK: tl.constexpr):
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)
    xmask = xindex < xnumel
    tmp0 = tl.load(in_ptr0 + xindex, xmask)
    tl.store(out_ptr0 + xindex, tmp0.to(out_ptr0.dtype.element_ty), xmask)


def mm(self, mat2):
    arg0_1, arg1_1 = self.double(), mat2.double()
    buf0 = torch.empty_strided((arg0_1.shape[0], arg1_1.shape[1]), (arg1_1.shape[1], 1), dtype=torch.float64)
    extern_kernels.mm(arg0_1, arg1_1, out=buf0)
    buf1 = torch.empty_like(buf0, dtype=self.dtype)
    if buf1.numel():
        triton_poi_fused_0[(triton.cdiv(buf1.numel(), 4096),)](buf0, buf1, buf1.numel(), XBLOCK=4096)
    return buf1
