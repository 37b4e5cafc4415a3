"""Origin of the kernels in the device's own record of one call of the largest case.

That call is the second in a worker that has never called the candidate: tuning, capturing and set-up are over by then,
and the captures of the first call were recorded.  A recorded call is verified, so that a candidate cannot behave
differently while it is recorded.  The interpreter has no device with a record.

In a run with one worker the calls are made in the worker that verified.  A record that shows only own kernels, and
no replay of a graph, needs no captures; any other one is made again in a new worker.

A run that times nothing and has a proof of every case makes no record: the answers come from its own kernels, and no
time is claimed.  Drivers let one process after another begin a record, which took a third of a small run of a batch.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from engine import protocol
from engine.devices import platform_named
from engine.model import Finding, FrameworkWork, Severity
from engine.model.counts import counted
from engine.model.layers import Coverage, Fact, Layer, LayerReport
from engine.probes import Observation
from engine.probes.lab.case_session import CaseSession, Lab, PassedCase, RecordedCall
from engine.verdict.device_activity import CHECK, facts, findings
from engine.verdict.native_symbols import NativeKernels

LAYER = Layer.DEVICE_RECORD
CATCHES = ("cublas_by_ctypes.py", "launches_a_binary.py")

_MOST_CASES = 3


async def probe(lab: Lab) -> AsyncIterator[Observation]:
    """The largest case, and smaller ones with kernels that it did not launch."""
    if not platform_named(lab.device.platform).HAS_ACTIVITY_RECORD:
        yield _report(Coverage.NOT_AVAILABLE, f"{lab.device.platform} devices have no activity record")
        return
    if lab.is_proven and not lab.plan.is_timed:
        yield _report(Coverage.NOT_ASKED, "the kernels of every case are proven, and nothing is timed")
        return
    if not lab.plan.one_worker:
        await lab.renew()
    record = await _record(lab)
    if lab.plan.one_worker and not record.is_clear:
        await lab.renew()
        record = await _record(lab)
    for finding in record.findings:
        yield finding
    yield record.report


@dataclass(frozen=True, kw_only=True)
class _Record:
    """Findings and report of the recorded calls of one worker; `replays` is whether one replayed a graph."""

    report: LayerReport
    findings: Sequence[Finding] = ()
    replays: bool = False

    @property
    def is_clear(self) -> bool:
        """Whether every kernel is the candidate's own, as the driver's launches show."""
        return self.report.coverage is Coverage.CHECKED and not self.findings and not self.replays


async def _record(lab: Lab) -> _Record:
    found: list[Finding] = []
    reported: list[Fact] = []
    launched: set[str] = set()
    cases, replays = 0, False
    for one in _largest_first(lab):
        if cases == _MOST_CASES or (cases and {launch.kernel for launch in one.launches} <= launched):
            continue
        cases += 1
        async with lab.at(one.case) as session:
            if lab.session.unrecorded:
                return _Record(report=_report(Coverage.NOT_AVAILABLE, lab.session.unrecorded), findings=found)
            called = await _second_call(session)
        if called.recorded is None:
            report = _report(Coverage.NOT_CHECKED, f"{one.case.name}: {called.trouble}", facts=reported)
            return _Record(report=report, findings=found)
        if wrong := _wrong(called.outputs):
            elements = f"{counted(wrong, 'element')} {'is' if wrong == 1 else 'are'}"
            message = f"passed before, but {elements} wrong while launches are recorded"
            found.append(Finding(check=CHECK, severity=Severity.SUSPECT, message=message, case=one.case.name))
        may_copy = FrameworkWork.COPIES in lab.problem.framework
        native = lab.native or NativeKernels()
        found += findings(one.case.name, called.recorded, may_copy=may_copy, native=native)
        reported += facts(one.case.name, called.recorded, native=native)
        launched |= {activity.name for activity in called.recorded.activities if activity.own}
        replays = replays or any(activity.replayed for activity in called.recorded.activities)
    return _Record(report=_report(Coverage.CHECKED, facts=reported), findings=found, replays=replays)


async def _second_call(session: CaseSession) -> RecordedCall:
    first = await session.record()
    return await session.record() if first.recorded is not None else first


def _wrong(outputs: Sequence[protocol.CorrectCount]) -> int:
    return sum(output.total - output.right for output in outputs)


def _largest_first(lab: Lab) -> list[PassedCase]:
    counted = [one for one in lab.passed if one.elements]
    return sorted(counted, key=lambda one: lab.size_of(one.case), reverse=True)


def _report(coverage: Coverage, why: str = "", *, facts: Sequence[Fact] = ()) -> LayerReport:
    return LayerReport(layer=LAYER, by=CHECK, coverage=coverage, why=why, facts=tuple(facts))
