"""Sum of absolute values: result = sum over i < n of |x[i * incx]|.

result: (1,). The buffers are dense, of float64, and may begin at any element of their storage. n is at least 0. Where n
or incx is not positive the result is 0, as BLAS defines it. A NaN makes the result NaN; without one, an infinity makes
it inf. Sums that overflow are outside of the contract. Sums are carried in float64.
"""
# ruff: noqa: N999 -- a problem's file has the operator's own name

from __future__ import annotations

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import Arguments, Layout, Special, normal, rounded, torch
from problems.kit.blas import case_table, placed, vector_buffer, vector_of, widened, write_vector

_rows = case_table("{n} inc {incx}", dtype=DType.FLOAT64, incx=1)
CASES = (
    *_rows(Tier.SMOKE, n=1024),
    *_rows(Tier.SMOKE, n=497, incx=3),
    *_rows(Tier.FULL, n=[0, 1, 17, 32, 71, 127, 128, 129]),
    *_rows(Tier.FULL, n=[1023, 1025, 4113], incx=2),
    *_rows(Tier.FULL, n=40, incx=[0, -1]),
    *_rows(Tier.FULL, n=33, incx=37),
    *_rows(Tier.FULL, n=40001),
    *_rows(Tier.FULL, n=140, incx=2, values=[Special.NAN, Special.INF, Special.NEGATIVE_INF]),
    *_rows(Tier.FULL, n=129, layout=Layout.OFFSET),
    *_rows(Tier.BENCH, n=5333),
    *_rows(Tier.BENCH, n=1 << 24),
    *_rows(Tier.BENCH, n=1 << 20, incx=3),
)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """x: a flat buffer, result: one element that is only written; "nan", "inf" and "-inf" have such an element in x."""
    n, incx = case.size("n"), case.size("incx")
    x, _ = vector_buffer(case, n, incx, rng)
    if case.word("values") != "normal":
        elements = vector_of(x, n, incx).clone()
        elements[0, n // 3] = float(case.word("values"))
        write_vector(x, incx, elements)
    (x,) = placed(case, x)
    return n, x, incx, normal((1,), case.dtype, rng)


def reference(n: int, x: torch.Tensor, incx: int, result: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The sum, as the returned tensor and as the argument."""
    total = widened(vector_of(x, n, incx)).abs().sum(-1) if incx > 0 else torch.zeros_like(result)
    return total, total


def eager(n: int, x: torch.Tensor, incx: int, result: torch.Tensor) -> torch.Tensor:
    """PyTorch's norm of a view of the buffer."""
    if incx <= 0:
        return result.zero_()
    return result.copy_(torch.linalg.vector_norm(vector_of(x, n, incx), ord=1))


def tolerance(case: Case) -> Tolerance:
    """A sum of n non-negative terms."""
    return rounded(case.dtype, terms=case.size("n"))


def cost(case: Case) -> Cost:
    """One absolute value and one addition per element."""
    n = case.size("n") if case.size("incx") > 0 else 0
    return Cost(flops=2 * n, bytes_read=n * case.dtype.bytes, bytes_written=case.dtype.bytes)


PROBLEM = ProblemDefinition(
    name="cublas::cublasDasum_v2",
    entry="cublasDasum_v2",
    signature="cublasDasum_v2(n: int, x: Tensor, incx: int, result: Tensor) -> Tensor",
    summary="sum of absolute values",
    category=Category.BLAS1,
    second_oracle="SciPy's BLAS routine asum, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    mutates=("result",),
    written_only=("result",),
    cannot_reject={
        "mean": "the answer is one number",
        "backwards": "the answer is one number",
    },
)
