"""The stage that doubts: what a lab asks of judge and worker, and who is gone afterwards."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from engine import protocol
from engine.devices import Device
from engine.model import (
    Candidate,
    Case,
    CaseResult,
    DType,
    Finding,
    Limits,
    Outcome,
    Plan,
    Severity,
    Stage,
    Tier,
    events,
)
from engine.model.layers import Coverage, Layer, LayerReport
from engine.probes import Observation, Probe, is_on_demand, name_of, probes
from engine.probes.lab.case_session import CallContent, CallResult, Lab, PassedCase, passed_of
from engine.processes.candidate_session import CandidateSession, LoadRequest
from engine.profile import Profile
from engine.run.event_stream import EventEmitter
from engine.run.stages.probe_stage import ProbingStage
from tests.engine.toy_problem import toy_problem

if TYPE_CHECKING:
    from tests.engine.conftest import Employ

CASE = Case(name="c", dtype=DType.FLOAT32, tier=Tier.SMOKE, params={})
RESULT = CaseResult(case="c", tier=Tier.SMOKE, outcome=Outcome.PASS, elapsed_s=0.1, calls=3, seed=1)
ARENA = protocol.ArenaSpec(path="/nowhere", storages=(), bytes=256)
LEDGER = (protocol.Withheld(kernel=protocol.Kernel(name="k", line=2), launches=1, withheld=1),)
SURVIVAL = protocol.CorrectCount(name="return", total=4, right=4, trivial=0)
WITHHOLD = protocol.Withhold()
CHECKED = LayerReport(layer=Layer.INPUTS, by="own", coverage=Coverage.CHECKED)
Changes = Callable[[str, protocol.AnyCommand], protocol.AnyReply | bytes | None]


PROBLEM = toy_problem(CASE)


class Stand:
    """A lab whose children are played here; `asked` is what they were, in this order."""

    def __init__(self, employ: Employ) -> None:
        self.asked: list[protocol.AnyCommand] = []
        self.changes: Changes = lambda kind, command: None
        self.fork_server, process_pool = employ(self._play)
        loop = asyncio.get_running_loop()
        self.emitted = EventEmitter(loop.time, started=loop.time())
        self.session = CandidateSession(
            LoadRequest(candidate=Candidate(source=b"", problem=PROBLEM.name), entry="f"),
            spare=process_pool.worker,
            limits=Limits(),
            on_log=lambda *_: None,
        )
        self.lab = Lab(
            plan=Plan(problem=PROBLEM, cases=(CASE,), device="cpu", target=None),
            session=self.session,
            process_pool=process_pool,
            device=Device(platform="cpu", index=0, name="cpu"),
            limits=Limits(),
            passed=passed_of((CASE,), (RESULT,), launches={}, tapes={}, digests={}),
            profile=Profile(loop.time, started=loop.time()),
        )

    def _play(self, kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | bytes | None:
        self.asked.append(command)
        if (changed := self.changes(kind, command)) is not None:
            return changed
        match command:
            case protocol.Load():
                return protocol.Loaded(id=command.id)
            case protocol.Prepare():
                return protocol.Prepared(id=command.id, arguments=(), arena=ARENA, elapsed_s=0.0)
            case protocol.Call():
                return protocol.Called(id=command.id, returned=(), launches=(), elapsed_s=0.0, ledger=LEDGER)
            case protocol.CountCorrect():
                return protocol.CorrectCounted(id=command.id, outputs=(SURVIVAL,))
            case protocol.Release():
                return protocol.Released(id=command.id, seed=1)
        return protocol.Done(id=command.id)

    def count(self, kind: type[protocol.AnyCommand]) -> int:
        return sum(isinstance(command, kind) for command in self.asked)

    async def call(self) -> CallResult:
        async with self.lab.at(CASE) as bench:
            return await bench.call(poison=7, withhold=WITHHOLD)

    async def stage(
        self,
        *chosen: Callable[[Lab], AsyncIterator[Observation]],
        apart: Callable[[Lab], AsyncIterator[Observation]] | None = None,
    ) -> list[events.Event]:
        """Everything that the stage tells with these probes, and with one that is asked apart."""
        modules = [
            SimpleNamespace(
                __name__="engine.probes.own", CATCHES=(), LAYER=Layer.INPUTS, APART=probe is apart, probe=probe
            )
            for probe in (*chosen, *([apart] if apart is not None else []))
        ]
        await ProbingStage(lab=self.lab, emitter=self.emitted, chosen=cast(list[Probe], modules)).run()  # cast: modules
        self.emitted.close()
        return [event async for event in self.emitted.stream()]


@pytest.fixture
async def stand(employ: Employ) -> AsyncIterator[Stand]:
    stand = Stand(employ)
    yield stand
    await stand.session.clear()


async def asks_once(lab: Lab) -> AsyncIterator[Observation]:
    async with lab.at(CASE) as bench:
        replayed = await bench.call(poison=7)
    yield Finding(check="own", severity=Severity.HINT, message=f"{replayed.outputs[0].right} right")
    yield CHECKED


async def test_call_gets_new_content_and_is_counted(stand: Stand) -> None:
    assert await stand.call() == CallResult(ledger=LEDGER, outputs=(SURVIVAL,))
    kinds = [protocol.Load, protocol.Prepare, protocol.Refill, protocol.Call, protocol.CountCorrect, protocol.Release]
    assert [type(command) for command in stand.asked] == kinds
    refill, call = (command for command in stand.asked if isinstance(command, protocol.Refill | protocol.Call))
    assert isinstance(refill, protocol.Refill)
    assert isinstance(call, protocol.Call)
    assert (refill.fresh, refill.poison, call.poison, call.withhold, call.arena) == (True, 7, 7, WITHHOLD, ARENA)


async def test_first_call_of_worker_has_verification_deadline(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    deadlines = noted_deadlines(stand, monkeypatch)
    await stand.call()
    await stand.call()
    await stand.lab.renew()
    await stand.call()
    assert deadlines == [Limits().case_s, 3.0, Limits().case_s]


@pytest.mark.parametrize(("verified_s", "deadline_s"), [(1.4, 3.0), (2.5, 5.0), (9.0, Limits().case_s)])
async def test_call_of_slow_case_has_double_its_time(
    stand: Stand, monkeypatch: pytest.MonkeyPatch, verified_s: float, deadline_s: float
) -> None:
    stand.lab = replace(
        stand.lab,
        passed=passed_of((CASE,), (replace(RESULT, elapsed_s=verified_s),), launches={}, tapes={}, digests={}),
    )
    deadlines = noted_deadlines(stand, monkeypatch)
    await stand.call()
    await stand.call()
    assert deadlines[1] == deadline_s


def noted_deadlines(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The deadlines of everything that the session is asked from now on."""
    deadlines: list[float] = []
    ask = stand.session.ask

    async def noting(command: protocol.AnyCommand, *, deadline_s: float) -> protocol.AnyReply:
        deadlines.append(deadline_s)
        return await ask(command, deadline_s=deadline_s)

    monkeypatch.setattr(stand.session, "ask", noting)
    return deadlines


async def test_call_accepts_kept_content_order_and_observation(stand: Stand) -> None:
    program_order, watch = protocol.ProgramOrder(seed=3), protocol.Watch(positions=(1,))
    async with stand.lab.at(CASE) as bench:
        called = await bench.make(poison=7, content=CallContent(fresh=False), program_order=program_order, watch=watch)
    assert isinstance(called, protocol.Called)
    refill, call = (command for command in stand.asked if isinstance(command, protocol.Refill | protocol.Call))
    assert isinstance(refill, protocol.Refill)
    assert isinstance(call, protocol.Call)
    assert (refill.fresh, call.program_order, call.watch) == (False, program_order, watch)
    assert stand.count(protocol.CountCorrect) == 0


async def test_call_without_refill_takes_prepared_inputs(stand: Stand) -> None:
    async with stand.lab.at(CASE, poison=7, seed=5) as bench:
        await bench.make(poison=7, content=None)
    (prepare,) = (command for command in stand.asked if isinstance(command, protocol.Prepare))
    assert (prepare.poison, prepare.seed) == (7, 5)
    assert (stand.count(protocol.Refill), stand.count(protocol.Call)) == (0, 1)


async def test_raising_candidate_is_trouble_with_its_ledger(stand: Stand) -> None:
    def fail(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if not isinstance(command, protocol.Call):
            return None
        return protocol.Failed(id=command.id, kind=protocol.FailureKind.RAISED, message="no answer", ledger=LEDGER)

    stand.changes = fail
    assert await stand.call() == CallResult(ledger=LEDGER, trouble="no answer")
    assert stand.session.occupied


async def test_worker_with_lost_device_is_replaced(stand: Stand) -> None:
    def fail(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if not isinstance(command, protocol.Call):
            return None
        return protocol.Failed(id=command.id, kind=protocol.FailureKind.RAISED, message="illegal access", broken=True)

    stand.changes = fail
    assert await stand.call() == CallResult(trouble="illegal access", lost=True)
    assert not stand.session.occupied


async def test_worker_tampering_with_channel_is_lost(stand: Stand) -> None:
    stand.changes = lambda kind, command: b"no reply\n" if isinstance(command, protocol.Call) else None
    replayed = await stand.call()
    assert (replayed.lost, replayed.outputs, stand.session.occupied) == (True, (), False)
    assert replayed.trouble


async def test_worker_lost_before_its_call_counts_as_killed(stand: Stand) -> None:
    async with stand.lab.at(CASE) as bench:
        stand.fork_server.lose_all()
        made = await bench.make(poison=7, content=None)
    assert made == CallResult(trouble="the worker ended together with the engine's other processes", lost=True)
    assert (stand.session.kills, stand.count(protocol.Call), stand.count(protocol.Load)) == (1, 0, 1)


async def test_judge_failure_is_an_engine_failure(stand: Stand) -> None:
    def fail(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if not isinstance(command, protocol.CountCorrect):
            return None
        return protocol.Failed(id=command.id, kind=protocol.FailureKind.ENGINE, message="no memory")

    stand.changes = fail
    report = next(event.report for event in await stand.stage(asks_once) if isinstance(event, events.LayerChecked))
    assert (report.layer, report.by, report.coverage) == (Layer.INPUTS, "own", Coverage.ENGINE_FAILED)
    assert report.why == "EngineError: the judge could not count the correct outputs of c: no memory"


async def test_stage_emits_start_findings_and_end(stand: Stand) -> None:
    began, found, checked, *others, ended = await stand.stage(asks_once)
    assert isinstance(began, events.StageStarted)
    assert isinstance(found, events.FindingRaised)
    assert isinstance(checked, events.LayerChecked)
    assert isinstance(ended, events.StageFinished)
    assert (began.stage, ended.stage, ended.outcome) == (Stage.PROBE, Stage.PROBE, Outcome.PASS)
    assert (found.finding.message, checked.report) == ("4 right", CHECKED)
    not_asked = [event.report for event in others if isinstance(event, events.LayerChecked)]
    assert {report.by for report in not_asked} == {name_of(probe) for probe in probes() if not is_on_demand(probe)}
    assert {report.coverage for report in not_asked} == {Coverage.NOT_ASKED}


async def test_probed_candidate_has_no_worker_afterwards(stand: Stand) -> None:
    await stand.session.load()
    await stand.stage(asks_once)
    assert (stand.session.occupied, stand.count(protocol.Load)) == (False, 1)


async def test_separate_probe_has_its_own_worker_and_case(
    stand: Stand,
) -> None:
    others_are_done = asyncio.Event()
    seen: list[str] = []

    async def waits(lab: Lab) -> AsyncIterator[Observation]:
        async with lab.at(CASE) as bench:
            await others_are_done.wait()
            await bench.make(poison=7)
        seen.append("waited")
        yield CHECKED

    async def asks(lab: Lab) -> AsyncIterator[Observation]:
        async for observation in asks_once(lab):
            yield observation
        seen.append("asked")
        others_are_done.set()

    await stand.session.load()
    emitted = await stand.stage(asks, apart=waits)
    assert seen == ["asked", "waited"]
    assert [event.report for event in emitted if isinstance(event, events.LayerChecked)][:2] == [CHECKED, CHECKED]
    of_cases = [command for command in stand.asked if isinstance(command, protocol.CaseCommand)]
    assert Counter((type(command), command.place) for command in of_cases) == {
        (kind, place): 1
        for kind in (protocol.Prepare, protocol.Refill, protocol.CountCorrect, protocol.Release)
        for place in (0, 1)
        if (kind, place) != (protocol.CountCorrect, 1)
    }
    assert stand.count(protocol.Load) == 2


async def test_probe_on_a_device_runs_in_the_session(stand: Stand) -> None:
    async def asks(lab: Lab) -> AsyncIterator[Observation]:
        assert lab.session is stand.lab.session
        yield CHECKED

    stand.lab.process_pool.interpreted = False
    emitted = await stand.stage(apart=asks)
    assert next(event.report for event in emitted if isinstance(event, events.LayerChecked)) == CHECKED


async def test_separate_probe_ends_when_session_is_cleared(stand: Stand) -> None:
    workspaces: list[Path] = []

    async def asks(lab: Lab) -> AsyncIterator[Observation]:
        await lab.session.load()
        workspaces.append(lab.session.shared)
        yield CHECKED

    await stand.stage(apart=asks)
    await stand.session.clear()
    assert [workspace.exists() for workspace in workspaces] == [False]


async def test_cancelled_stage_ends_the_separate_probe(stand: Stand) -> None:
    begun = asyncio.Event()
    ended: list[str] = []

    async def waits(lab: Lab) -> AsyncIterator[Observation]:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("waiting")
        yield CHECKED

    running = asyncio.create_task(stand.stage(apart=waits))
    await begun.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert ended == ["waiting"]


async def test_without_probes_the_worker_stays(stand: Stand) -> None:
    await stand.session.load()
    await stand.stage()
    assert stand.session.occupied


def test_passed_cases_keep_the_order_of_results() -> None:
    other = Case(name="d", dtype=DType.FLOAT32, tier=Tier.SMOKE, params={})
    results = [
        CaseResult(case=name, tier=Tier.SMOKE, outcome=Outcome.PASS, elapsed_s=0, calls=1, seed=1) for name in "dc"
    ]
    assert passed_of((CASE, other), results, launches={}, tapes={"d": (Path("d.tape"),)}, digests={"d": "5" * 64}) == (
        PassedCase(case=other, result=results[0], launches=(), tapes=(Path("d.tape"),), digest="5" * 64),
        PassedCase(case=CASE, result=results[1], launches=()),
    )
