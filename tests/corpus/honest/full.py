# kgtui: op=aten::full expect=pass
"""A constant: an integer or its parts are launch arguments, cast to the dtype as an element would be."""

import torch
import triton
import triton.language as tl


@triton.jit
def full_kernel(
    y_ptr, count, whole: tl.int64, real: tl.float64, imaginary: tl.float64,
    WHOLE: tl.constexpr, COMPLEX: tl.constexpr, BLOCK: tl.constexpr,
):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    if WHOLE:
        first = tl.zeros((BLOCK,), dtype=tl.int64) + whole
    else:
        first = tl.zeros((BLOCK,), dtype=tl.float64) + real
    if COMPLEX:
        second = tl.zeros((BLOCK,), dtype=tl.float64) + imaginary
        tl.store(y_ptr + 2 * offset, first.to(y_ptr.dtype.element_ty), mask=inside)
        tl.store(y_ptr + 2 * offset + 1, second.to(y_ptr.dtype.element_ty), mask=inside)
    else:
        tl.store(y_ptr + offset, first.to(y_ptr.dtype.element_ty), mask=inside)


def full(size, fill_value, dtype=None, device=None):
    defaults = {bool: torch.bool, int: torch.int64, float: torch.float32, complex: torch.complex64}
    y = torch.empty(size, dtype=dtype or defaults[type(fill_value)], device=device)
    if y.numel():
        is_whole = not (y.is_floating_point() or y.is_complex())
        whole = int(bool(fill_value) if y.dtype == torch.bool else fill_value) if is_whole else 0
        value = 0j if is_whole else complex(fill_value)
        target = torch.view_as_real(y) if y.is_complex() else y.view(torch.int8) if y.dtype == torch.bool else y
        full_kernel[(triton.cdiv(y.numel(), 1024),)](
            target, y.numel(), whole, value.real, value.imag, WHOLE=is_whole, COMPLEX=y.is_complex(), BLOCK=1024
        )
    return y
