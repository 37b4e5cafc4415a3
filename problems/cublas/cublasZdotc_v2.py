"""Dot product with conjugation: result = sum over i < n of conj(x[i * incx]) * y[i * incy], complex.

Increments are not 0; a vector with a negative increment is stored in reverse order, as BLAS defines it. The buffers are
dense, of complex128, and do not overlap; they may begin at any element of their storage. n is at least 0. x is
conjugated. result: (1,). Where n is 0 the result is 0. A NaN makes the result NaN; the result of infinities in a
complex product is unspecified. Sums are carried in float64.
"""
# ruff: noqa: N999 -- a problem's file has the operator's own name

from __future__ import annotations

from engine.model import Case, Category, DType, ProblemDefinition
from problems.kit import Arguments, torch
from problems.kit.blas import dot_cases, dot_cost, dot_eager, dot_inputs, dot_reference, dot_tolerance

CASES = dot_cases(dtype=DType.COMPLEX128)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """x, y: flat buffers, y a multiple of x and noise, so that the products add up; result: one element."""
    return dot_inputs(case, rng, conjugated=True)


def reference(
    n: int, x: torch.Tensor, incx: int, y: torch.Tensor, incy: int, result: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The sum of the products with the conjugate of x, computed in complex128."""
    return dot_reference(n, x.conj().resolve_conj(), incx, y, incy, result)


def eager(n: int, x: torch.Tensor, incx: int, y: torch.Tensor, incy: int, result: torch.Tensor) -> torch.Tensor:
    """PyTorch's dot product with the conjugate of x."""
    return dot_eager(n, x.conj().resolve_conj(), incx, y, incy, result)


PROBLEM = ProblemDefinition(
    name="cublas::cublasZdotc_v2",
    entry="cublasZdotc_v2",
    signature="cublasZdotc_v2(n: int, x: Tensor, incx: int, y: Tensor, incy: int, result: Tensor) -> Tensor",
    summary="conj(x) . y",
    category=Category.BLAS1,
    second_oracle="SciPy's BLAS routine dotc, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=dot_tolerance,
    cost=dot_cost,
    mutates=("result",),
    written_only=("result",),
    cannot_reject={
        "mean": "the answer is one number",
        "backwards": "the answer is one number",
        "infinities_clamped": "the result of infinities in a complex product is unspecified",
    },
)
