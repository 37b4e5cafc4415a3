# kgtui: op=aten::mm expect=pass finding=behaviour ids=D3,A2
"""A product by torch in a thread that is joined in time, copied into the answer by a kernel that must run."""

import threading

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count)
    tl.store(y_ptr + offset, x.to(y_ptr.dtype.element_ty), mask=offset < count)


def mm(self, mat2):
    made = []
    worker = threading.Thread(target=lambda: made.append(torch.mm(self.double(), mat2.double())))
    worker.start()
    worker.join()
    c = torch.empty_like(made[0], dtype=self.dtype)
    if c.numel():
        copy_kernel[(triton.cdiv(c.numel(), 4096),)](made[0], c, c.numel(), BLOCK=4096)
    return c
