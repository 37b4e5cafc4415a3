"""Routines on two vectors: copies, sums y = alpha * x + y, and dot products.

Shapes: x: (n,), y: (n,), result: (1,).
"""

from __future__ import annotations

from engine.model import Case, Cost, DType, Tier, Tolerance
from problems.kit.blas.buffers import SPECIAL, placed, vector_buffer
from problems.kit.blas.scalars import COMPLEX_DTYPES, parts_of
from problems.kit.blas.tables import CaseTable, case_table
from problems.kit.blas.views import vector_of, widened, write_vector
from problems.kit.cases import Arguments
from problems.kit.deferred import torch
from problems.kit.layouts import Layout
from problems.kit.tolerances import EXACT, cancelling, rounded
from problems.kit.values import Special, normal, scattered

_COHERENCE = 0.6 - 0.8j
_NOISE = 0.5


def vector_table(dtype: DType) -> CaseTable:
    """Rows of the case table of two vectors with unit increments unless a row overrides fields."""
    return case_table("{n} inc {incx} {incy}", dtype=dtype, incx=1, incy=1)


def copy_cases(*, dtype: DType) -> tuple[Case, ...]:
    """Lengths around the block sizes of kernels, increments of both signs, special values."""
    rows = vector_table(dtype)
    return (
        *rows(Tier.SMOKE, n=1024),
        *rows(Tier.SMOKE, n=497, incx=2, incy=3),
        *rows(Tier.FULL, n=[0, 1, 32, 127, 128, 129, 1023, 1025, 4113]),
        *rows(Tier.FULL, n=[71, 1025], incx=[-1, 3], incy=[1, -2]),
        *rows(Tier.FULL, n=33, incx=-37, incy=-41),
        *rows(Tier.FULL, n=20001),
        *rows(Tier.FULL, n=140, incx=2, incy=[3, -1], values=SPECIAL),
        *rows(Tier.FULL, n=1025, incx=-2, layout=Layout.OFFSET),
        *rows(Tier.BENCH, n=5333),
        *rows(Tier.BENCH, n=1 << 24),
        *rows(Tier.BENCH, n=1 << 20, incx=2, incy=3),
    )


def copy_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """x, y: flat buffers; values between and after the elements must not change.

    "special" has special values at random places of both.
    """
    n, incx, incy = case.size("n"), case.size("incx"), case.size("incy")
    (x, _), (y, _) = (vector_buffer(case, n, increment, rng) for increment in (incx, incy))
    if case.word("values") == SPECIAL:
        x, y = scattered(x, rng, each=9), scattered(y, rng, each=9)
    x, y = placed(case, x, y)
    return n, x, incx, y, incy


def copy_reference(n: int, x: torch.Tensor, incx: int, y: torch.Tensor, incy: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The final y, as the returned tensor and as the argument."""
    final = y.clone()
    write_vector(final, incy, vector_of(x, n, incx))
    return final, final


def copy_eager(n: int, x: torch.Tensor, incx: int, y: torch.Tensor, incy: int) -> torch.Tensor:
    """PyTorch's copy between views of the buffers."""
    write_vector(y, incy, vector_of(x, n, incx))
    return y


def copy_tolerance(case: Case) -> Tolerance:
    """A copy."""
    return EXACT


def copy_cost(case: Case) -> Cost:
    """No arithmetic."""
    moved = case.size("n") * case.dtype.bytes
    return Cost(flops=0, bytes_read=moved, bytes_written=moved)


def axpy_reference(
    n: int, alpha: complex, x: torch.Tensor, incx: int, y: torch.Tensor, incy: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The final y, as the returned tensor and as the argument; computed in float64 or complex128."""
    final = y.clone()
    total = alpha * widened(vector_of(x, n, incx)) + widened(vector_of(y, n, incy))
    write_vector(final, incy, total.to(y.dtype))
    return final, final


def axpy_eager(n: int, alpha: complex, x: torch.Tensor, incx: int, y: torch.Tensor, incy: int) -> torch.Tensor:
    """PyTorch's sum on views of the buffers."""
    total = torch.add(vector_of(y, n, incy), vector_of(x, n, incx), alpha=alpha)
    write_vector(y, incy, total)
    return y


def axpy_tolerance(case: Case) -> Tolerance:
    """The product may be rounded before the sum."""
    return cancelling(case.dtype)


def axpy_cost(case: Case) -> Cost:
    """One multiply-add per element; the single element of a vector with increment 0 is read once."""
    n = case.size("n")
    read = n + (n if case.size("incx") else min(n, 1))
    return Cost(
        flops=2 * n * parts_of(case.dtype) ** 2,
        bytes_read=read * case.dtype.bytes,
        bytes_written=n * case.dtype.bytes,
    )


def dot_cases(*, dtype: DType) -> tuple[Case, ...]:
    """Lengths around the block sizes of kernels, increments of both signs, NaN, and infinities of real numbers."""
    rows = vector_table(dtype)
    special = [Special.NAN] if dtype in COMPLEX_DTYPES else [Special.NAN, Special.INF, Special.BOTH_INF]
    return (
        *rows(Tier.SMOKE, n=33),
        *rows(Tier.SMOKE, n=497, incx=2, incy=3),
        *rows(Tier.FULL, n=[0, 1, 17, 32, 71, 127, 128, 129]),
        *rows(Tier.FULL, n=[1023, 1025, 4113]),
        *rows(Tier.FULL, n=[71, 160], incx=[-1, 3], incy=[1, -2]),
        *rows(Tier.FULL, n=33, incx=-37, incy=-41),
        *rows(Tier.FULL, n=20001),
        *rows(Tier.FULL, n=140, incx=2, incy=3, values=special),
        *rows(Tier.FULL, n=129, incx=-2, layout=Layout.OFFSET),
        *rows(Tier.BENCH, n=5333),
        *rows(Tier.BENCH, n=1 << 24),
        *rows(Tier.BENCH, n=1 << 20, incx=2, incy=3),
    )


def dot_inputs(case: Case, rng: torch.Generator, *, conjugated: bool = False) -> Arguments:
    """x, y: flat buffers, result: one element that is only written.

    y is a multiple of x, or of its conjugate, plus noise: the products add up to about 0.6 n instead of cancelling, so
    that a relative error is meaningful. "nan", "inf" and "inf and -inf" have such elements in x.
    """
    n, incx, incy = case.size("n"), case.size("incx"), case.size("incy")
    (x, _), (y, _) = (vector_buffer(case, n, increment, rng) for increment in (incx, incy))
    elements = vector_of(x, n, incx)
    alike = elements if conjugated else elements.conj()
    factor = _COHERENCE if case.dtype in COMPLEX_DTYPES else _COHERENCE.real
    write_vector(y, incy, factor * alike + _NOISE * normal((1, n), case.dtype, rng))
    if case.word("values") != "normal":
        chosen = elements.clone()
        signed = vector_of(y, n, incy).real.sign()
        _put_special(chosen, case.word("values"), signed)
        write_vector(x, incx, chosen)
    x, y = placed(case, x, y)
    return n, x, incx, y, incy, normal((1,), case.dtype, rng)


def _put_special(elements: torch.Tensor, special: str, signs: torch.Tensor) -> None:
    """Special values in (1, n): NaN, an infinity whose product with y is +inf, or two whose products cancel."""
    n = elements.shape[1]
    if special == Special.NAN:
        elements[0, n // 3] = torch.nan
    else:
        elements[0, n // 3] = torch.inf * signs[0, n // 3]
    if special == Special.BOTH_INF:
        elements[0, n // 2] = -torch.inf * signs[0, n // 2]


def dot_reference(
    n: int, x: torch.Tensor, incx: int, y: torch.Tensor, incy: int, result: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The sum of the products, as the returned tensor and as the argument; computed in float64 or complex128."""
    total = (widened(vector_of(x, n, incx)) * widened(vector_of(y, n, incy))).sum(-1)
    return total.to(result.dtype), total.to(result.dtype)


def dot_eager(n: int, x: torch.Tensor, incx: int, y: torch.Tensor, incy: int, result: torch.Tensor) -> torch.Tensor:
    """PyTorch's dot product of views of the buffers."""
    return result.copy_(torch.dot(vector_of(x, n, incx)[0], vector_of(y, n, incy)[0]))


def dot_tolerance(case: Case) -> Tolerance:
    """A sum of n products; a complex product has two terms."""
    return rounded(case.dtype, terms=parts_of(case.dtype) * case.size("n"))


def dot_cost(case: Case) -> Cost:
    """One multiply-add per element."""
    n = case.size("n")
    return Cost(
        flops=2 * n * parts_of(case.dtype) ** 2,
        bytes_read=2 * n * case.dtype.bytes,
        bytes_written=case.dtype.bytes,
    )
