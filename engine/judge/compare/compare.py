"""Comparing one output with its reference: how wrong, where, and in what pattern."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace

import torch

from engine.judge.compare.measures import (
    INTEGER_OF,
    computable,
    consists_of,
    equal_or_nan,
    ordered,
    other_zero,
    raw,
    typical,
    ulps,
)
from engine.judge.compare.passing import report_of_pass
from engine.judge.compare.values import text_of, unravel_index
from engine.model import Outcome, OutputReport, Tolerance, WrongElement
from engine.protocol.tensors import dtype_name

_MOST_ELEMENTS = 2**63 - 1  # what every consumer of a report can hold
_MAP_ROWS, _MAP_COLUMNS = 16, 48


def compare(name: str, got: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance, *, poison: int) -> OutputReport:
    """Report of `got` against `expected`, element by element, under the rule of `Tolerance`.

    A nan must match a nan, an infinity the same infinity, and with `signed_zeros` a zero the same zero.  `poison` is
    the byte that the memory of `got` held before the call.
    """
    another = of_another_kind(name, dtype_name(got.dtype), tuple(got.shape), expected)
    if another is not None:
        return another
    if got.numel() == 0:
        return OutputReport(name=name, outcome=Outcome.PASS, shape=tuple(got.shape), dtype=dtype_name(got.dtype))
    passed = report_of_pass(name, got, expected, tolerance)
    return (
        passed
        if passed is not None
        else _report(name, got, expected, compare_elements(got, expected, tolerance), poison)
    )


def compare_masked(
    name: str, got: torch.Tensor, expected: torch.Tensor, wrong: torch.Tensor, *, poison: int
) -> OutputReport:
    """As `compare`, for values with given `wrong` elements; both are of one type and shape."""
    if got.numel() == 0:
        return OutputReport(name=name, outcome=Outcome.PASS, shape=tuple(got.shape), dtype=dtype_name(got.dtype))
    elements = compare_elements(got, expected, Tolerance(relative=0.0, absolute=0.0))
    return _report(name, got, expected, replace(elements, wrong=wrong), poison)


def of_another_kind(name: str, dtype: str, shape: tuple[int, ...], expected: torch.Tensor) -> OutputReport | None:
    """A report for an output of another type or shape than expected, whose values are not compared; else None."""
    wanted = dtype_name(expected.dtype)
    if dtype != wanted:
        outcome, message = Outcome.WRONG_DTYPE, f"{name} is {dtype}, expected {wanted}"
    elif shape != tuple(expected.shape):
        outcome, message = Outcome.WRONG_SHAPE, f"{name} has shape {shape}, expected {tuple(expected.shape)}"
    else:
        return None
    elements = min(math.prod(shape), _MOST_ELEMENTS)  # a worker may claim any shape
    return OutputReport(
        name=name, outcome=outcome, message=message, shape=shape, dtype=dtype, mismatched=elements, total=elements
    )


@dataclass(frozen=True, kw_only=True)
class ElementComparison:
    """Which elements are wrong; the `error` of each, the `allowed` error, and the `size` of the expected values."""

    wrong: torch.Tensor
    error: torch.Tensor
    allowed: torch.Tensor
    size: torch.Tensor
    got_finite: torch.Tensor
    expected_finite: torch.Tensor

    @property
    def both(self) -> torch.Tensor:
        """Elements whose error is a number."""
        return self.got_finite & self.expected_finite

    def worst(self) -> int:
        """Flat position of the wrong element that exceeds its tolerance most; a non-finite one comes first."""
        beyond = torch.where(self.both & (self.allowed > 0), self.error / self.allowed, math.inf)
        excess = torch.where(self.wrong, beyond, -1.0)
        # Without any tolerance every error is infinitely beyond it, and the largest error is the worst.
        largest = torch.where(self.both, self.error, math.inf)
        return int(torch.where(excess == excess.max(), largest, -1.0).argmax())


def compare_elements(
    got: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance, *, scale: torch.Tensor | None = None
) -> ElementComparison:
    """Compare every element of `got` under the rule of `Tolerance`; both are of one type and shape.

    For a part of an output, `scale` is that of the whole, as computed by `scale_of`.
    """
    wide = torch.complex128 if got.is_complex() else torch.float64
    got64, expected64 = got.to(wide), expected.to(wide)
    got_finite, expected_finite = got64.isfinite(), expected64.isfinite()
    both = got_finite & expected_finite
    error, size = (got64 - expected64).abs(), expected64.abs()
    if got.dtype.is_floating_point or got.is_complex():
        if scale is None:
            scale = _typical_scale(size, expected_finite, tolerance)
        allowed = tolerance.relative * size + tolerance.absolute * scale
        wrong = torch.where(both, error > allowed, ~equal_or_nan(got64, expected64))
        if tolerance.signed_zeros:
            wrong |= other_zero(got, expected)
    else:
        allowed = torch.zeros_like(error)
        # In the integers themselves: float64 cannot tell large int64 apart, and a boolean may hold any byte.
        error, wrong = _distance(got, expected, error), raw(got) != raw(expected)
    return ElementComparison(
        wrong=wrong, error=error, allowed=allowed, size=size, got_finite=got_finite, expected_finite=expected_finite
    )


def scale_of(expected: torch.Tensor, tolerance: Tolerance) -> torch.Tensor:
    """Reference size of an absolute tolerance: the typical size of the finite values, a scalar in float64."""
    wide = expected.to(torch.complex128 if expected.is_complex() else torch.float64)
    return _typical_scale(wide.abs(), wide.isfinite(), tolerance)


def _typical_scale(size: torch.Tensor, is_finite: torch.Tensor, tolerance: Tolerance) -> torch.Tensor:
    sizes = torch.where(is_finite, size, 0.0)
    return typical(sizes, is_finite.sum().clamp(min=1)).clamp(min=tolerance.least_scale)


def _report(
    name: str, got: torch.Tensor, expected: torch.Tensor, elements: ElementComparison, poison: int
) -> OutputReport:
    wrong, error, both = elements.wrong, elements.error, elements.both
    got_finite, expected_finite = elements.got_finite, elements.expected_finite
    unwritten = wrong & consists_of(got, poison)
    nonfinite_wrong = wrong & ~got_finite & expected_finite & ~unwritten
    nonzero = both & (elements.size != 0)
    between = ulps(ordered(got), ordered(expected)) if got.dtype in INTEGER_OF else None
    counts, largest = _read(
        (wrong, unwritten, nonfinite_wrong, ~got_finite, ~expected_finite),
        (_masked(error, both), _masked(error / elements.size, nonzero), _masked(between, both)),
    )
    mismatched, unwritten_count, nonfinite_count, nonfinite_got, nonfinite_expected = counts
    worst = elements.worst() if mismatched else None
    return OutputReport(
        name=name,
        outcome=_outcome(mismatched, nonfinite_count),
        message=_message(name, got, expected, mismatched, unwritten_count, nonfinite_count, worst),
        shape=tuple(got.shape),
        dtype=dtype_name(got.dtype),
        mismatched=mismatched,
        total=got.numel(),
        nonfinite_got=nonfinite_got,
        nonfinite_expected=nonfinite_expected,
        max_absolute_error=largest[0],
        max_relative_error=largest[1],
        max_ulp_error=largest[2],
        worst=_element(worst, got, expected) if worst is not None else None,
        first_wrong=unravel_index(int(wrong.flatten().byte().argmax()), got.shape) if mismatched else None,
        last_wrong=unravel_index(got.numel() - 1 - int(wrong.flatten().flip(0).byte().argmax()), got.shape)
        if mismatched
        else None,
        error_map=error_map(wrong) if mismatched else (),
    )


def _read(
    counted: tuple[torch.Tensor, ...], largest: tuple[torch.Tensor | None, ...]
) -> tuple[list[int], list[float | None]]:
    """Number of true elements of each of `counted`, and the values of `largest`, with one synchronisation."""
    nothing = torch.full((), -1.0, dtype=torch.float64, device=counted[0].device)
    sums = [mask.sum().double() for mask in counted]
    values = torch.stack([*sums, *(nothing if value is None else value for value in largest)]).tolist()
    # JSON has no infinity.
    found = [None if value < 0 else min(value, sys.float_info.max) for value in values[len(counted) :]]
    return [int(value) for value in values[: len(counted)]], found


def _distance(got: torch.Tensor, expected: torch.Tensor, rounded: torch.Tensor) -> torch.Tensor:
    """|got - expected| of integers, exact if it fits into their type."""
    if got.dtype == torch.bool:
        return rounded
    if got.dtype == torch.uint64:
        return rounded
    got, expected = computable(got), computable(expected)
    exact = torch.where(got > expected, got - expected, expected - got)
    return torch.where(exact < 0, rounded, exact.double())


def _outcome(mismatched: int, nonfinite_wrong: int) -> Outcome:
    if nonfinite_wrong:
        return Outcome.NONFINITE
    return Outcome.WRONG_VALUE if mismatched else Outcome.PASS


def _message(
    name: str,
    got: torch.Tensor,
    expected: torch.Tensor,
    mismatched: int,
    unwritten: int,
    nonfinite: int,
    worst: int | None,
) -> str:
    if worst is None:
        return ""
    element = _element(worst, got, expected)
    index = ",".join(map(str, element.index))
    count = f"{mismatched:,} of {got.numel():,}"
    text = f"{name}: {count} wrong, worst [{index}] expected {element.expected} got {element.got}"
    if unwritten:
        text += f"; {unwritten:,} of them {'was' if unwritten == 1 else 'were'} never written"
    return f"{text}; {nonfinite:,} {'is' if nonfinite == 1 else 'are'} not finite" if nonfinite else text


def _masked(values: torch.Tensor | None, where: torch.Tensor) -> torch.Tensor | None:
    """The largest of the chosen values, -1 if none is chosen; None without values."""
    return torch.where(where, values, -1.0).max() if values is not None else None


def _element(flat: int, got: torch.Tensor, expected: torch.Tensor) -> WrongElement:
    index = unravel_index(flat, got.shape)
    return WrongElement(index=index, expected=text_of(expected[index]), got=text_of(got[index]))


def error_map(wrong: torch.Tensor) -> tuple[str, ...]:
    """Map of the wrong elements, in the notation of `OutputReport.error_map`."""
    plane = wrong.reshape(-1, wrong.shape[-1]) if wrong.dim() else wrong.reshape(1, 1)
    shares = _pool(_pool(plane.double(), _MAP_ROWS).T.contiguous(), _MAP_COLUMNS).T
    return tuple("".join(map(_mark, row)) for row in shares.tolist())


def _pool(plane: torch.Tensor, tiles: int) -> torch.Tensor:
    """Rows averaged into at most `tiles` groups of nearly equal height."""
    rows = plane.shape[0]
    if rows <= tiles:
        return plane
    groups = torch.arange(rows, device=plane.device) * tiles // rows
    sums = torch.zeros(tiles, plane.shape[1], dtype=plane.dtype, device=plane.device).index_add_(0, groups, plane)
    return sums / torch.bincount(groups, minlength=tiles).unsqueeze(1)


def _mark(share: float) -> str:
    if share <= 0:
        return "."
    return "#" if share >= 1 else str(max(1, min(9, math.ceil(share * 10))))
