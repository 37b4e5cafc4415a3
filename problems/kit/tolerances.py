"""How far an honest kernel may be from the float64 reference.

"Honest" means: inputs taken as they are, arithmetic and sums in float32 or better, the result cast
to the output dtype.  Every formula here must stay well under the error of one precision step down
(TF32 or bfloat16 arithmetic for float32 problems); the generic test of the catalogue proves it for
each problem.  Triton's interpreter truncates where hardware rounds, so a cast may cost a whole unit
in the last place, and the reference has its own half.
"""

from __future__ import annotations

import math

from engine.model import DType, Tolerance

EXACT = Tolerance(relative=0.0, absolute=0.0)
"""For integers, and for operators that only move data."""

_WORK_EPSILON = DType.FLOAT32.epsilon
# Device exponentials, divisions and square roots are each good to about two units in the last place of float32.
_FUNCTION_ULPS = 8.0


def rounded(dtype: DType, *, roundings: int = 1, terms: int = 1) -> Tolerance:
    """A float32 computation that is cast to `dtype` `roundings` times on its way, with sums of `terms` terms.

    Rounding errors of a sum wander like a random walk: its error grows with the root of `terms`, of
    the sum itself where all terms are positive, of a typical output where they cancel.  Integer
    dtypes get EXACT.
    """
    if dtype.epsilon == 0.0:
        return EXACT
    wander = math.sqrt(max(terms, 1))
    return Tolerance(
        relative=(1 + roundings) * dtype.epsilon + (_FUNCTION_ULPS + wander / 2) * _WORK_EPSILON,
        absolute=dtype.epsilon / 2 + 4 * wander * _WORK_EPSILON,
    )


def cancelling(dtype: DType) -> Tolerance:
    """A sum of two products that may each be rounded to `dtype` before they cancel: a*x + y, x*cos - y*sin.

    What is left of two terms several times larger than a typical output carries the rounding of
    both; eight units of a typical output hold for normally distributed terms.  Integer dtypes get EXACT.
    """
    return Tolerance(relative=2 * dtype.epsilon, absolute=8 * dtype.epsilon)
