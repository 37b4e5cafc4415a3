"""A simulated device with a clock of its own, and the behaviour of the side that runs on it."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from engine import protocol
from engine.model import (
    Case,
    DType,
    Tier,
)
from engine.model.benchmark import DeviceState, Peaks

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
    notes: tuple[str, ...] = ()
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
    imprecise_chunks: frozenset[int] = frozenset()
    unrecorded: str = ""  # what the worker says of the device's record before the candidate is loaded
    kernels_ns: Mapping[str, int] = field(default_factory=lambda: {"softmax_kernel": 100})  # of one call
    nodes: bool = False  # whether a graph tells its kernels

    def is_precise(self, chunk: int) -> bool:
        """Whether the device's record of this chunk of calls is evidence."""
        is_late = self.precise_until_chunk is not None and chunk >= self.precise_until_chunk
        return bool(self.method) and not is_late and chunk not in self.imprecise_chunks


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
    precise = script.is_precise(chunk)
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
