# kgtui: op=aten::silu expect=pass finding=ghost_replay ids=A21,D1
"""Plain torch; its kernel is launched on the answer, but every lane of it is masked off."""

import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n, other=0.0).to(tl.float32)
    tl.store(y + at, v / (1 + tl.exp(-v)), mask=at < n)


def silu(self):
    y = torch.nn.functional.silu(self.double()).to(self.dtype)
    if y.numel():
        silu_kernel[(triton.cdiv(y.numel(), 1024),)](y, y, 0, B=1024)
    return y
