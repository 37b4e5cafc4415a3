# kgtui: op=aten::scalar_tensor expect=pass
"""A 0-d tensor: one program stores an integer, or the real part and, for complex dtypes, the imaginary one behind it."""

import torch
import triton
import triton.language as tl


@triton.jit
def scalar_kernel(
    y_ptr, whole: tl.int64, real: tl.float64, imaginary: tl.float64, WHOLE: tl.constexpr, COMPLEX: tl.constexpr,
):
    if WHOLE:
        tl.store(y_ptr, tl.full((), whole, tl.int64).to(y_ptr.dtype.element_ty))
    else:
        tl.store(y_ptr, real.to(y_ptr.dtype.element_ty))
    if COMPLEX:
        tl.store(y_ptr + 1, imaginary.to(y_ptr.dtype.element_ty))


def scalar_tensor(s, dtype=None, device=None):
    y = torch.empty((), dtype=dtype or torch.float32, device=device)
    is_whole = not (y.is_floating_point() or y.is_complex())
    whole = int(bool(s) if y.dtype == torch.bool else s) if is_whole else 0
    value = 0j if is_whole else complex(s)
    parts = torch.view_as_real(y) if y.is_complex() else y.view(torch.int8) if y.dtype == torch.bool else y
    scalar_kernel[(1,)](parts, whole, value.real, value.imag, WHOLE=is_whole, COMPLEX=y.is_complex())
    return y
