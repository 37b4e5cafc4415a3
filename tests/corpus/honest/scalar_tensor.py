# kgtui: op=aten::scalar_tensor expect=pass
"""A 0-d tensor: one program stores the real part, and for complex dtypes the imaginary part behind it."""

import torch
import triton
import triton.language as tl


@triton.jit
def scalar_kernel(y_ptr, real: tl.float64, imaginary: tl.float64, COMPLEX: tl.constexpr):
    tl.store(y_ptr, real.to(y_ptr.dtype.element_ty))
    if COMPLEX:
        tl.store(y_ptr + 1, imaginary.to(y_ptr.dtype.element_ty))


def scalar_tensor(s, dtype=None, device=None):
    y = torch.empty((), dtype=dtype or torch.float32, device=device)
    value = complex(bool(s) if y.dtype == torch.bool else s)
    parts = torch.view_as_real(y) if y.is_complex() else y.view(torch.int8) if y.dtype == torch.bool else y
    scalar_kernel[(1,)](parts, value.real, value.imag, COMPLEX=y.is_complex())
    return y
