"""A judge and workers that answer the messages of timing, on a device that is simulated with a clock of its own.

Nothing here knows how the parent orders its measurements: it knows the true times, fills slots, makes
calls and checks outputs, and writes down what it was asked.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from engine import protocol
from engine.devices import Device
from engine.errors import ChildDiedError, EngineError
from engine.model import (
    BenchmarkPlan,
    CacheState,
    Case,
    Cost,
    DType,
    Finding,
    Outcome,
    OutputReport,
    Problem,
    ProblemDefinition,
    Tier,
    Tolerance,
)
from engine.model.benchmark import CaseBenchmark, DeviceState, Peaks
from engine.timing.bench import Bench
from engine.timing.exchange import Exchange
from engine.timing.kernel_times import KernelSource
from engine.timing.seats import OwnKernels, TimedCandidate
from engine.timing.timed_device import TimedDevice

CASE = Case(name="4096x781 f32", dtype=DType.FLOAT32, tier=Tier.BENCH, params={"rows": 4096})
SECOND = Case(name="1x131072 f32", dtype=DType.FLOAT32, tier=Tier.BENCH, params={"rows": 1})
STATE = DeviceState(sm_clock_mhz=1980, temperature_c=41, throttled_by=(), other_processes=())
RETURNED = (protocol.ReturnedSpec(type_name="Tensor", dtype="float32", shape=(4,), bytes=16),)
ROUND_TRIP_S = 100e-6
EVICTION_S = 60e-6
LAUNCH_US = 4.0  # what the host needs for one call
GRAPH_GAP_US = 1.0

PEAKS = Peaks(
    device_name="H100",
    driver="580",
    versions="torch 2.11.0",
    copy_bytes_per_s=3e12,
    flops_per_s={"float32": 5e13},
    measured_at="2026-01-01",
)


class Clock:
    """Seconds that pass only when somebody works."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s

    def work(self, seconds: float) -> None:
        self.now_s += seconds


@dataclass(kw_only=True)
class Script:
    """How a side behaves: what a call of it truly takes, and what it does that is out of the ordinary."""

    device_us: float = 20.0
    noise: float = 0.01
    method: str = "cupti"
    reason: str = ""
    stream_factor: float = 1.0
    claim_factor: float = 1.0
    activities: int = 1
    idle_share: float = 0.0
    late: tuple[str, ...] = ()
    first_does_all: bool = False
    capturable: bool = True
    held_up_s: float = 0.0  # by this the parent sees every third replay end later, having a screen to draw
    old_content_factor: float = 1.0  # what a replay takes on content that it has met before
    launch_us: float = LAUNCH_US
    early_share: float = 0.0
    graph_wrong_from: int | None = None  # the replay from which on its answers are wrong
    shared_outputs: bool = False
    wrong_at_call: int | None = None
    dies_at_call: int | None = None
    fails_with: str | None = None
    fails_from: int = 0
    reports_fewer: bool = False
    first_call_s: float = 0.0
    first_stretch_us: float = 0.0  # what the first burst, and the first replay of a graph, take beside their calls
    precise_until_chunk: int | None = None
    kernels_ns: Mapping[str, int] = field(default_factory=lambda: {"softmax_kernel": 100})  # of one call
    nodes: bool = False  # whether a graph tells its kernels


@dataclass(kw_only=True)
class Machine:
    """The state of the simulated device that judge and workers share."""

    clock: Clock
    rng: random.Random
    slots: int = 64
    stride: int = 1 << 22
    l2_bytes: int = 50 << 20
    refresh_s: float = 40e-6
    drift_by_s: float = 0.0
    filled: dict[int, str] = field(default_factory=dict)  # slot -> who has been called on its content
    serial: int = 0
    log: list[tuple[str, ...]] = field(default_factory=list)
    arranged: bool = False
    occupied: int = 0
    wrong: set[int] = field(default_factory=set)

    def busy_us(self, script: Script) -> float:
        """One call's device time now, with noise and drift."""
        drift = 1.0 + self.drift_by_s * (self.clock.now_s - 1000.0)
        return script.device_us * drift * max(0.5, self.rng.gauss(1.0, script.noise))


def single(device: Machine, script: Script, slots: tuple[int, ...], chunk: int) -> tuple[protocol.CallTime, ...]:
    """The calls of a SINGLE run, on the clock."""
    calls: list[protocol.CallTime] = []
    precise = bool(script.method) and (script.precise_until_chunk is None or chunk < script.precise_until_chunk)
    for number in range(len(slots)):
        busy_us = device.busy_us(script)
        if script.first_does_all:
            busy_us = busy_us * len(slots) if number == 0 else 0.5
        device.clock.work(EVICTION_S + LAUNCH_US * 1e-6 + busy_us * 1e-6)
        idle = device.rng.random() < script.idle_share
        claimed_ns = round(busy_us * script.claim_factor * 1e3)
        calls.append(
            protocol.CallTime(
                span_ns=None if idle or not precise else claimed_ns,
                stream_ns=round(busy_us * script.stream_factor * 1e3) + 2000,
                activities=0 if idle or not precise else script.activities,
                early=script.activities if precise and device.rng.random() < script.early_share else 0,
                busy_ns=0 if idle or not precise else claimed_ns,
            )
        )
    return tuple(calls)


class Worker:
    """A candidate in its worker; `ask` and `clear` are what Bench knows of it."""

    def __init__(self, device: Machine, script: Script, *, name: str = "worker") -> None:
        self.device, self.script, self.name = device, script, name
        self.calls = 0
        self.chunks = 0
        self.replays = 0
        self.stretched: set[protocol.How] = set()
        self.how = protocol.How.SINGLE
        self.captured: tuple[int, ...] = ()
        self.last: tuple[int, ...] = ()
        self.alive = True
        self.occupied = False
        self.cache: CacheState | None = None  # as the last fetch left it, None once calls were made
        self.deadlines_s: list[float] = []
        self.error: EngineError | None = None

    async def clear(self) -> None:
        self.alive = False
        if self.occupied:
            self.occupied = False
            self.device.occupied -= 1

    async def ask(self, command: protocol.AnyCommand, *, deadline_s: float) -> protocol.AnyReply:
        self.device.clock.work(ROUND_TRIP_S)
        self.deadlines_s.append(deadline_s)
        if not self.alive:
            raise ChildDiedError("the worker is not running")
        match command:
            case protocol.OpenSlots():
                assert self.device.arranged
                self.occupied = True
                self.device.occupied += 1
            case protocol.Fetch():
                assert self.occupied
                self.cache = command.cache
            case protocol.TimeCalls():
                return self._time(command)
            case protocol.Collect():
                self._write(tuple(dict.fromkeys(self.last)))  # a graph may go over its slots more than once
                if self.script.shared_outputs:  # every call wrote over what the one before it left
                    self.device.wrong |= set(self.last) - {self.last[-1]}
                return protocol.Timed(
                    id=command.id, returned=(RETURNED,) * len(self.last), shared_outputs=self.script.shared_outputs
                )
            case protocol.CloseSlots():
                if self.occupied:
                    self.occupied = False
                    self.device.occupied -= 1
            case _:
                raise AssertionError(f"a worker is never asked for {type(command).__name__}")
        return protocol.Done(id=command.id)

    def _time(self, command: protocol.TimeCalls) -> protocol.AnyReply:
        device, script = self.device, self.script
        if command.slots:
            device.log.append((self.name, command.how.value, str(len(command.slots))))
            in_one_go = command.how in (protocol.How.BURST, protocol.How.REPLAY)
            assert not in_one_go or self.cache is command.cache, "the cache is as the calls before left it"
            self.cache = None
        if command.how is not protocol.How.CAPTURE:
            self.calls += len(command.slots)
        if script.dies_at_call is not None and self.calls >= script.dies_at_call:
            self.alive = False
            raise self.error or ChildDiedError("the worker ended without a reply (killed by signal 11)")
        if script.fails_with is not None:
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.RAISED, message=script.fails_with)
        if self.calls == len(command.slots):
            device.clock.work(script.first_call_s)
        self.last, self.how = command.slots, command.how
        match command.how:
            case protocol.How.SINGLE:
                return self._single(command)
            case protocol.How.BURST:
                busy_us = sum(max(script.launch_us, device.busy_us(script)) for _ in command.slots)
                busy_us += self._first_us(command)
                device.clock.work(busy_us * 1e-6)
                return protocol.Timed(id=command.id, elapsed_ns=round(busy_us * 1e3))
            case protocol.How.CAPTURE:
                if not script.capturable:
                    message = "cannot be captured: it waits for the device"
                    return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=message)
                self.captured = command.slots
                self.stretched.discard(protocol.How.REPLAY)
                return protocol.Timed(id=command.id, kernels=self._kernels(len(command.slots)) if script.nodes else ())
            case protocol.How.REPLAY:
                assert command.slots == self.captured
                self.replays += 1
                met = device.filled[command.slots[0]] == "seen"
                factor = script.old_content_factor if met else 1.0
                busy_us = sum(device.busy_us(script) * factor + GRAPH_GAP_US for _ in command.slots)
                busy_us += self._first_us(command)
                device.clock.work(20e-6 + busy_us * 1e-6 + (0.0 if self.replays % 3 else script.held_up_s))
                return protocol.Timed(id=command.id, elapsed_ns=round(busy_us * script.claim_factor * 1e3))

    def _first_us(self, command: protocol.TimeCalls) -> float:
        if not command.slots or command.how in self.stretched:
            return 0.0
        self.stretched.add(command.how)
        return self.script.first_stretch_us

    def _single(self, command: protocol.TimeCalls) -> protocol.Timed:
        self.chunks += 1
        calls = single(self.device, self.script, command.slots, self.chunks)
        if self.script.reports_fewer:
            calls = calls[1:]
        self._write(command.slots)
        precise = self.script.precise_until_chunk is None or self.chunks < self.script.precise_until_chunk
        return protocol.Timed(
            id=command.id,
            calls=calls,
            returned=(RETURNED,) * len(command.slots),
            kernels=self._kernels(len(calls)),
            late=self.script.late,
            method=self.script.method if precise else "",
            reason=self.script.reason,
        )

    def _kernels(self, calls: int) -> tuple[protocol.KernelTime, ...]:
        return tuple(
            protocol.KernelTime(name=name, device_ns=calls * each_ns, count=calls)
            for name, each_ns in self.script.kernels_ns.items()
        )

    def _write(self, slots: tuple[int, ...]) -> None:
        """Leave outputs: each slot must hold content that no call of this worker has met."""
        for offset, slot in enumerate(slots):
            assert self.device.filled.get(slot) == "unseen", f"slot {slot} holds {self.device.filled.get(slot)}"
            self.device.filled[slot] = "seen"
            number = self.calls - len(slots) + offset + 1
            if self.script.wrong_at_call is not None and number >= self.script.wrong_at_call:
                self.device.wrong.add(slot)
            wrong_from = self.script.graph_wrong_from
            if self.how is protocol.How.REPLAY and wrong_from is not None and self.replays >= wrong_from:
                self.device.wrong.add(slot)


class Judge:
    """The trusted side; `fails` maps types of commands to what they are answered with."""

    def __init__(self, device: Machine, baselines: dict[str, Script]) -> None:
        self.device, self.baselines = device, baselines
        self.fails: dict[type, protocol.Failed | EngineError] = {}
        self.fails_from: dict[type, int] = {}
        self.fails_to: dict[type, int] = {}  # the last time that it fails, inclusive
        self.asked: dict[type, int] = {}
        self.refreshed: list[tuple[int, ...]] = []
        self.report_trouble: str | None = None
        self.cancel_at: tuple[int, asyncio.Task[None]] | None = None

    async def __call__(self, command: protocol.AnyCommand) -> protocol.AnyReply:
        device, kind = self.device, type(command)
        device.clock.work(ROUND_TRIP_S)
        self.asked[kind] = self.asked.get(kind, 0) + 1
        if self.cancel_at is not None and sum(self.asked.values()) == self.cancel_at[0]:
            self.cancel_at[1].cancel()
            await asyncio.sleep(0)
        failing = range(self.fails_from.get(kind, 0), self.fails_to.get(kind, sys.maxsize) + 1)
        if kind in self.fails and self.asked[kind] in failing:
            failure = self.fails[kind]
            if isinstance(failure, EngineError):
                raise failure
            return protocol.Failed(id=command.id, kind=failure.kind, message=failure.message)
        match command:
            case protocol.Arrange():
                device.arranged = True
                device.filled.clear()
                layout = protocol.SlotLayout(
                    handle="ab",
                    bytes=device.slots * device.stride,
                    first=0,
                    stride=device.stride,
                    slots=min(device.slots, command.most_slots),
                    storages=(),
                    outputs=protocol.StorageSpec(offset=0, bytes=16),
                )
                return protocol.Arranged(
                    id=command.id,
                    arguments=(),
                    layouts=(layout,) * command.blocks,
                    slot_bytes=device.stride,
                    l2_bytes=device.l2_bytes,
                )
            case protocol.Refresh():
                assert len(set(command.slots)) == len(command.slots)
                device.clock.work(device.refresh_s * len(command.slots))
                device.filled = dict.fromkeys(device.filled, "old") | dict.fromkeys(command.slots, "unseen")
                device.wrong -= set(command.slots)
                self.refreshed.append(command.slots)
            case protocol.Check():
                device.clock.work(device.refresh_s * len(command.slots))
                return self._check(command)
            case protocol.PrepareBaseline():
                if command.name not in self.baselines:
                    message = f"{command.name} is not installed here"
                    return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=message)
            case protocol.TimeBaseline():
                return self._time(command)
            case protocol.FreeSlots():
                device.arranged = False
            case _:
                raise AssertionError(f"the judge is not expected to be asked for {kind.__name__}")
        return protocol.Done(id=command.id)

    def _check(self, command: protocol.Check) -> protocol.Checked:
        assert len(command.slots) == len(command.returned)
        assert all(self.device.filled[slot] == "seen" for slot in command.slots), "an output was checked before a call"
        wrong = [place for place, slot in enumerate(command.slots) if slot in self.device.wrong]
        report = OutputReport(name="return", outcome=Outcome.WRONG_VALUE, message="3 of 4 elements differ")
        return protocol.Checked(
            id=command.id,
            right=len(command.slots) - len(wrong),
            first_wrong=wrong[0] if wrong else None,
            reports=(report,) if wrong and self.report_trouble is None else (),
            trouble=self.report_trouble if wrong else None,
        )

    def _time(self, command: protocol.TimeBaseline) -> protocol.AnyReply:
        device, script = self.device, self.baselines[command.name]
        device.log.append((command.name, command.how.value, str(len(command.slots))))
        assert all(slot in device.filled for slot in command.slots), "the judge has no copy of a slot never filled"
        if script.fails_with is not None and self.asked[protocol.TimeBaseline] >= script.fails_from:
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=script.fails_with)
        if command.how is protocol.How.SINGLE:
            calls = single(device, script, command.slots, 0)
            return protocol.Timed(id=command.id, calls=calls, method=script.method, reason=script.reason)
        if command.how is protocol.How.CAPTURE and not script.capturable:
            message = f"{command.name} cannot be captured"
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=message)
        busy_us = sum(device.busy_us(script) for _ in command.slots)
        device.clock.work(busy_us * 1e-6)
        return protocol.Timed(id=command.id, elapsed_ns=round(busy_us * 1e3))


@dataclass(kw_only=True)
class Lab:
    """A simulated machine, and what a benchmark on it told."""

    device: Machine
    judge: Judge
    worker: Worker
    seed: int = 7
    cases: list[CaseBenchmark] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    work: list[str] = field(default_factory=list)
    states: int = 0
    case = CASE
    second = SECOND

    def another(self, **script: Any) -> Worker:
        """One more worker on the same machine."""
        return Worker(self.device, Script(**script), name="another")

    def state(self) -> DeviceState:
        self.states += 1
        return STATE

    def bench(
        self,
        *,
        cases: tuple[Case, ...] = (CASE,),
        baselines: tuple[str, ...] = ("eager",),
        cache: CacheState = CacheState.COLD,
        case_s: float = 2.0,
        peaks: Peaks | None = PEAKS,
        stored: Callable[[str, str], float | None] = lambda *_: None,
        other: Worker | None = None,
        reload: Callable[[], Awaitable[Worker | None]] | None = None,
        own: frozenset[str] = frozenset(),
        source: KernelSource | None = None,
    ) -> Bench:
        """A benchmark of the worker."""
        return Bench(
            BenchmarkPlan(cases=cases, cache=cache, baselines=baselines, case_s=case_s),
            problem(cases or (CASE,)),
            candidate=TimedCandidate(side=self.worker, reload=reload, kernels=OwnKernels(names=own, source=source)),
            other=TimedCandidate(side=other) if other is not None else None,
            exchange=Exchange(
                judge=self.judge, clock=self.device.clock, on_work=lambda doing, *_: self.work.append(doing)
            ),
            device=TimedDevice(
                device=Device(platform="cuda", index=0, name="H100"),
                state=self.state,
                peaks=peaks,
                free_bytes=60 << 30,
                stored_us=stored,
            ),
            rng=random.Random(self.seed),
            on_case=self._case,
        )

    def _case(self, benchmark: CaseBenchmark, findings: tuple[Finding, ...]) -> None:
        self.cases.append(benchmark)
        self.findings += findings

    async def run(self, **options: Any) -> CaseBenchmark:
        """The record of the one case."""
        await self.bench(**options).run()
        assert not self.device.arranged
        assert self.device.occupied == 0
        (case,) = self.cases
        return case

    def raised(self) -> dict[str, str]:
        """Severity by check."""
        return {finding.check: finding.severity.value for finding in self.findings}


def problem(cases: tuple[Case, ...]) -> Problem:
    """A problem of which the parent uses the names and the cost only."""

    def never(*_: object) -> object:
        raise AssertionError("the parent makes no tensors")

    return ProblemDefinition(
        name="aten::softmax",
        entry="softmax",
        signature="softmax(self: Tensor) -> Tensor",
        summary="",
        category="",
        cases=cases,
        make_inputs=never,
        reference=never,
        eager=never,
        tolerance=lambda _: Tolerance(relative=0, absolute=0),
        cost=lambda _: Cost(flops=1000, bytes_read=6_000_000, bytes_written=6_000_000),
    ).problem("toy_problems")


MakeLab = Callable[..., Lab]


@pytest.fixture
def make_lab() -> MakeLab:
    """A lab: how the candidate behaves, and by name how the baselines and the machine do."""

    def make(
        *,
        baselines: dict[str, dict[str, Any]] | None = None,
        machine: dict[str, Any] | None = None,
        seed: int = 7,
        **candidate: Any,
    ) -> Lab:
        known = {"eager": {"device_us": 40.0}} if baselines is None else baselines
        simulated = Machine(clock=Clock(), rng=random.Random(seed), **(machine or {}))
        judge = Judge(simulated, {name: Script(**script) for name, script in known.items()})
        return Lab(device=simulated, judge=judge, worker=Worker(simulated, Script(**candidate)), seed=seed)

    return make
