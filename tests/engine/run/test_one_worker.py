"""Processes with a device context that a run of a batch makes: one worker, and others only to confirm a failure."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from engine import protocol
from engine.model import Outcome, events
from engine.probes import device_record
from engine.run.ahead import readiness
from tests.engine.replay.tapes import DOUBLE
from tests.engine.run.device_run import CASES, DeviceRun, verdict
from tests.engine.run.proving.test_replayer import BINARY

OWN = protocol.ActivitySeen(kind=protocol.ActivityKind.KERNEL, name="k", own=True, device_ns=50)
LIBRARY = protocol.ActivitySeen(kind=protocol.ActivityKind.KERNEL, name="cublasGemm", device_ns=50)
RIGHT = protocol.CorrectCount(name="return", total=4, right=4, trivial=0)


class Batch:
    """Runs of one engine, each with a worker that records the activities of `seen`."""

    def __init__(self, device_run: DeviceRun, *seen: protocol.ActivitySeen) -> None:
        self.device_run = device_run
        self._seen = seen or (OWN,)
        device_run.changes = self.answer

    def answer(self, kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        match command:
            case protocol.Record():
                return protocol.Recorded(id=command.id, returned=(), activities=self._seen)
            case protocol.CountCorrect():
                return protocol.CorrectCounted(id=command.id, outputs=(RIGHT,))
        return None

    async def run(self, *, one_worker: bool = True) -> list[events.Event]:
        run = self.device_run.open(*CASES, probes=(device_record,), one_worker=one_worker)
        emitted = [event async for event in run.stream(asyncio.Event())]
        pool = self.device_run.process_pool
        await asyncio.gather(pool.worker.settle(), pool.replayer.settle())
        return emitted

    @property
    def contexts(self) -> Counter[str]:
        """Number of processes made so far that have a device context, by kind."""
        forked = Counter(self.device_run.fork_server.forked)
        return Counter({kind: forked[kind] for kind in ("judge", "worker", "replayer", "reference")})


async def test_run_of_batch_makes_one_context(device_run: DeviceRun) -> None:
    batch = Batch(device_run)
    await batch.run()
    before = batch.contexts
    assert [verdict(await batch.run()) for _ in range(3)] == [Outcome.PASS] * 3
    assert batch.contexts - before == Counter(worker=3)


async def test_other_run_makes_three_contexts(device_run: DeviceRun) -> None:
    batch = Batch(device_run)
    await batch.run(one_worker=False)
    before = batch.contexts
    for _ in range(3):
        await batch.run(one_worker=False)
    assert batch.contexts - before == Counter(worker=9)


async def test_binary_of_launch_is_built_once_for_all(device_run: DeviceRun) -> None:
    """The replayer and the candidate's compiler get the binary that a compiler without the candidate has built."""
    batch = Batch(device_run)

    def answer(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        match command:
            case protocol.Lower():
                return protocol.Lowered(id=command.id, ttir=DOUBLE, arguments=("x", "y", "n"))
            case protocol.BuildBinary():
                return protocol.BinaryBuilt(id=command.id, binary=BINARY)
        return batch.answer(kind, command)

    device_run.changes = answer
    await batch.run()
    asked = device_run.commands(protocol.Lower, protocol.BuildBinary, protocol.Compile)
    assert [type(command).__name__ for command in asked] == ["Lower", "BuildBinary", "Compile"]
    [compiling] = device_run.commands(protocol.Compile)
    assert isinstance(compiling, protocol.Compile) and compiling.prebuilt is not None
    assert len(device_run.commands(protocol.HoldBinary)) == 1


async def test_batch_keeps_one_idle_worker(device_run: DeviceRun) -> None:
    batch = Batch(device_run)
    await batch.run()
    await batch.run()
    loaded = [command for kind, command in device_run.asked if kind == "worker" and isinstance(command, protocol.Load)]
    assert batch.contexts["worker"] - len(loaded) == 1


async def test_no_worker_of_batch_loads_twice(device_run: DeviceRun) -> None:
    """A candidate never shares a process with another candidate."""
    batch, pids = Batch(device_run), list[int]()

    def answer(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if kind == "worker" and isinstance(command, protocol.Load):
            pids.append(device_run.fork_server.serving)
        return batch.answer(kind, command)

    device_run.changes = answer
    for _ in range(3):
        await batch.run()
    assert len(pids) == len(set(pids)) == 3


async def test_foreign_kernels_are_confirmed_in_new_worker(device_run: DeviceRun) -> None:
    batch = Batch(device_run, OWN, LIBRARY)
    emitted = await batch.run()
    [finding] = [
        event.finding
        for event in emitted
        if isinstance(event, events.FindingRaised) and event.finding.check == "device_record"
    ]
    recording = [number for number, (_, command) in enumerate(device_run.asked) if isinstance(command, protocol.Record)]
    [*_, last_load] = [
        number
        for number, (kind, command) in enumerate(device_run.asked)
        if kind == "worker" and isinstance(command, protocol.Load)
    ]
    assert "50% of device time is in library kernels" in finding.message
    assert [number > last_load for number in recording] == [False, False, True, True]


async def test_slow_first_call_is_repeated_after_dry_run(
    device_run: DeviceRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "UNPREPARED_S", 0.05)
    batch = Batch(device_run)
    device_run.silent = (protocol.Call,)

    def answer(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        if isinstance(command, protocol.RunDry):
            device_run.silent = ()
        return batch.answer(kind, command)

    device_run.changes = answer
    assert verdict(await batch.run()) is Outcome.PASS
    assert [command.case for command in device_run.commands(protocol.RunDry)] == ["a", "b"]  # type: ignore[union-attr]


async def test_no_dry_run_precedes_calls_of_batch(device_run: DeviceRun) -> None:
    await Batch(device_run).run()
    assert device_run.commands(protocol.RunDry, protocol.Describe) == []
