# ruff: noqa: N999 -- a problem's file has the operator's own name
"""Scaled vector sum: y[i * incy] = alpha * x[i * incx] + y[i * incy] for i < n.

A vector with a negative increment begins at the far end of its buffer, as BLAS defines it.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Cost, Problem, Tier, Tolerance
from problems.kit import F32, Arguments, cancelling, cases_over, normal, torch

_over = partial(cases_over, dtype=F32, alpha=0.5, incx=1, incy=1, tail=7)
_LABEL = "{n} alpha {alpha} inc {incx} {incy}"

CASES = (
    *_over(Tier.SMOKE, _LABEL, n=1024, alpha=-0.999),
    *_over(Tier.SMOKE, _LABEL, n=497, incx=2, incy=3),
    *_over(Tier.FULL, _LABEL, n=[0, 1, 32, 71, 127, 128, 129]),
    *_over(Tier.FULL, _LABEL, n=[1023, 1025, 4096, 4113, 5333], alpha=100.001),
    *_over(Tier.FULL, _LABEL, n=160, alpha=[0.0, 1.0, 0.001, -111.999], incy=2),
    *_over(Tier.FULL, _LABEL, n=1025, alpha=-0.5, incx=[1, 2, 3], incy=[1, 2, 3]),
    *_over(Tier.FULL, _LABEL, n=300, incx=[-2, 1], incy=[-1, 3, -3]),
    *_over(Tier.FULL, f"{_LABEL} tail {{tail}}", n=[129, 1025], incx=[1, -3], incy=[1, 2], tail=0),
    *_over(Tier.BENCH, _LABEL, n=5333),
    *_over(Tier.BENCH, _LABEL, n=1 << 24, incx=1, incy=1),
    *_over(Tier.BENCH, _LABEL, n=1 << 20, incx=2, incy=3),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """x, y: flat buffers, `tail` longer than needed; what lies between the elements and after them stays as it is."""
    n, incx, incy = case.size("n"), case.size("incx"), case.size("incy")
    spans = ((n - 1) * abs(increment) + 1 if n else 0 for increment in (incx, incy))
    x, y = (normal((span + case.size("tail"),), F32, rng) for span in spans)
    return n, case.number("alpha"), x, incx, y, incy


def reference(
    n: int, alpha: float, x: torch.Tensor, incx: int, y: torch.Tensor, incy: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The final y, as the returned tensor and as the argument; computed in float64."""
    final = y.clone()
    _elements(final, n, incy).copy_(alpha * _beside(x, n, incx, incy).double() + _elements(y, n, incy).double())
    return final, final


def eager(n: int, alpha: float, x: torch.Tensor, incx: int, y: torch.Tensor, incy: int) -> torch.Tensor:
    """The library's own sum on views of the buffers."""
    _elements(y, n, incy).add_(_beside(x, n, incx, incy), alpha=alpha)
    return y


def tolerance(case: Case) -> Tolerance:
    """The product may be rounded before the sum."""
    return cancelling(F32)


def cost(case: Case) -> Cost:
    """A product and a sum an element."""
    n = case.size("n")
    return Cost(flops=2 * n, bytes_read=2 * n * F32.bytes, bytes_written=n * F32.bytes)


def _elements(buffer: torch.Tensor, n: int, increment: int) -> torch.Tensor:
    """The n elements of a buffer that lie `increment` apart, in the order of their addresses."""
    return buffer[: n * abs(increment) : abs(increment)]


def _beside(x: torch.Tensor, n: int, incx: int, incy: int) -> torch.Tensor:
    """The elements of x in the order in which those of y, by their addresses, meet them."""
    elements = _elements(x, n, incx)
    return elements if (incx < 0) == (incy < 0) else elements.flip(0)


PROBLEM = Problem(
    name="cublas::cublasSaxpy_v2",
    entry="cublasSaxpy_v2",
    signature="cublasSaxpy_v2(n: int, alpha: float, x: Tensor, incx: int, y: Tensor, incy: int) -> Tensor",
    summary="y += alpha*x",
    category="blas1",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    origin=f"{__name__}:PROBLEM",
    mutates=("y",),
)
