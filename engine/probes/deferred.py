"""Does an output change after the call has returned?  Its bytes are taken at the return, and again a while later.

Whoever reads a clock, or uses the answer, does so when the call has returned.  A thread, a timer or a stream
that nobody waits for may still be writing then.  An honest kernel never changes an output that it has handed
over: what it reuses in the next call changes in the next call, and there is none in between.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from engine.layers import Coverage, Fact, Layer, LayerReport
from engine.model import Finding, Severity
from engine.probes import Observation
from engine.probing import Lab, Passed
from engine.recalling import Contrasting, recalled, size, smallest_first, watched

LAYER = Layer.INPUTS
CATCHES = ("scribbles_after_return.py", "rewrites_on_a_timer.py")

_CHECK = "deferred"
_POISON = 0x7B
_PAUSE_S = 0.1  # after the device is idle


async def probe(lab: Lab) -> AsyncIterator[Observation]:
    """One watched call of a small case; on a device also of the largest one, where work takes longest."""
    facts: list[Fact] = []
    why = "" if lab.passed else "no case was right"
    for one in _cases(lab):
        before, after = await _twice(lab, one)
        why = before.trouble or after.trouble
        if why:
            break
        if after.changed:
            message = f"the output changed after the call had returned: {after.changed}{_course(before, after)}"
            yield Finding(check=_CHECK, severity=Severity.SUSPECT, message=message, case=one.case.name)
        elements = sum(output.total for output in after.outputs)
        held = after.changed or f"none of {elements} elements changed"
        facts.append(Fact(name=one.case.name, value=f"{held} within {1000 * _PAUSE_S:g} ms of the return"))
    coverage = Coverage.NOT_CHECKED if why else Coverage.CHECKED
    yield LayerReport(layer=LAYER, by=_CHECK, coverage=coverage, why=why, facts=tuple(facts))


async def _twice(lab: Lab, one: Passed) -> tuple[Contrasting, Contrasting]:
    """The outputs of one call at its return, and later; trouble comes in either."""
    async with lab.at(one.case) as bench:
        before = await watched(bench, poison=_POISON, fresh=True, keep=True)
        return before, before if before.trouble else await recalled(bench, pause_s=_PAUSE_S)


def _course(before: Contrasting, after: Contrasting) -> str:
    if before.wrong and not after.wrong:
        return "; it was not ready when the call returned"
    return "; it was right when the call returned, and is not any more" if after.wrong and not before.wrong else ""


def _cases(lab: Lab) -> list[Passed]:
    by_size = smallest_first(lab)
    largest = [] if lab.staff.interpreted else [max(by_size, key=lambda one: size(lab, one))] if by_size else []
    return list({one.case.name: one for one in (*by_size[:1], *largest)}.values())
