"""Compares the precision of an answer with its type: its error against two errors of the judge's own.

A tolerance must allow for long sums in any order, and so leaves room for a step that is rounded to the next lower
precision, TF32 in the middle of float32.  The error of an honest kernel is at most that of torch in the same type, or
of a sum in the worst order; that of a lowered step is far larger.  An error nearer to the lowered answer, on a
logarithmic scale and on two contents, is SUSPECT, not a hint: it was measured, and the faster approximations of
functions have smaller errors.  If the two are not far apart, nothing can be determined.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator

from engine import protocol
from engine.model import DType, Finding, Severity
from engine.model.layers import Coverage, Fact, Layer, LayerReport
from engine.probes import Observation
from engine.probes.lab.case_session import CaseSession, Lab, PassedCase
from engine.probes.lab.repeat_calls import measured_precision, smallest_first

LAYER = Layer.INPUTS
CATCHES = ("rms_norm_cuts_terms_short.py",)

_CHECK = "precision"
_POISON = 0xFF
_APART = 8.0
_MOST_BEYOND = 16.0  # times the honest error: a sum may attenuate a single low-precision step to this
_LEAST_ULPS, _LEAST_ULPS_OF_HALVES = (
    1.0,
    0.25,
)  # least honest error; approximated functions are several units off
_MOST_CASES = 3  # float32 cases
_CALLS_PER_CASE = 7  # verified calls for each measured case, since the verdict waits for the probe


async def probe(lab: Lab) -> AsyncIterator[Observation]:
    """Measure the cases whose tolerance leaves the most room."""
    facts: list[Fact] = []
    why = "" if lab.passed else "no case passed"
    for one in _cases(lab):
        async with lab.at(one.case) as session:
            precisions = await measured_precision(session, poison=_POISON)
            if isinstance(precisions, str):
                why = f"{one.case.name}: {precisions}"
                break
            facts += [_fact(one, precision) for precision in precisions if precision.got is not None]
            found = await _lowered(session, precisions)
        if isinstance(found, Finding):
            yield found
        elif found:
            why = f"{one.case.name}: {found}"
            break
    if lab.passed and not facts and not why:
        facts.append(Fact(name="precision", value="not applicable: no case with an inexact float type"))
    coverage = Coverage.NOT_CHECKED if why else Coverage.CHECKED
    yield LayerReport(layer=LAYER, by=_CHECK, coverage=coverage, why=why, facts=tuple(facts))


async def _lowered(session: CaseSession, precisions: tuple[protocol.OutputPrecision, ...]) -> Finding | str:
    """A finding when an output is lowered on new content as well; else trouble, or "" when there is none."""
    suspected = [precision.name for precision in precisions if _is_lowered(session.case.dtype, precision)]
    if not suspected:
        return ""
    again = await measured_precision(session, poison=_POISON)
    if isinstance(again, str):
        return again
    for precision in again:
        if precision.name in suspected and _is_lowered(session.case.dtype, precision):
            message = (
                f"within tolerance, but less precise than {session.case.dtype.value}: the error of {precision.name} "
                f"is {_errors(precision)}, against float64"
            )
            return Finding(check=_CHECK, severity=Severity.SUSPECT, message=message, case=session.case.name)
    return ""


def _is_lowered(dtype: DType, precision: protocol.OutputPrecision) -> bool:
    limit = _limit(dtype, precision)
    return limit is not None and precision.got is not None and precision.got > limit


def _limit(dtype: DType, precision: protocol.OutputPrecision) -> float | None:
    """The error beyond which an answer is nearer to the lowered one; None if the case cannot decide."""
    if precision.honest is None or precision.lowered is None:
        return None
    least = _LEAST_ULPS if dtype is DType.FLOAT32 else _LEAST_ULPS_OF_HALVES
    honest = max(precision.honest, least * dtype.epsilon)
    apart = precision.lowered / honest
    return honest * min(math.sqrt(apart), _MOST_BEYOND) if apart >= _APART else None


def _errors(precision: protocol.OutputPrecision) -> str:
    return f"{precision.got:.2g}, reference {precision.honest:.2g}, with {precision.precision} {precision.lowered:.2g}"


def _fact(one: PassedCase, precision: protocol.OutputPrecision) -> Fact:
    name = f"{one.case.name}, {precision.name}"
    limit = _limit(one.case.dtype, precision)
    verdict = f"limit {limit:.2g}" if limit is not None else "inconclusive"
    return Fact(name=name, value=f"error {_errors(precision)}: {verdict}")


def _cases(lab: Lab) -> list[PassedCase]:
    """Cases whose tolerance leaves the most room: of float32, one for each amount of it, and one of 16 bits."""
    inexact = [one for one in smallest_first(lab) if _room(lab, one) > 0 and one.case.dtype.epsilon > 0]
    halves = [one for one in inexact if one.case.dtype is not DType.FLOAT32]
    full = {_room(lab, one): one for one in reversed(inexact) if one.case.dtype is DType.FLOAT32}
    most_cases = min(_MOST_CASES, max(1, sum(one.result.calls for one in lab.passed) // _CALLS_PER_CASE))
    most = [full[room] for room in sorted(full, reverse=True)[:most_cases]]
    return [*most, *sorted(halves, key=lambda one: (-_room(lab, one), lab.size_of(one.case)))[:1]]


def _room(lab: Lab, one: PassedCase) -> float:
    tolerance = lab.problem.tolerance(one.case)
    return tolerance.relative + tolerance.absolute
