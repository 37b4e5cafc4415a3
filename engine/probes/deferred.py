"""Checks whether an output changes after the call has returned: its bytes are read at the return, and again later.

A caller reads the clock, or uses the output, once the call has returned.  A thread, a timer or a stream that was not
joined may still be writing then.  The caller also keeps the output: a few calls follow, which must not change what was
returned before; if something did, the call is repeated without further calls for twice that time, because a slow thread
of the candidate may have caused it.  An honest kernel never changes an output that it has returned; memory that it
reuses is copied from, or is its own; arguments, and views of them, are the caller's.  Nothing else may be called
meanwhile: some late writers stop when the next call comes.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

from engine.model import Finding, Severity
from engine.model.layers import Coverage, Fact, Layer, LayerReport
from engine.probes import Observation
from engine.probes.lab.case_session import CallResult, CaseSession, Lab, PassedCase
from engine.probes.lab.repeat_calls import OutputReading, repeated_outputs, smallest_first, watched
from engine.probes.lab.sizes import is_large

LAYER = Layer.INPUTS
APART = True
CATCHES = ("scribbles_after_return.py", "rewrites_on_a_timer.py", "one_buffer_for_all_answers.py")

_CHECK = "deferred"
_POISON = 0x7B
_MORE = 4  # calls before the output is read again: a candidate may rotate a few buffers
_MORE_OF_LARGE = 1  # for a large case one more call
_PAUSE_S = 0.1  # after the device is idle
_LEAST_PAUSE_S, _SHARE_OF_VERIFYING = (
    0.03,
    0.75,
)  # in the interpreter: least, and share of the verification time
_LONGER = 2.0  # waits this many times the duration of the later calls, without calling


@dataclass(frozen=True, kw_only=True)
class _Looked:
    """An answer at three times: at the return, some time later, and after other calls."""

    before: OutputReading
    after: OutputReading
    later: OutputReading = field(default_factory=OutputReading)
    alone_s: float = 0.0

    @property
    def trouble(self) -> str:
        return self.before.trouble or self.after.trouble or self.later.trouble


async def probe(lab: Lab) -> AsyncIterator[Observation]:
    """One watched call of a small case; on a device also of the largest one, where work takes longest."""
    facts: list[Fact] = []
    why = "" if lab.passed else "no case passed"
    pause_s = _pause_s(lab)
    for one in _cases(lab):
        looked = await _looks(lab, one, pause_s)
        why = looked.trouble
        if why:
            break
        changed, reused = looked.after.changed, looked.later.changed
        if changed:
            message = f"the output changed after the call had returned: {changed}{_course(looked)}"
            yield Finding(check=_CHECK, severity=Severity.SUSPECT, message=message, case=one.case.name)
        elif reused:
            message = f"a later call changed an output that was already returned, {reused}: return new memory each time"
            yield Finding(check=_CHECK, severity=Severity.SUSPECT, message=message, case=one.case.name)
        elements = sum(output.total for output in looked.after.outputs)
        held = changed or f"none of {elements:,} elements changed"
        facts.append(Fact(name=one.case.name, value=f"{held} within {1000 * looked.alone_s:.0f} ms of the return"))
    coverage = Coverage.NOT_CHECKED if why else Coverage.CHECKED
    yield LayerReport(layer=LAYER, by=_CHECK, coverage=coverage, why=why, facts=tuple(facts))


async def _looks(lab: Lab, one: PassedCase, pause_s: float) -> _Looked:
    async with lab.at(one.case) as session:
        began_s = time.monotonic()
        alone = await _left_alone(session, pause_s)
        if alone.trouble or alone.after.changed:
            return alone
        for _ in range(_MORE_OF_LARGE if is_large(lab.problem, one.case) else _MORE):
            called = await session.make(poison=_POISON)
            if isinstance(called, CallResult):
                return replace(alone, later=OutputReading(trouble=called.trouble))
        later = await repeated_outputs(session, pause_s=0.0)
        if later.changed:
            longer = await _left_alone(session, _LONGER * (time.monotonic() - began_s))
            if longer.after.changed:
                return longer
        return replace(alone, later=later)


async def _left_alone(session: CaseSession, pause_s: float) -> _Looked:
    before = await watched(session, poison=_POISON, fresh=True, keep=True)
    after = before if before.trouble else await repeated_outputs(session, pause_s=pause_s)
    return _Looked(before=before, after=after, alone_s=pause_s)


def _pause_s(lab: Lab) -> float:
    """Time to wait for a late writer; in the interpreter at most the time of verification, within limits."""
    if not lab.process_pool.interpreted:
        return _PAUSE_S
    verifying_s = sum(one.result.elapsed_s for one in lab.passed)
    return min(_PAUSE_S, max(_LEAST_PAUSE_S, _SHARE_OF_VERIFYING * verifying_s))


def _course(looked: _Looked) -> str:
    before, after = looked.before, looked.after
    if before.wrong and not after.wrong:
        return "; it was not ready when the call returned"
    return "; it was correct when the call returned and is wrong now" if after.wrong and not before.wrong else ""


def _cases(lab: Lab) -> list[PassedCase]:
    by_size = smallest_first(lab)
    largest = (
        [] if lab.process_pool.interpreted else [max(by_size, key=lambda one: lab.size_of(one.case))] if by_size else []
    )
    return list({one.case.name: one for one in (*by_size[:1], *largest)}.values())
