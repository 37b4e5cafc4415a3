"""Tolerances: permitted distances of a correct kernel from the float64 reference.

"Correct" means: inputs used unchanged, arithmetic and sums in float32 or better (float64 for float64 and complex128),
the result cast to the output dtype.  Every formula here must stay well under the error of one precision step down (TF32
or bfloat16 arithmetic for float32 problems, float32 for float64 ones); the generic test of the catalogue proves it for
each problem. Triton's interpreter truncates where hardware rounds, so a cast may have an error of a whole unit in the
last place, and the rounding of the reference another half.
"""

from __future__ import annotations

import math
from dataclasses import replace

from engine.model import DType, Tolerance

EXACT = Tolerance(relative=0.0, absolute=0.0, signed_zeros=True)
"""For integers, and for operators that only move data: -0.0 stays -0.0."""
EQUAL = Tolerance(relative=0.0, absolute=0.0)
"""For operators whose floating-point answers are exact, but where the sign of a zero is not part of the contract."""

_WIDE = (DType.FLOAT64, DType.COMPLEX128)
# Exponentials, divisions and square roots on devices have errors of about 2 ulp of float32 each.
_FUNCTION_ULPS = 8.0
# 2 ** -14: an eighth of the 2 ** -11 by which TF32 rounds an input.
_MOST_SUM_ULPS = 512.0
_FEW_OUTPUTS = 16  # the root mean square of this many independent values is rarely below half of the typical one


def rounded(dtype: DType, *, roundings: int = 1, terms: int = 1) -> Tolerance:
    """Tolerance of a float32 computation with `roundings` casts to `dtype` and sums of `terms` terms.

    For float64 and complex128 it is a float64 computation; a complex product counts as two terms.

    The error of a sum whose terms cancel grows like a random walk: with the square root of `terms`, in units of a
    typical output. A sequential sum of positive terms, such as that of a peaked softmax, loses every term below half a
    unit of the running sum: a quarter of a unit is allowed for each term, up to the limit at which TF32 would pass.
    Integer dtypes get EXACT.
    """
    if dtype.epsilon == 0.0:
        return EXACT
    work_epsilon = _work_epsilon(dtype)
    lost_ulps = min(terms / 4, _MOST_SUM_ULPS)
    wander_ulps = 4 * math.sqrt(max(terms, 1))
    return Tolerance(
        relative=(1 + roundings) * dtype.epsilon + (_FUNCTION_ULPS + lost_ulps) * work_epsilon,
        absolute=dtype.epsilon / 2 + wander_ulps * work_epsilon,
    )


def cancelling(dtype: DType) -> Tolerance:
    """Tolerance of a sum of two products, each possibly rounded to `dtype`, which cancel: a*x + y, x*cos - y*sin.

    The difference of two terms that are several times larger than a typical output contains the rounding errors of
    both; eight units of a typical output suffice for normally distributed terms.  Integer dtypes get EXACT.
    """
    if dtype.epsilon == 0.0:
        return EXACT
    return Tolerance(relative=2 * dtype.epsilon, absolute=8 * dtype.epsilon)


def of_few(tolerance: Tolerance, *, outputs: int, scale: float) -> Tolerance:
    """The tolerance with a scale of at least `scale`, for a small number of outputs.

    The terms of an output are rounded in proportion to their own size. Among many outputs a few may cancel to nearly
    zero, and the root mean square of all still reflects the terms; that of a single output does not. `scale` is at most
    the root mean square of such an output over all draws.
    """
    return replace(tolerance, least_scale=scale) if outputs <= _FEW_OUTPUTS else tolerance


def _work_epsilon(dtype: DType) -> float:
    """The rounding step of the arithmetic that computes an output of `dtype`."""
    return dtype.epsilon if dtype in _WIDE else DType.FLOAT32.epsilon
