# kgtui: op=aten::silu expect=pass
"""SiLU by libdevice's exp, imported by name; where an old Triton has no such module, tl.exp goes by the same name."""

import torch
import triton
import triton.language as tl

try:
    from triton.language.extra.libdevice import exp as natural_exp
except ImportError:
    natural_exp = tl.exp


@triton.jit
def _silu(x, y, n, B: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0).to(tl.float32)
    tl.store(y + i, (v / (1.0 + natural_exp(-v))).to(y.dtype.element_ty), mask=i < n)


def silu(self: torch.Tensor) -> torch.Tensor:
    x = self.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        _silu[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), B=256)
    return y
