"""Does an output change after the call has returned?  Its bytes are taken at the return, and again a while later.

Whoever reads a clock, or uses the answer, does so when the call has returned.  A thread, a timer or a stream
that nobody waits for may still be writing then.  And whoever has the answer keeps it: a few calls follow, which
must not change what was returned before.  An honest kernel changes no output that it has handed
over; memory that it reuses is copied from, or is its own; arguments, and what views them, are the caller's.
Nothing else may be called meanwhile: some late writers give up when the next call comes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from engine.layers import Coverage, Fact, Layer, LayerReport
from engine.model import Finding, Severity
from engine.probes import Observation
from engine.probing import Lab, Passed, Replayed
from engine.recalling import Contrasting, recalled, smallest_first, watched

LAYER = Layer.INPUTS
APART = True
CATCHES = ("scribbles_after_return.py", "rewrites_on_a_timer.py", "one_buffer_for_all_answers.py")

_CHECK = "deferred"
_POISON = 0x7B
_MORE = 4  # calls before it is looked at again: who has a few buffers takes each in turn
_PAUSE_S = 0.1  # after the device is idle
_LEAST_PAUSE_S, _SHARE_OF_VERIFYING = 0.03, 0.75  # in the interpreter, after a few small cases


async def probe(lab: Lab) -> AsyncIterator[Observation]:
    """One watched call of a small case; on a device also of the largest one, where work takes longest."""
    facts: list[Fact] = []
    why = "" if lab.passed else "no case was right"
    pause_s = _pause_s(lab)
    for one in _cases(lab):
        before, after, next_one = await _looks(lab, one, pause_s)
        why = before.trouble or after.trouble or next_one.trouble
        if why:
            break
        reused = next_one.changed
        if after.changed:
            message = f"the output changed after the call had returned: {after.changed}{_course(before, after)}"
            yield Finding(check=_CHECK, severity=Severity.SUSPECT, message=message, case=one.case.name)
        elif reused:
            message = f"a later call changed an answer that was handed over, {reused}: return new memory each time"
            yield Finding(check=_CHECK, severity=Severity.SUSPECT, message=message, case=one.case.name)
        elements = sum(output.total for output in after.outputs)
        held = after.changed or f"none of {elements} elements changed"
        facts.append(Fact(name=one.case.name, value=f"{held} within {1000 * pause_s:.0f} ms of the return"))
    coverage = Coverage.NOT_CHECKED if why else Coverage.CHECKED
    yield LayerReport(layer=LAYER, by=_CHECK, coverage=coverage, why=why, facts=tuple(facts))


async def _looks(lab: Lab, one: Passed, pause_s: float) -> tuple[Contrasting, Contrasting, Contrasting]:
    """The outputs of one call at its return, later, and after other calls; trouble comes in each."""
    async with lab.at(one.case) as bench:
        before = await watched(bench, poison=_POISON, fresh=True, keep=True)
        if before.trouble:
            return before, before, before
        after = await recalled(bench, pause_s=pause_s)
        if after.trouble or after.changed:
            return before, after, after
        for _ in range(_MORE):
            called = await bench.make(poison=_POISON)
            if isinstance(called, Replayed):
                return before, after, Contrasting(trouble=called.trouble)
        return before, after, await recalled(bench, pause_s=0.0)


def _pause_s(lab: Lab) -> float:
    """How long to wait for a late writer; in the interpreter no longer than it took to verify, within limits."""
    if not lab.staff.interpreted:
        return _PAUSE_S
    verifying_s = sum(one.result.elapsed_s for one in lab.passed)
    return min(_PAUSE_S, max(_LEAST_PAUSE_S, _SHARE_OF_VERIFYING * verifying_s))


def _course(before: Contrasting, after: Contrasting) -> str:
    if before.wrong and not after.wrong:
        return "; it was not ready when the call returned"
    return "; it was right when the call returned, and is not any more" if after.wrong and not before.wrong else ""


def _cases(lab: Lab) -> list[Passed]:
    by_size = smallest_first(lab)
    largest = [] if lab.staff.interpreted else [max(by_size, key=lambda one: lab.size_of(one.case))] if by_size else []
    return list({one.case.name: one for one in (*by_size[:1], *largest)}.values())
