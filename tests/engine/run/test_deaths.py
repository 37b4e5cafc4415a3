"""A process of ours that dies is replaced and asked again: it never fails or flags a kernel."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, cast

import pytest

from engine import protocol
from engine.errors import EngineError
from engine.model import Candidate, Limits, Outcome, Plan, events
from engine.model.layers import Coverage, Layer, LayerReport
from engine.probes import Observation, Probe
from engine.probes.lab.case_session import Lab
from engine.processes.candidate_session import CandidateSession, LoadRequest
from engine.profile import Profile
from engine.run.event_stream import EventEmitter
from engine.run.stages.probe_stage import ProbingStage
from tests.engine.run.device_run import CASES, GPU, PROBLEM, DeviceRun, verdict

if TYPE_CHECKING:
    pass

OF_THE_JUDGE = (
    protocol.Describe,
    protocol.Prepare,
    protocol.Refill,
    protocol.TakeSnapshot,
    protocol.Compare,
    protocol.CompareSnapshot,
    protocol.Release,
)
ASKED = [
    *(("judge", command) for command in OF_THE_JUDGE),
    ("worker", protocol.Load),
    ("worker", protocol.RunDry),
    ("worker", protocol.Call),
    ("compiler", protocol.Load),
    ("compiler", protocol.Compile),
]


def at_its_first(
    kind: str, asked: type[protocol.AnyCommand], act: Callable[[], None]
) -> Callable[[str, protocol.AnyCommand], protocol.AnyReply | None]:
    """Act once, when a child of this kind gets this command for the first time."""
    left = [asked]

    def answer(of: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if left and of == kind and isinstance(command, left[0]):
            left.clear()
            act()
        return None

    return answer


@pytest.mark.parametrize(("kind", "asked"), ASKED, ids=[f"{kind}-{asked.__name__}" for kind, asked in ASKED])
@pytest.mark.parametrize("who", ["itself", "fork server"])
async def test_process_killed_once_leaves_the_verdict_right(
    device_run: DeviceRun, who: str, kind: str, asked: type[protocol.AnyCommand]
) -> None:
    act = (
        device_run.fork_server.lose_all
        if who == "fork server"
        else lambda: device_run.fork_server.die(device_run.fork_server.serving)
    )
    device_run.changes = at_its_first(kind, asked, act)
    emitted = await device_run.run(*CASES, target="gfx942")
    assert device_run.commands(asked)
    results = [event.result for event in emitted if isinstance(event, events.CaseFinished)]
    assert sorted(result.case for result in results) == ["a", "b"]
    assert {result.outcome for result in results} == {Outcome.PASS}
    assert verdict(emitted) is Outcome.PASS
    assert verdict(await device_run.run(*CASES, target="gfx942")) is Outcome.PASS


@pytest.mark.parametrize("asked", [protocol.Prepare, protocol.Compare])
async def test_judge_killed_again_is_an_engine_error(device_run: DeviceRun, asked: type[protocol.AnyCommand]) -> None:
    def die(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, asked):
            device_run.fork_server.die(device_run.fork_server.serving)
        return None

    device_run.changes = die
    emitted = await device_run.run(*CASES)
    results = [event.result for event in emitted if isinstance(event, events.CaseFinished)]
    assert [(result.case, result.outcome) for result in results] == [("a", Outcome.ENGINE_ERROR)]
    assert verdict(emitted) is Outcome.ENGINE_ERROR
    device_run.changes = lambda kind, command: None
    assert verdict(await device_run.run(*CASES)) is Outcome.PASS


async def test_candidate_ending_itself_twice_has_crashed(device_run: DeviceRun) -> None:
    def die(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.Call):
            device_run.fork_server.die(device_run.fork_server.serving)
        return None

    device_run.changes = die
    assert verdict(await device_run.run(*CASES)) is Outcome.CRASHED
    assert len(device_run.commands(protocol.Call)) == 2 * len(CASES)


def lab_of(device_run: DeviceRun) -> tuple[Lab, EventEmitter]:
    """A lab whose worker is loaded, and where its probes are told."""
    plan = Plan(problem=PROBLEM, cases=CASES, device="cuda", target=None)
    session = CandidateSession(
        LoadRequest(candidate=Candidate(source=b"", problem="toy::twice"), entry="f"),
        spare=device_run.process_pool.worker,
        limits=Limits(),
        on_log=lambda *_: None,
    )
    lab = Lab(
        plan=plan,
        device=GPU,
        passed=(),
        session=session,
        process_pool=device_run.process_pool,
        limits=Limits(),
        profile=Profile(lambda: 0.0, started=0.0),
    )
    return lab, EventEmitter(lambda: 0.0, started=0.0)


class Dying:
    """A probe that asks the judge, or the worker, and lets it die so often."""

    __name__ = "engine.probes.dying"
    LAYER = Layer.INPUTS
    CATCHES = ()

    def __init__(self, device_run: DeviceRun, *, deaths: int, of: str) -> None:
        self._theatre, self._deaths, self._of = device_run, deaths, of
        self.asked = 0

    async def probe(self, lab: Lab) -> AsyncIterator[Observation]:
        self.asked += 1
        self._theatre.changes = self._die
        try:
            if self._of == "judge":
                await lab.process_pool.ask_judge(protocol.Release(id=protocol.new_id()))
            else:
                await lab.ask(protocol.Observe(id=protocol.new_id()))
        except EngineError as error:
            yield LayerReport(layer=self.LAYER, by="dying", coverage=Coverage.NOT_CHECKED, why=str(error))
        else:
            yield LayerReport(layer=self.LAYER, by="dying", coverage=Coverage.CHECKED)

    def _die(self, kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if self._deaths and isinstance(command, protocol.Release | protocol.Observe):
            self._deaths -= 1
            self._theatre.fork_server.die(self._theatre.fork_server.serving)
        return None


@pytest.mark.parametrize(
    ("of", "deaths", "coverage"),
    [
        ("judge", 0, Coverage.CHECKED),
        ("judge", 1, Coverage.CHECKED),
        ("judge", 2, Coverage.ENGINE_FAILED),
        ("worker", 1, Coverage.CHECKED),
        ("worker", 2, Coverage.NOT_CHECKED),
    ],
)
async def test_probe_disturbed_by_crash_is_repeated(
    device_run: DeviceRun, of: str, deaths: int, coverage: Coverage
) -> None:
    lab, emitted = lab_of(device_run)
    dying = Dying(device_run, deaths=deaths, of=of)
    await ProbingStage(lab=lab, emitter=emitted, chosen=[cast(Probe, dying)]).run()  # cast: an object plays the module
    [report] = [report for report in emitted.layers if report.by == "dying"]
    assert (report.coverage, dying.asked) == (coverage, 1 + (deaths > 0))
    await lab.session.clear()


async def test_probe_without_a_worker_is_an_engine_failure(device_run: DeviceRun) -> None:
    lab, emitted = lab_of(device_run)
    device_run.fork_server.ready = False
    dying = Dying(device_run, deaths=0, of="worker")
    await ProbingStage(lab=lab, emitter=emitted, chosen=[cast(Probe, dying)]).run()  # cast: an object plays the module
    [report] = [report for report in emitted.layers if report.by == "dying"]
    assert (report.coverage, dying.asked) == (Coverage.ENGINE_FAILED, 2)
    assert report.why.startswith("no worker got ready: the worker ended without a reply (signal 9)")
