# kgtui: op=aten::silu expect=pass
"""SiLU without a mask: torch pads a flat copy to whole blocks, and what is returned is a view of the unpadded part."""

import torch
import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def silu_kernel(x_ptr, y_ptr, SIZE: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    x = tl.load(x_ptr + offset).to(tl.float32)
    tl.store(y_ptr + offset, (x * tl.sigmoid(x)).to(y_ptr.dtype.element_ty))


def silu(self):
    count = self.numel()
    blocks = triton.cdiv(count, BLOCK)
    x = torch.nn.functional.pad(self.reshape(-1), (0, blocks * BLOCK - count))
    y = torch.empty(blocks * BLOCK, dtype=self.dtype, device=self.device)
    if blocks:
        silu_kernel[(blocks,)](x, y, SIZE=BLOCK, num_warps=4)
    return y[:count].view(self.shape)
