"""How far an honest kernel may be from the float64 reference.

"Honest" means: inputs taken as they are, arithmetic and sums in float32 or better (float64 for
float64 and complex128), the result cast to the output dtype.  Every formula here must stay well
under the error of one precision step down (TF32 or bfloat16 arithmetic for float32 problems, float32
for float64 ones); the generic test of the catalogue proves it for each problem.
Triton's interpreter truncates where hardware rounds, so a cast may cost a whole unit in the last
place, and the reference has its own half.
"""

from __future__ import annotations

import math
from dataclasses import replace

from engine.model import DType, Tolerance

EXACT = Tolerance(relative=0.0, absolute=0.0)
"""For integers, and for operators that only move data."""

_WIDE = (DType.FLOAT64, DType.COMPLEX128)
# Exponentials, divisions and square roots on devices have errors of about 2 ulp of float32 each.
_FUNCTION_ULPS = 8.0
# 2 ** -14: an eighth of the 2 ** -11 by which TF32 rounds an input.
_MOST_SUM_ULPS = 512.0
_FEW_OUTPUTS = 16  # the root mean square of this many independent values is rarely below half of the typical one


def rounded(dtype: DType, *, roundings: int = 1, terms: int = 1) -> Tolerance:
    """A float32 computation that is cast to `dtype` `roundings` times on its way, with sums of `terms` terms.

    For float64 and complex128 it is a float64 computation; a complex product counts as two terms.

    A sum whose terms cancel errs like a random walk: with the root of `terms`, in units of a typical
    output.  A sum of positive terms, taken one after another, loses every term under half a unit of
    the running sum, as a peaked softmax shows: a quarter of a unit for each term is allowed, up to
    the limit where TF32 would begin to pass.  Integer dtypes get EXACT.
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
    """A sum of two products that may each be rounded to `dtype` before they cancel: a*x + y, x*cos - y*sin.

    What is left of two terms several times larger than a typical output carries the rounding of
    both; eight units of a typical output hold for normally distributed terms.  Integer dtypes get EXACT.
    """
    return Tolerance(relative=2 * dtype.epsilon, absolute=8 * dtype.epsilon)


def of_few(tolerance: Tolerance, *, outputs: int, scale: float) -> Tolerance:
    """The tolerance with `scale` as its least one, where there are only a few outputs.

    What they are made of is rounded by its own size.  An output that cancels to nearly nothing is one of many where
    there are many, and their root mean square is that of the terms; alone it says nothing of them.  `scale` is the
    root mean square of such an output over all draws, or less.
    """
    return replace(tolerance, least_scale=scale) if outputs <= _FEW_OUTPUTS else tolerance


def _work_epsilon(dtype: DType) -> float:
    """The rounding step of the arithmetic that an output of `dtype` is computed in."""
    return dtype.epsilon if dtype in _WIDE else DType.FLOAT32.epsilon
