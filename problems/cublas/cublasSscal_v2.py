"""Scaled vector: x[i * incx] = alpha * x[i * incx] for i < n.

The buffer is dense, of float32, and may begin at any element of its storage; memory between and after the elements
stays as it is. n is at least 0. Where incx is not positive nothing is written, as BLAS defines it. NaN and infinities
follow IEEE arithmetic. Outside of the contract are NaN and infinities in x where alpha is 0, since the routine may or
may not read x then, and products that overflow. Subnormal values may be flushed to zero.
"""
# ruff: noqa: N999 -- a problem's file has the operator's own name

from __future__ import annotations

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import Arguments, Layout, rounded, scattered, torch
from problems.kit.blas import SPECIAL, case_table, placed, vector_buffer, vector_of, widened, write_vector

_rows = case_table("{n} alpha {alpha} inc {incx}", dtype=DType.FLOAT32, alpha=0.5, incx=1)
CASES = (
    *_rows(Tier.SMOKE, n=1024, alpha=-0.999),
    *_rows(Tier.SMOKE, n=497, alpha=100.001, incx=3),
    *_rows(Tier.FULL, n=[0, 1, 32, 71, 127, 128, 129], alpha=-111.999),
    *_rows(Tier.FULL, n=[1023, 1025, 4113]),
    *_rows(Tier.FULL, n=160, alpha=[0.0, 1.0, 0.001, 1e30, -1e-30], incx=2),
    *_rows(Tier.FULL, n=33, incx=37),
    *_rows(Tier.FULL, n=40, incx=[0, -1]),
    *_rows(Tier.FULL, n=66001),
    *_rows(Tier.FULL, n=140, alpha=-0.5, incx=2, values=SPECIAL),
    *_rows(Tier.FULL, n=129, incx=2, layout=Layout.OFFSET),
    *_rows(Tier.BENCH, n=5333),
    *_rows(Tier.BENCH, n=1 << 24),
    *_rows(Tier.BENCH, n=1 << 20, incx=3),
)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """x: a flat buffer, longer than needed; "special" has special values at random places."""
    n, incx = case.size("n"), case.size("incx")
    x, _ = vector_buffer(case, n, incx, rng)
    if case.word("values") == SPECIAL:
        x = scattered(x, rng, each=9)
    (x,) = placed(case, x)
    return n, case.number("alpha"), x, incx


def reference(n: int, alpha: float, x: torch.Tensor, incx: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The final x, as the returned tensor and as the argument; computed in float64."""
    final = x.clone()
    if incx > 0:
        write_vector(final, incx, (alpha * widened(vector_of(x, n, incx))).to(x.dtype))
    return final, final


def eager(n: int, alpha: float, x: torch.Tensor, incx: int) -> torch.Tensor:
    """PyTorch's product with a view of the buffer."""
    if incx > 0:
        vector_of(x, n, incx).mul_(alpha)
    return x


def tolerance(case: Case) -> Tolerance:
    """One product."""
    return rounded(case.dtype)


def cost(case: Case) -> Cost:
    """One product per element."""
    n = case.size("n") if case.size("incx") > 0 else 0
    return Cost(flops=n, bytes_read=n * case.dtype.bytes, bytes_written=n * case.dtype.bytes)


PROBLEM = ProblemDefinition(
    name="cublas::cublasSscal_v2",
    entry="cublasSscal_v2",
    signature="cublasSscal_v2(n: int, alpha: float, x: Tensor, incx: int) -> Tensor",
    summary="x *= alpha",
    category=Category.BLAS1,
    second_oracle="SciPy's BLAS routine scal, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    mutates=("x",),
)
