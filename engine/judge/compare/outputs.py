"""Compares all outputs of one call under the rule of their problem: its tolerance, or its own comparer.

A comparer gets all outputs together and runs only if each has the right type and shape.  Its result is a mask for each
output, from which counts, places and messages are made here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch

from engine.judge.compare.compare import compare, compare_masked, of_another_kind
from engine.judge.compare.counting import count_wrong
from engine.judge.compare.unstable import settled
from engine.model import CalledCase, Case, Outcome, OutputMatch, OutputReport, ProblemDefinition, Tolerance
from engine.protocol.tensors import dtype_name

if TYPE_CHECKING:
    from engine.model import Arguments

_NEGLIGIBLE = 2.0**-40  # of the scale of an output, where its tolerance allows nothing in proportion to that


@dataclass(frozen=True, kw_only=True, eq=False)
class Call:
    """A finished call; `got` has a report in place of an output that could not be taken.

    The rest is as in CalledCase; `names` are those of the outputs, `rounding` the absolute error of each that is
    allowed in any case, however small the expected values are, none by default.
    """

    problem: ProblemDefinition
    case: Case
    arguments: Arguments
    names: Sequence[str]
    got: Sequence[torch.Tensor | OutputReport]
    expected: tuple[torch.Tensor, ...]
    earlier: tuple[torch.Tensor, ...] = ()
    rounding: tuple[float, ...] = ()

    @property
    def tolerances(self) -> tuple[Tolerance, ...]:
        """The tolerance of each output."""
        tolerance = self.problem.tolerance(self.case)
        return tuple(allowing(tolerance, error) for error in self.rounding or (0.0,) * len(self.expected))


def allowing(tolerance: Tolerance, error: float) -> Tolerance:
    """A tolerance that allows at least this absolute error; one that requires bitwise equality is not changed."""
    if not error or not (tolerance.relative or tolerance.absolute):
        return tolerance
    absolute = tolerance.absolute or _NEGLIGIBLE
    return replace(tolerance, absolute=absolute, least_scale=max(tolerance.least_scale, error / absolute))


def reports_of(call: Call, *, poison: int) -> tuple[OutputReport, ...]:
    """One report for each output; `poison` is the byte that the memory of outputs held before the call."""
    matches = _matches(call)
    if matches is not None:
        return tuple(_report(call, number, match, poison=poison) for number, match in enumerate(matches))
    reports = _compared(call, call.got, poison=poison)
    wrong = [report for report in reports if report.outcome is not Outcome.PASS]
    if call.problem.suite is None or not wrong or any(report.outcome is not Outcome.WRONG_VALUE for report in wrong):
        return reports
    got = [value for value in call.got if isinstance(value, torch.Tensor)]
    values = settled(
        got,
        call.expected,
        call.tolerances,
        arguments=call.arguments,
        reference=call.problem.reference,
    )
    return reports if values is None else _compared(call, values, poison=poison)


def _compared(call: Call, got: Sequence[torch.Tensor | OutputReport], *, poison: int) -> tuple[OutputReport, ...]:
    return tuple(
        value if isinstance(value, OutputReport) else compare(name, value, wanted, tolerance, poison=poison)
        for name, value, wanted, tolerance in zip(call.names, got, call.expected, call.tolerances, strict=True)
    )


def right_counts(call: Call) -> tuple[int, ...]:
    """Number of right elements of each output."""
    matches = _matches(call)
    if matches is not None:
        return tuple(match.wrong.numel() - int(match.wrong.sum()) for match in matches)
    return tuple(
        0 if isinstance(value, OutputReport) else wanted.numel() - count_wrong(value, wanted, tolerance)
        for value, wanted, tolerance in zip(call.got, call.expected, call.tolerances, strict=True)
    )


def left_open(call: Call) -> tuple[torch.Tensor | None, ...]:
    """For each output the elements that may hold anything, by the problem's comparer; None for none of them.

    Raises:
        ValueError: the comparer returns another number or shape of masks than there are outputs.
    """
    matches = _matches(call)
    return (None,) * len(call.expected) if matches is None else tuple(match.left_open for match in matches)


def _matches(call: Call) -> tuple[OutputMatch, ...] | None:
    """Result of the problem's comparer; None if it has none, or an output is of another kind.

    Raises:
        ValueError: the comparer returns another number or shape of masks than there are outputs.
    """
    outputs = tuple(value for value in call.got if isinstance(value, torch.Tensor))
    if call.problem.compare is None or len(outputs) != len(call.expected):
        return None
    pairs = zip(outputs, call.expected, strict=True)
    if any(of_another_kind("", dtype_name(one.dtype), tuple(one.shape), wanted) for one, wanted in pairs):
        return None
    matches = tuple(
        call.problem.compare(
            CalledCase(
                case=call.case,
                arguments=call.arguments,
                outputs=outputs,
                expected=call.expected,
                earlier=call.earlier,
            )
        )
    )
    shapes, wanted_shapes = [match.wrong.shape for match in matches], [wanted.shape for wanted in call.expected]
    if shapes != wanted_shapes or any(match.wrong.dtype != torch.bool for match in matches):
        wanted_text, text = (list(map(tuple, some)) for some in (wanted_shapes, shapes))
        raise ValueError(
            f"{call.problem.name}: compare should return boolean masks of shapes {wanted_text}, returned shapes {text}"
        )
    return matches


def _report(call: Call, number: int, match: OutputMatch, *, poison: int) -> OutputReport:
    got = call.got[number]
    assert isinstance(got, torch.Tensor)
    report = compare_masked(call.names[number], got, call.expected[number], match.wrong, poison=poison)
    if report.mismatched:
        steps = f", largest error {match.error:g} {match.unit}".rstrip() if match.error is not None else ""
        said = f"{call.names[number]}: {match.message}" if match.message else report.message
        report = replace(report, message=f"{said}{steps}")
    if call.problem.determinism.has_one_answer:
        return report
    return replace(report, max_absolute_error=None, max_relative_error=None, max_ulp_error=None)
