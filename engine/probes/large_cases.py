"""Checks whether torch computes the answer of cases that are larger than the verified ones.

In the interpreter the cases for timing take minutes, so none is verified, and a candidate that computes with torch
above some size would pass.  Here the entry is called on a case for timing, drawn in each run, with all its launches
suppressed, and the operators of torch that it calls are recorded as in a verified call.  On a GPU these cases are
called when they are timed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

from engine import protocol
from engine.errors import EngineError
from engine.model import Case, Finding, Severity, Tier
from engine.model.layers import Coverage, Fact, Layer, LayerReport
from engine.probes import Observation
from engine.probes.lab.case_session import CallContent, Lab, Replayed
from engine.verdict.observed_effects import operator_findings

LAYER = Layer.BEHAVIOUR
TURN = 3  # last of all: its one call withholds launches
CATCHES = ("torch_above_a_size.py",)

_BY = "large_cases"
_MOST_BYTES = 32 << 20  # bytes read and written: the inputs of a larger case would take longer than the other probes
_POISON = 0  # 0, so that counts that a withheld kernel should have written are not used as sizes


async def probe(lab: Lab) -> AsyncIterator[Observation]:
    """Observe one call of a drawn case for timing."""
    cases = _cases(lab)
    if not lab.process_pool.interpreted:
        yield _not_asked("cases for timing are called when they are timed")
    elif not cases:
        yield _not_asked(f"no case for timing takes at most {_MOST_BYTES >> 20} MiB")
    else:
        case = cases[lab.draws.number("case") % len(cases)]
        observed, why = await _observe(lab, case)
        if observed is not None:
            for finding in operator_findings(lab.problem, case, observed):
                yield replace(finding, check=_BY)
        if why:  # an honest entry may fail without the content that its kernels did not write
            message = f"sizes beyond the verified cases were not checked: {why}"
            yield Finding(check=_BY, severity=Severity.NOTE, message=message, case=case.name)
        fact = Fact(name="case for timing", value=f"{case.name}, called once with its launches suppressed")
        yield LayerReport(layer=LAYER, by=_BY, coverage=Coverage.CHECKED, facts=(fact,))


async def _observe(lab: Lab, case: Case) -> tuple[protocol.Observed | None, str]:
    """Record of one call without launches, and why it is missing or incomplete."""
    async with lab.at(case) as session:
        called = await session.make(
            poison=_POISON, content=CallContent(fresh=False), withhold=protocol.Withhold(), observe=True
        )
    why = called.trouble if isinstance(called, Replayed) else ""
    if isinstance(called, Replayed) and called.lost:
        return None, why
    try:
        observed = await lab.ask(protocol.Observe(id=protocol.new_id()))
    except EngineError as error:
        return None, str(error)
    if not isinstance(observed, protocol.Observed):
        return None, f"the candidate answered with {type(observed).__name__} instead of its record"
    return observed, "; ".join((*([why] if why else []), *observed.unchecked))


def _cases(lab: Lab) -> list[Case]:
    """Cases for timing whose inputs are made in a fraction of a second."""
    timed = [case for case in lab.problem.cases if case.tier is Tier.BENCH]
    costs = [lab.problem.cost(case) for case in timed]
    bytes_moved = [cost.bytes_read + cost.bytes_written for cost in costs]
    return [case for case, moved in zip(timed, bytes_moved, strict=True) if moved <= _MOST_BYTES]


def _not_asked(why: str) -> LayerReport:
    return LayerReport(layer=LAYER, by=_BY, coverage=Coverage.NOT_ASKED, why=why)
