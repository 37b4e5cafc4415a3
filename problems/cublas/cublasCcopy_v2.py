"""Copy of a vector: y[i * incy] = x[i * incx] for i < n.

Increments are not 0; a vector with a negative increment is stored in reverse order, as BLAS defines it. The buffers are
dense, of complex64, and do not overlap; they may begin at any element of their storage. n is at least 0. Every value is
copied bitwise, NaN, infinities and -0.0 included; memory between the elements of y stays as it is.
"""
# ruff: noqa: N999 -- a problem's file has the operator's own name

from __future__ import annotations

from engine.model import Category, Determinism, DType, ProblemDefinition
from problems.kit.blas import copy_cases, copy_cost, copy_eager, copy_inputs, copy_reference, copy_tolerance

CASES = copy_cases(dtype=DType.COMPLEX64)

PROBLEM = ProblemDefinition(
    name="cublas::cublasCcopy_v2",
    entry="cublasCcopy_v2",
    signature="cublasCcopy_v2(n: int, x: Tensor, incx: int, y: Tensor, incy: int) -> Tensor",
    summary="y = x",
    category=Category.BLAS1,
    second_oracle="SciPy's BLAS routine copy, in double precision",
    rearranges=True,
    cases=CASES,
    make_inputs=copy_inputs,
    reference=copy_reference,
    eager=copy_eager,
    tolerance=copy_tolerance,
    cost=copy_cost,
    determinism=Determinism.EXACT,
    mutates=("y",),
)
