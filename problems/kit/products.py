"""What matrix products share: operands, the reference in double precision, and the tolerance."""

from __future__ import annotations

from engine.model import Case, Tolerance
from problems.kit.deferred import torch
from problems.kit.indexing.positions import wide_dtype
from problems.kit.layouts import laid_out
from problems.kit.movement import any_values
from problems.kit.tolerances import rounded
from problems.kit.values import Special, integers, special_rows

_ROWS = [Special.NAN, Special.INF, Special.NEGATIVE_INF, Special.SUBNORMAL]
_COLUMNS = [Special.NAN, Special.NEGATIVE_INF]


def operand(
    case: Case, shape: tuple[int, ...], rng: torch.Generator, *, layout: str, rows: bool = True
) -> torch.Tensor:
    """One factor by the parameter `values`.

    "mixed" has rows of several magnitudes; "integers" small whole numbers, which make every float32 sum exact in any
    order; "special" NaN and infinities in some rows of a left factor, columns of a right one (`rows` false).  Partial
    sums that overflow are left out: their order decides.
    """
    values = case.word("values")
    if values == "integers":
        return laid_out(integers(shape, case.dtype, rng, low=-2, high=3), layout)
    x = any_values(shape, case.dtype, rng)
    if values == "special":
        x = special_rows(x, rng, rows=_ROWS if rows else _COLUMNS, dim=-1 if rows else -2)
    return laid_out(x, layout)


def product(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """(..., M, K), (..., K, N) -> (..., M, N) in float64 or complex128, the dimensions in front broadcast."""
    wide = wide_dtype(left.dtype)
    return torch.einsum("...mk,...kn->...mn", left.to(wide), right.to(wide))


def product_tolerance(case: Case, terms: int, *, bias: bool = False) -> Tolerance:
    """One rounding, and sums of `terms` terms carried in float32; with a bias the product may be rounded before.

    A product of a large row is up to eight times a typical output, and half a unit of it may be lost before the bias
    cancels it.
    """
    sums = rounded(case.dtype, terms=terms)
    if not bias:
        return sums
    return Tolerance(relative=sums.relative + case.dtype.epsilon, absolute=sums.absolute + 4 * case.dtype.epsilon)
