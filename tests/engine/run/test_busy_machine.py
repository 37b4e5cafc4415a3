"""A machine that is too busy to give a process any time: it is asked once more, and never fails or flags a kernel."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from engine import protocol
from engine.errors import MachineBusyError
from engine.model import Outcome, events
from engine.model.layers import Coverage, LayerReport
from engine.processes.child import Child
from engine.run.stages.probe_stage import ProbingStage
from tests.engine.run.device_run import CASES, DeviceRun, verdict
from tests.engine.run.test_deaths import Dying, lab_of

if TYPE_CHECKING:
    pass

MACHINE = "this machine is too busy: the worker was given 2 s of CPU time in 200 s"


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> Counter[type[protocol.Command]]:
    """How often a child that gets this command is given no time."""
    left: Counter[type[protocol.Command]] = Counter()
    ask = Child.ask

    async def starved(
        child: Child, command: protocol.AnyCommand, *, deadline_s: float, helper: int | None = None
    ) -> protocol.AnyReply:
        if left[type(command)] > 0:
            left[type(command)] -= 1
            raise MachineBusyError(MACHINE)
        return await ask(child, command, deadline_s=deadline_s, helper=helper)

    monkeypatch.setattr(Child, "ask", starved)
    return left


ASKED = [protocol.Prepare, protocol.Compare, protocol.Load, protocol.RunDry, protocol.Call, protocol.Compile]


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked.__name__)
async def test_process_without_time_once_leaves_verdict_right(
    device_run: DeviceRun, busy: Counter[type[protocol.Command]], asked: type[protocol.Command]
) -> None:
    busy[asked] = 1
    emitted = await device_run.run(*CASES, target="gfx942")
    assert busy[asked] == 0
    assert verdict(emitted) is Outcome.PASS
    assert [event.result.outcome for event in emitted if isinstance(event, events.CaseFinished)] == [Outcome.PASS] * 2


@pytest.mark.parametrize("asked", [protocol.Prepare, protocol.Call], ids=lambda asked: asked.__name__)
async def test_process_twice_without_cpu_time_has_no_verdict(
    device_run: DeviceRun, busy: Counter[type[protocol.Command]], asked: type[protocol.Command]
) -> None:
    busy[asked] = 1000
    emitted = await device_run.run(*CASES)
    (finished,) = (event for event in emitted if isinstance(event, events.RunFinished))
    assert finished.verdict.outcome is Outcome.ENGINE_ERROR
    assert MACHINE in finished.verdict.sentence


@pytest.mark.parametrize(
    ("times", "coverage"), [(1, Coverage.CHECKED), (2, Coverage.ENGINE_FAILED)], ids=["once", "twice"]
)
async def test_probe_without_cpu_time_is_repeated(
    device_run: DeviceRun, busy: Counter[type[protocol.Command]], times: int, coverage: Coverage
) -> None:
    lab, emitted = lab_of(device_run)
    await lab.session.load()
    busy[protocol.Observe] = times
    probe = Dying(device_run, deaths=0, of="worker")
    await ProbingStage(lab=lab, emitter=emitted, chosen=(probe,)).run()
    reports = [report for report in emitted.layers if report.by == "dying"]
    assert [(report.coverage, isinstance(report, LayerReport)) for report in reports] == [(coverage, True)]
