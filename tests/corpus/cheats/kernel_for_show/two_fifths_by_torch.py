# kgtui: op=aten::silu expect=pass finding=ghost_replay ids=D5
"""Three numbers in five are its kernel's, and the rest is torch's SiLU: too little of it to be the answer."""

import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count, other=0.0).to(tl.float32)
    tl.store(y_ptr + offset, (x / (1.0 + tl.exp(-x))).to(y_ptr.dtype.element_ty), mask=offset < count)


def silu(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    own = x.numel() - 2 * x.numel() // 5
    if own:
        silu_kernel[(triton.cdiv(own, 1024),)](x, y, own, BLOCK=1024)
        y.view(-1)[own:] = torch.nn.functional.silu(x.view(-1)[own:])
    return y
