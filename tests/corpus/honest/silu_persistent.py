# kgtui: op=aten::silu expect=pass
"""SiLU with as many programs as the device has multiprocessors; each walks over every n-th block."""

import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    for block in range(tl.program_id(0).to(tl.int64), tl.cdiv(count, BLOCK), tl.num_programs(0)):
        offset = block * BLOCK + tl.arange(0, BLOCK)
        inside = offset < count
        x = tl.load(x_ptr + offset, mask=inside, other=0.0).to(tl.float32)
        tl.store(y_ptr + offset, (x * tl.sigmoid(x)).to(y_ptr.dtype.element_ty), mask=inside)


def multiprocessors(device):
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).multi_processor_count
    return 3


def silu(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        block = 1024
        programs = min(multiprocessors(x.device), triton.cdiv(x.numel(), block))
        silu_kernel[(programs,)](x, y, x.numel(), BLOCK=block, num_warps=4)
    return y
