"""Shared parts of matrix products: operands, the reference in double precision, and the tolerance."""

from __future__ import annotations

import math

from engine.model import Case, Tolerance
from problems.kit.deferred import torch
from problems.kit.indexing.positions import wide_dtype
from problems.kit.layouts import laid_out
from problems.kit.movement import any_values
from problems.kit.tolerances import of_few, rounded
from problems.kit.values import MIXED_RMS, Special, integers, special_rows

_ROWS = [Special.NAN, Special.INF, Special.NEGATIVE_INF]
_COLUMNS = [Special.NAN, Special.NEGATIVE_INF]
_END_VALUE, _END_STEPS = 256.0, 8


def operand(
    case: Case, shape: tuple[int, ...], rng: torch.Generator, *, layout: str, rows: bool = True
) -> torch.Tensor:
    """One factor by the parameter `values`.

    "mixed" has rows of several magnitudes; "integers" has small whole numbers, with which every float32 sum is exact in
    any order; "special" has NaN and infinities in some rows of a left factor, or columns of a right one (`rows` false).
    Partial sums do not overflow, since the result would depend on their order. A left factor also has a subnormal
    value, which is never multiplied by an infinity of the right one: if it were flushed to zero, that product would be
    NaN.  "detour" is `with_detour`.
    """
    values = case.word("values")
    if values == "integers":
        return laid_out(integers(shape, case.dtype, rng, low=-2, high=3), layout)
    x = any_values(shape, case.dtype, rng)
    if values == "special":
        x = _special_left(x, rng) if rows else _special_right(x, rng)
    if values == "detour":
        x = with_detour(x) if rows else repeated_ends(x).abs()
    return laid_out(x, layout)


def with_detour(left: torch.Tensor) -> torch.Tensor:
    """(..., K) whose last elements cancel the contribution of its first ones, if the right factor has `repeated_ends`.

    Between these ends partial sums are so large that half a unit of float16 or bfloat16 exceeds the tolerance: a kernel
    that rounds partial sums to such a dtype between blocks of K is wrong. In float32 the ends cancel.
    """
    middle = left[..., _END_STEPS:-_END_STEPS]
    ends = torch.full_like(left[..., :_END_STEPS], _END_VALUE)
    return torch.cat((ends, middle, -ends), dim=-1)


def repeated_ends(right: torch.Tensor) -> torch.Tensor:
    """(..., K, N) whose last rows are a copy of the first ones."""
    return torch.cat((right[..., :-_END_STEPS, :], right[..., :_END_STEPS, :]), dim=-2)


def _special_left(x: torch.Tensor, rng: torch.Generator) -> torch.Tensor:
    """Special values at random positions of the first rows, and a subnormal one at the start of the next row."""
    lines = special_rows(x, rng, rows=_ROWS).view(-1, x.shape[-1])
    row = slice(len(_ROWS), len(_ROWS) + 1)
    lines[row, :1] = special_rows(lines[row, :1], rng, rows=[Special.SUBNORMAL])
    return lines.view(x.shape)


def _special_right(x: torch.Tensor, rng: torch.Generator) -> torch.Tensor:
    """Special values in the first columns, and none of them in the first row."""
    return torch.cat((x[..., :1, :], special_rows(x[..., 1:, :], rng, rows=_COLUMNS, dim=-2)), dim=-2)


def product(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """(..., M, K), (..., K, N) -> (..., M, N) in float64 or complex128; leading dimensions are broadcast."""
    wide = wide_dtype(left.dtype)
    return torch.einsum("...mk,...kn->...mn", left.to(wide), right.to(wide))


def product_tolerance(case: Case, terms: int, *, outputs: int, bias: bool = False) -> Tolerance:
    """One rounding, and sums of `terms` terms in float32; with a bias the product may be rounded before the addition.

    A product of a large row is up to eight times a typical output, and half a unit of it may be lost before the bias
    cancels it.  If there are few outputs, their scale is that of sums of products of mixed values.
    """
    sums = rounded(case.dtype, terms=terms)
    if bias:
        epsilon = case.dtype.epsilon
        sums = Tolerance(relative=sums.relative + epsilon, absolute=sums.absolute + 4 * epsilon)
    if case.word("values") != "mixed":
        return sums
    return of_few(sums, outputs=outputs, scale=MIXED_RMS**2 * math.sqrt(terms))
