# kgtui: op=aten::silu expect=pass
"""Two functions of one name, each a constant of a kernel."""

import torch
import triton
import triton.language as tl

def first():
    @triton.jit
    def act(x):
        return tl.where(x == x, 1.0, x)
    return act

def second():
    @triton.jit
    def act(x):
        return tl.sigmoid(x)
    return act

GATES = {"one": first(), "sigmoid": second()}

@triton.jit
def gate_kernel(x, y, n, ACT: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n).to(tl.float32)
    tl.store(y + i, (v * ACT(v)).to(y.dtype.element_ty), mask=i < n)

def silu(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    t = torch.empty_like(x)
    if x.numel():
        g = (triton.cdiv(x.numel(), 512),)
        gate_kernel[g](x, t, x.numel(), ACT=GATES["one"], B=512)
        gate_kernel[g](t, y, x.numel(), ACT=GATES["sigmoid"], B=512)
    return y
