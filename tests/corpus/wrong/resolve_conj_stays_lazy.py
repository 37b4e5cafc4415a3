# kgtui: op=aten::resolve_conj expect=wrong_dtype
"""Copies the stored values and sets the conjugate bit on the copy, in place of writing the conjugate."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offset, tl.load(x_ptr + offset, mask=offset < count), mask=offset < count)


def resolve_conj(self):
    if not self.is_conj():
        return self
    stored = torch.view_as_real(self.conj()).contiguous()
    copied = torch.empty_like(stored)
    if copied.numel():
        copy_kernel[(triton.cdiv(copied.numel(), 1024),)](stored, copied, copied.numel(), BLOCK=1024)
    return torch.view_as_complex(copied).conj()
