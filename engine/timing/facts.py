"""Observations while a case is timed: raw facts, before anything is computed from them."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine import protocol
from engine.model import CacheState, Case
from engine.model.benchmark import DeviceState, Method
from engine.verdict.native_symbols import NativeKernels


@dataclass(frozen=True, kw_only=True)
class ChunkTimes:
    """The times of the calls of one chunk by method, in microseconds.

    `idle` calls of `calls` put nothing on the device, and `early` ones had their work done before the work queued ahead
    of them.  `precise` is whether the device's own record was read for it.  `busy_us` is how long a call kept the
    device busy: without the gaps that a slow host leaves between its launches.
    """

    calls: int
    idle: int = 0
    early: int = 0
    spans_us: tuple[float, ...] = ()
    busy_us: tuple[float, ...] = ()
    streams_us: tuple[float, ...] = ()
    replay_us: tuple[float, ...] = ()
    activities: int = 0
    precise: bool = False

    @property
    def typical_s(self) -> float | None:
        """Time of one call, by the best of its methods; None without any."""
        times_us = self.spans_us or self.streams_us
        return statistics.median(times_us) * 1e-6 if times_us else None

    def times_us(self, method: Method) -> tuple[float, ...]:
        """Times by this method; () when there are none."""
        return {Method.CUPTI: self.spans_us, Method.EVENTS: self.streams_us, Method.GRAPH: self.replay_us}[method]


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """Calls that were made in one go: times by the parent's clock, exchange included, and by the side's own.

    `verified` is whether every output of them was checked, or the side is trusted.
    """

    calls: int
    wall_s: float
    claimed_us: float | None
    verified: bool = True


@dataclass(kw_only=True)
class SideFacts:
    """Observations of one side of a case.

    `rounds` has two chunks a round, in the order in which they were timed.  `bursts` are of many calls, `short_bursts`
    of one; `replays` of a graph of many calls, `short_replays` of a graph of one. `clock_replays` and
    `short_clock_replays` are further replays, whose outputs were not compared. `round_trips_s` are exchanges without a
    call.
    """

    name: str
    method: Method | None = None
    reason: str = ""
    rounds: list[tuple[ChunkTimes, ChunkTimes]] = field(default_factory=list)
    bursts: list[Stretch] = field(default_factory=list)
    short_bursts: list[Stretch] = field(default_factory=list)
    replays: list[Stretch] = field(default_factory=list)
    short_replays: list[Stretch] = field(default_factory=list)
    clock_replays: list[Stretch] = field(default_factory=list)
    short_clock_replays: list[Stretch] = field(default_factory=list)
    round_trips_s: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    trusted: bool = False

    def chunks_us(self, method: Method) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
        """The times of each round by this method."""
        return [(first.times_us(method), second.times_us(method)) for first, second in self.rounds]

    def work_us(self, method: Method) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
        """Busy time of the device for the calls of each round; their times for a method that cannot measure it."""
        if method is not Method.CUPTI:
            return self.chunks_us(method)
        return [(first.busy_us, second.busy_us) for first, second in self.rounds]

    def samples_us(self, method: Method) -> tuple[float, ...]:
        """All times by this method, in the order in which they were taken."""
        return tuple(time_us for pair in self.chunks_us(method) for batch in pair for time_us in batch)

    def has(self, method: Method) -> bool:
        """Whether every batch has times by this method."""
        return bool(self.rounds) and all(first and second for first, second in self.chunks_us(method))


@dataclass(kw_only=True)
class CaseFacts:
    """Observations of one case; `stored_us_by_baseline` is from earlier runs.

    `kernels_ns` is the device time of timed calls by kernel name, `nodes` the number of kernels of each name in
    captured graphs, `own` the names of the candidate's launches, `native` the kernels of its CUDA text.  `kernels` has
    the launches alone, if they were timed.
    """

    case: Case
    cache: CacheState
    candidate: SideFacts
    baselines: list[SideFacts] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    kernels_ns: Mapping[str, int] = field(default_factory=dict)
    nodes: Mapping[str, int] = field(default_factory=dict)
    own: frozenset[str] = frozenset()
    native: NativeKernels = field(default_factory=NativeKernels)
    stored_us_by_baseline: dict[str, float] = field(default_factory=dict)
    slots: int = 0
    slot_bytes: int = 0
    l2_bytes: int | None = None
    calls: int = 0
    verified: int = 0
    before: DeviceState | None = None
    after: DeviceState | None = None
    kernels: SideFacts | None = None


def chunk_times(timed: protocol.Timed) -> ChunkTimes:
    """The times of a SINGLE run."""
    precise = bool(timed.method)
    return ChunkTimes(
        calls=len(timed.calls),
        idle=sum(call.activities == 0 for call in timed.calls) if precise else 0,
        early=sum(0 < call.activities <= call.early for call in timed.calls) if precise else 0,
        spans_us=_microseconds([call.span_ns for call in timed.calls]) if precise else (),
        busy_us=_microseconds([call.busy_ns for call in timed.calls if call.activities]) if precise else (),
        streams_us=_microseconds([call.stream_ns for call in timed.calls]),
        activities=max((call.activities for call in timed.calls), default=0),
        precise=precise,
    )


def each_us(timed: protocol.Timed, calls: int) -> float | None:
    """Time of one call as reported by the side; None without one."""
    return timed.elapsed_ns / calls / 1e3 if timed.elapsed_ns and calls else None


def _microseconds(times_ns: Sequence[int | None]) -> tuple[float, ...]:
    return tuple(time_ns / 1e3 for time_ns in times_ns if time_ns is not None)
