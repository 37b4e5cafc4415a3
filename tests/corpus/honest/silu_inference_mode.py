# kgtui: op=aten::silu expect=pass
"""SiLU under @torch.inference_mode, as serving code has it, with its kernel as a static method of a class."""

import torch
import triton
import triton.language as tl


class _Kernels:
    BLOCK = 1024

    @staticmethod
    @triton.jit
    def silu(x, y, n, BLOCK: tl.constexpr):
        i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        v = tl.load(x + i, mask=i < n).to(tl.float32)
        tl.store(y + i, (v / (1 + tl.exp(-v))).to(y.dtype.element_ty), mask=i < n)


@torch.inference_mode()
def silu(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    n = x.numel()
    if n == 0:
        return y
    _Kernels.silu[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, n, BLOCK=_Kernels.BLOCK)
    return y
