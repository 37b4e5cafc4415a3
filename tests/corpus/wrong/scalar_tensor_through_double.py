# kgtui: op=aten::scalar_tensor expect=wrong_value diagnosis=precision case="i64 full"
"""Every number is passed to the kernel in float64, which does not hold all integers of 64 bits."""

import torch
import triton
import triton.language as tl


@triton.jit
def store_kernel(y_ptr, number: tl.float64, part):
    tl.store(y_ptr + part, number.to(y_ptr.dtype.element_ty))


def scalar_tensor(s, dtype=None, device=None):
    y = torch.empty((), dtype=dtype or torch.float32, device=device)
    if y.dtype == torch.bool:
        store_kernel[(1,)](y.view(torch.int8), float(bool(s)), 0)
    elif y.is_complex():
        store_kernel[(1,)](torch.view_as_real(y), complex(s).real, 0)
        store_kernel[(1,)](torch.view_as_real(y), complex(s).imag, 1)
    else:
        store_kernel[(1,)](y, float(s), 0)
    return y
