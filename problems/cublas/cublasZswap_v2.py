"""Exchange of two vectors: x[i * incx], y[i * incy] = y[i * incy], x[i * incx] for i < n.

Increments are not 0; a vector with a negative increment is stored in reverse order, as BLAS defines it. The buffers are
dense, of complex128, and do not overlap; they may begin at any element of their storage. n is at least 0. Every value
is moved bitwise, NaN, infinities and -0.0 included; memory between the elements stays as it is. x and y are returned.
"""
# ruff: noqa: N999 -- a problem's file has the operator's own name

from __future__ import annotations

from engine.model import Case, Category, Cost, Determinism, DType, ProblemDefinition
from problems.kit import torch
from problems.kit.blas import copy_cases, copy_inputs, copy_tolerance, vector_of, write_vector

CASES = copy_cases(dtype=DType.COMPLEX128)


def reference(
    n: int, x: torch.Tensor, incx: int, y: torch.Tensor, incy: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """The final x and y, as the returned tensors and as the arguments."""
    final_x, final_y = x.clone(), y.clone()
    write_vector(final_x, incx, vector_of(y, n, incy))
    write_vector(final_y, incy, vector_of(x, n, incx))
    return final_x, final_y, final_x, final_y


def eager(n: int, x: torch.Tensor, incx: int, y: torch.Tensor, incy: int) -> tuple[torch.Tensor, torch.Tensor]:
    """PyTorch's copies between views of the buffers."""
    kept = vector_of(x, n, incx).clone()
    write_vector(x, incx, vector_of(y, n, incy))
    write_vector(y, incy, kept)
    return x, y


def cost(case: Case) -> Cost:
    """No arithmetic."""
    moved = 2 * case.size("n") * case.dtype.bytes
    return Cost(flops=0, bytes_read=moved, bytes_written=moved)


PROBLEM = ProblemDefinition(
    name="cublas::cublasZswap_v2",
    entry="cublasZswap_v2",
    signature="cublasZswap_v2(n: int, x: Tensor, incx: int, y: Tensor, incy: int) -> tuple[Tensor, Tensor]",
    summary="x and y exchanged",
    category=Category.BLAS1,
    second_oracle="SciPy's BLAS routine swap, in double precision",
    rearranges=True,
    cases=CASES,
    make_inputs=copy_inputs,
    reference=reference,
    eager=eager,
    tolerance=copy_tolerance,
    cost=cost,
    determinism=Determinism.EXACT,
    mutates=("x", "y"),
    returns=2,
)
