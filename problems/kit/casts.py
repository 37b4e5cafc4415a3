"""Shared parts of copies with a cast: values that every target can hold, the tolerance of a cast, the cost.

A cast to a floating dtype rounds to the nearest value, ties to even, and overflows to infinity; float64 may go through
float32 on its way to a half type.  A cast to an integer dtype truncates towards 0. A cast to bool is true for every
value other than 0, including NaN and complex numbers with one nonzero part. A cast of a complex number to another real
dtype keeps the real part.  Numbers beyond an integer dtype, NaN and infinities included, are outside of the contract.
"""

from __future__ import annotations

from engine.model import Case, Cost, DType, FrameworkWork, Tolerance
from problems.kit.cases import result_dtype
from problems.kit.deferred import torch
from problems.kit.layouts import laid_out
from problems.kit.movement import any_values, count
from problems.kit.tolerances import EXACT
from problems.kit.values import torch_dtype

COPIES = (FrameworkWork.COPIES, FrameworkWork.ALLOCATION, FrameworkWork.VIEWS, FrameworkWork.METADATA)
"""The framework may copy and cast, since these operators do nothing else."""
_INTEGERS = (DType.INT64, DType.INT32, DType.INT16, DType.INT8, DType.UINT8)
_MOST = 120.0  # every integer dtype holds it


def castable(
    case: Case, rng: torch.Generator, *, source: DType, target: DType, shape: str = "shape", layout: str = "layout"
) -> torch.Tensor:
    """Values of `source` that `target` can hold.

    For integer targets from 0 to 120, with fractions if the source is floating. For other targets any values; for bool
    a third of them is 0, and of complex numbers another third is imaginary.
    """
    if target in _INTEGERS and source not in (target, DType.BOOL):
        values = (torch.rand(case.shape(shape), generator=rng) * _MOST).to(torch_dtype(source))
    else:
        values = any_values(case.shape(shape), source, rng, special=case.params.get("values") == "special")
    if target is DType.BOOL and source is not target:
        values = _with_zeros(values, rng)
    return laid_out(values, case.word(layout))


def _with_zeros(x: torch.Tensor, rng: torch.Generator) -> torch.Tensor:
    share = torch.rand(x.shape, generator=rng)
    if x.is_complex():
        x = torch.where(share > 2 / 3, torch.complex(torch.zeros_like(x.real), x.imag), x)
    return torch.where(share < 1 / 3, torch.zeros((), dtype=x.dtype), x)


def cast(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """x in another dtype, in new memory, by the rules of the module docstring."""
    if dtype == torch.bool:
        return x != 0
    real = x.real if x.is_complex() and not dtype.is_complex else x
    return real.to(dtype, copy=True)


def cast_tolerance(source: DType, target: DType) -> Tolerance:
    """Bitwise equality; one unit in the last place for casts to a floating dtype of lower precision.

    Hardware rounds, Triton's interpreter truncates, and float64 may be rounded twice; values that become subnormal err
    by a share of the smallest step, far below a typical element.
    """
    held = source is target or (source.epsilon >= target.epsilon > 0.0 and target is not DType.FLOAT16)
    if held or target.epsilon == 0.0 or source is DType.BOOL:
        return EXACT
    return Tolerance(relative=4 * target.epsilon, absolute=target.epsilon)


def copy_cost(case: Case, *, read: int, written: int) -> Cost:
    """Elements of the case's dtype are read, and elements of the result's dtype are written."""
    return Cost(flops=0, bytes_read=read * case.dtype.bytes, bytes_written=written * result_dtype(case).bytes)


def elements(case: Case) -> int:
    """The number of elements of `shape`."""
    return count(case.shape("shape"))
