"""Quantisation to int8 and e4m3fn, and the comparison of quantised outputs in steps.

A quotient near the middle between two levels may be rounded to either, so a correct kernel may be off by one step
there. `compared` allows one step for a small share of the elements; a kernel that truncates, or uses a wrong scale, is
off by one step in about half of them.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.model import CalledCase, OutputMatch
from problems.kit.deferred import torch
from problems.kit.inference.fp8 import E4M3_MAX, e4m3_codes

INT8_MAX = 127.0
FEW_TIES, COARSE_INPUTS, ROUNDED_BEFORE = 0.002, 0.06, 0.15
"""Shares of elements that may be off by one step: of float32 inputs; of 16-bit inputs, whose quotients are often in the
middle between two levels (6.6 % of e4m3fn quotients of normal bfloat16 numbers whose largest is 6.125; an error in the
last place of float32 moves 3.4 % of them); and of values that may be rounded to 16 bits before they are quantised."""

_ALWAYS_ALLOWED = 4


def quantised(values: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """float64 quotients as int8 or float8_e4m3fn: rounded to nearest, ties to even, saturated."""
    if dtype == torch.int8:
        return values.round().clamp(-INT8_MAX - 1, INT8_MAX).to(torch.int8)
    return e4m3_codes(values).view(torch.float8_e4m3fn)


def quantised_eagerly(values: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The same in float32 by PyTorch's conversions."""
    if dtype == torch.int8:
        return values.float().round().clamp(-INT8_MAX - 1, INT8_MAX).to(torch.int8)
    return values.float().clamp(-E4M3_MAX, E4M3_MAX).to(torch.float8_e4m3fn)


def largest_level(dtype: torch.dtype) -> float:
    """The largest level: 127 or 448."""
    return INT8_MAX if dtype == torch.int8 else E4M3_MAX


def compared(
    called: CalledCase, *, share: float, scale_error: float, rows: int | None = None
) -> tuple[OutputMatch, ...]:
    """One result for each output: quantised ones in steps, others by a relative error of `scale_error`.

    Rows of quantised outputs from `rows` on are not compared.
    """
    return tuple(
        _by_steps(got, wanted, share, rows)
        if got.dtype in (torch.int8, torch.float8_e4m3fn)
        else _by_relative_error(got, wanted, scale_error)
        for got, wanted in zip(called.outputs, called.expected, strict=True)
    )


def settled_rows(
    rows: int, draw: Callable[[int], torch.Tensor], is_settled: Callable[[torch.Tensor], torch.Tensor]
) -> torch.Tensor:
    """The first `rows` rows from `draw` that `is_settled` accepts: no permitted rounding changes their result.

    `draw(n)` returns n rows, `is_settled` a boolean for each.
    """
    kept = draw(0)
    while len(kept) < rows:
        drawn = draw(2 * rows)
        kept = torch.cat((kept, drawn[is_settled(drawn)]))
    return kept[:rows].clone()


def _by_steps(got: torch.Tensor, wanted: torch.Tensor, share: float, rows: int | None) -> OutputMatch:
    steps = (_levels(got) - _levels(wanted)).abs()
    if got.dtype != torch.int8:
        steps = torch.where(got.float().isnan() & wanted.float().isnan(), 0, steps)
    left_open = None
    if rows is not None:
        steps[rows:] = 0
        left_open = torch.zeros_like(steps, dtype=torch.bool)
        left_open[rows:] = True
    wrong = steps > 1
    largest = float(steps.max()) if steps.numel() else 0.0
    off = int((steps == 1).sum())
    if off > _ALWAYS_ALLOWED + share * steps.numel() and not wrong.any():
        message = f"{off} of {steps.numel()} are a step off, at most {share:.1%} may be: wrong rounding or scale?"
        return OutputMatch(wrong=steps == 1, message=message, error=largest, unit="steps", left_open=left_open)
    return OutputMatch(wrong=wrong, error=largest, unit="steps", left_open=left_open)


def _by_relative_error(got: torch.Tensor, wanted: torch.Tensor, allowed: float) -> OutputMatch:
    error = (got.double() - wanted.double()).abs()
    same = (got == wanted) | (got.isnan() & wanted.isnan())
    relative = error / wanted.double().abs()
    finite = relative[relative.isfinite() & ~same]
    largest = float(finite.max()) if finite.numel() else 0.0
    return OutputMatch(wrong=~same & ~(error <= allowed * wanted.double().abs()), error=largest, unit="relative")


def _levels(values: torch.Tensor) -> torch.Tensor:
    """Integers that differ by one for adjacent levels; NaN is far from all others."""
    if values.dtype == torch.int8:
        return values.long()
    codes = values.contiguous().view(torch.uint8).long()
    size = codes & 0x7F
    size = torch.where(size == 0x7F, 1000, size)
    return torch.where(codes & 0x80 != 0, -size, size)
