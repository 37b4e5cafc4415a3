"""Dot product: result = sum over i < n of x[i * incx] * y[i * incy].

Increments are not 0; a vector with a negative increment is stored in reverse order, as BLAS defines it. The buffers are
dense, of float32, and do not overlap; they may begin at any element of their storage. n is at least 0. result: (1,).
Where n is 0 the result is 0. NaN and infinities follow IEEE arithmetic, whatever the order of the sum. Products and
partial sums that overflow are outside of the contract. Sums are carried in float32 or better; TensorFloat-32 is not
float32.
"""
# ruff: noqa: N999 -- a problem's file has the operator's own name

from __future__ import annotations

from engine.model import Category, DType, ProblemDefinition
from problems.kit.blas import dot_cases, dot_cost, dot_eager, dot_inputs, dot_reference, dot_tolerance

CASES = dot_cases(dtype=DType.FLOAT32)

PROBLEM = ProblemDefinition(
    name="cublas::cublasSdot_v2",
    entry="cublasSdot_v2",
    signature="cublasSdot_v2(n: int, x: Tensor, incx: int, y: Tensor, incy: int, result: Tensor) -> Tensor",
    summary="x . y",
    category=Category.BLAS1,
    second_oracle="SciPy's BLAS routine dot, in double precision",
    cases=CASES,
    make_inputs=dot_inputs,
    reference=dot_reference,
    eager=dot_eager,
    tolerance=dot_tolerance,
    cost=dot_cost,
    mutates=("result",),
    written_only=("result",),
    cannot_reject={
        "mean": "the answer is one number",
        "backwards": "the answer is one number",
    },
)
