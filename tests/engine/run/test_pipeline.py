"""A run from its source to its verdict, with scripted processes."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine import protocol
from engine.artefacts import ArtefactStore
from engine.devices import Device
from engine.model import (
    Candidate,
    Limits,
    Outcome,
    OutputReport,
    Plan,
    Policy,
    events,
)
from engine.processes.process_pool import ProcessPool
from engine.run.engine_resources import EngineResources
from engine.run.pipeline import Run
from engine.static.source import Source, read_source
from tests.engine.run.device_run import CASES, GPU, PROBLEM, DeviceRun, listen, notes, verdict
from tests.engine.run.right_replies import reply_to
from tests.guards import PATIENCE_S

if TYPE_CHECKING:
    from tests.engine.conftest import Employ


def empty_case(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply:
    """What judge and worker answer where every case is right, and has no elements."""
    return reply_to(command, OutputReport(name="return", outcome=Outcome.PASS, shape=(0,), dtype="float32"))


def run_on_cpu(process_pool: ProcessPool, folder: Path) -> Run:
    candidate = Candidate(source=b"import triton\n@triton.jit\ndef k(): ...\ndef f(x): ...\n", problem="toy::twice")
    return Run(
        candidate,
        Plan(problem=PROBLEM, cases=PROBLEM.cases, device="cpu", target=None),
        EngineResources(
            process_pool=process_pool,
            artefacts=ArtefactStore(folder=folder),
            device=Device(platform="cpu", index=0, name="cpu"),
            limits=Limits(),
        ),
        probes=(),
    )


async def test_a_case_without_elements_needs_no_kernel(employ: Employ, tmp_path: Path) -> None:
    _, process_pool = employ(empty_case)
    emitted = [event async for event in run_on_cpu(process_pool, tmp_path).stream(asyncio.Event())]
    finished = emitted[-1]
    assert isinstance(finished, events.RunFinished)
    assert (finished.verdict.outcome, finished.verdict.flagged) == (Outcome.PASS, False)


async def test_next_worker_starts_after_the_cases_on_the_cpu(employ: Employ, tmp_path: Path) -> None:
    workers: list[int] = []

    def counting(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply:
        if isinstance(command, protocol.Call):
            workers.append(fake.forked.count("worker"))
        return empty_case(kind, command)

    fake, process_pool = employ(counting)
    async for _ in run_on_cpu(process_pool, tmp_path).stream(asyncio.Event()):
        pass
    assert workers == [1, 1, 2]  # two calls of the case, one of the proof


async def test_device_run_calls_every_case_on_new_content(device_run: DeviceRun) -> None:
    await device_run.run(CASES[0])
    refills = [command for command in device_run.commands(protocol.Refill) if isinstance(command, protocol.Refill)]
    assert [refill.fresh for refill in refills[:2]] == [False, True]  # those behind are of the proof


async def test_different_bits_on_same_input_are_a_note(device_run: DeviceRun) -> None:
    def waver(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.Compare):
            report = OutputReport(name="return", outcome=Outcome.PASS, shape=(4,), dtype="float32", total=4)
            return protocol.Compared(id=command.id, reports=(report,), repeated=False, mutated=None)
        return None

    device_run.changes = waver
    emitted = await device_run.run(CASES[0])
    assert verdict(emitted) is Outcome.PASS
    assert notes(emitted) == [("repeat", "two calls on the same input differ in bits, both within tolerance")]


async def test_candidate_without_dry_run_is_verified(device_run: DeviceRun) -> None:
    def refuse(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.RunDry):
            return protocol.Failed(
                id=command.id, kind=protocol.FailureKind.RAISED, message="it looked at its own result"
            )
        return None

    device_run.changes = refuse
    emitted = await device_run.run(*CASES)
    assert verdict(emitted) is Outcome.PASS
    assert [event.result.case for event in emitted if isinstance(event, events.CaseFinished)] == ["a", "b"]


async def test_cleanup_error_ends_stream_and_is_raised(device_run: DeviceRun, monkeypatch: pytest.MonkeyPatch) -> None:
    emitted: list[events.Event] = []

    def fail(cache_folder: Path) -> None:
        raise RuntimeError("the folder is stuck")

    monkeypatch.setattr(device_run.process_pool.directories, "clear_kernel_cache", fail)
    listening = listen(device_run.open(CASES[0]), asyncio.Event(), emitted)
    with pytest.raises(RuntimeError, match="the folder is stuck"):
        await asyncio.wait_for(listening, timeout=PATIENCE_S)
    assert verdict(emitted) is Outcome.PASS


async def test_file_refused_by_strict_policy_reaches_no_process(device_run: DeviceRun, tmp_path: Path) -> None:
    plan = Plan(problem=PROBLEM, cases=PROBLEM.cases, device="cuda", target="sm_90", policy=Policy.STRICT)
    run = Run(
        Candidate(source=b"def f(x):\n    return x @ x\n", problem="toy::twice"),
        plan,
        EngineResources(
            process_pool=device_run.process_pool,
            artefacts=ArtefactStore(folder=tmp_path),
            device=GPU,
            limits=Limits(),
        ),
    )
    emitted = [event async for event in run.stream(asyncio.Event())]
    assert device_run.commands(protocol.Load, protocol.Describe, protocol.RunDry, protocol.Compile) == []
    assert isinstance(emitted[0], events.RunStarted)
    assert emitted[0].policy is Policy.STRICT
    assert isinstance(emitted[-1], events.RunFinished)
    assert emitted[-1].verdict.outcome is Outcome.REFUSED
    assert emitted[-1].verdict.sentence.endswith(", by the strict policy")


async def test_candidate_is_parsed_outside_the_event_loop(
    device_run: DeviceRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsers: list[threading.Thread] = []

    def parse(candidate: Candidate, entry: str) -> Source:
        parsers.append(threading.current_thread())
        return read_source(candidate, entry)

    monkeypatch.setattr("engine.run.static_reading.read_source", parse)
    assert verdict(await device_run.run(*PROBLEM.cases)) is Outcome.PASS
    assert len(parsers) == 1
    assert threading.current_thread() not in parsers
