"""Results of a benchmark: times with their intervals, comparisons, roofline times, and the state of the device.

Records only, like the rest of `engine.model`.  A time that was not measured is None, never a number; every time has its
method, and every interval covers 95 %.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from engine.model import CacheState, Launch, Outcome

CANDIDATE = "candidate"
OTHER = "other"
"""The side that is another candidate, timed interleaved with this one."""
OTHER_PROCESSES, THROTTLING, WHOLE_STATE = "other processes", "throttling", "its state"
"""Prefixes of entries in `DeviceState.refused` for values that the driver did not report."""


class Method(enum.StrEnum):
    """How `device_us` was measured, most precise first.

    CUPTI reads the device's own timestamps of every kernel, copy and fill on all streams.  GRAPH divides the time of a
    replayed CUDA graph by its calls.  EVENTS are timestamps of the current stream around a call: they include launch
    gaps, and do not include other streams.
    """

    CUPTI = "cupti"
    GRAPH = "graph"
    EVENTS = "events"


class Standing(enum.StrEnum):
    """Comparison of a candidate with a baseline; SAME is a difference within the resolution."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "no difference"


class Bound(enum.StrEnum):
    """The resource that limits a case: moving its bytes, or doing its arithmetic."""

    MEMORY = "memory"
    COMPUTE = "compute"


@dataclass(frozen=True, kw_only=True)
class Interval:
    """An estimate and its 95 % interval, all three in the unit that the field's name states."""

    value: float
    low: float
    high: float

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, (self.value, self.low, self.high))):
            raise ValueError(f"an interval must be finite, got {self.low} .. {self.value} .. {self.high}")
        if not self.low <= self.value <= self.high:
            raise ValueError(f"an interval must hold its value, got {self.low} .. {self.value} .. {self.high}")


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Time that one side takes for one call of one case.

    `side` is "candidate" or the name of a baseline.  `device_us` is the span from the first start to the last end of
    all device activities of one call, over all streams, measured by `method`; `call_us` is end to end, host included,
    over back-to-back calls: by events that the parent's clock confirms, otherwise by that clock.  `graph_us` is one
    call inside a replayed CUDA graph, None if the side cannot be captured; `stream_us` is the time between events on
    the current stream.  `samples_us` are the device times behind `device_us`, in order; `activities` is the number of
    kernels, copies and fills of one call.  `notes` are values that could not be measured, with the reason.
    """

    side: str
    method: Method | None
    device_us: Interval | None
    call_us: Interval | None
    graph_us: Interval | None = None
    stream_us: Interval | None = None
    samples_us: tuple[float, ...] = ()
    activities: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The candidate against one baseline: `speedup` is baseline time over candidate time, above 1 is faster.

    `resolution` is the smallest relative difference that counts here, from runs of one side against
    itself: 0.01 means that ratios between 0.99 and 1.01 are "no difference".
    """

    baseline: str
    speedup: Interval
    resolution: float
    standing: Standing


@dataclass(frozen=True, kw_only=True)
class CaseEstimate:
    """Times of a case after its first `rounds` rounds, while it is still being measured.

    Its intervals cover 95 % as those of `CaseBenchmark` do, but are wider; what is checked after the rounds is not
    known yet.
    """

    case: str
    rounds: int
    method: Method
    device_us: Interval
    comparisons: tuple[Comparison, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Floor:
    """The roofline time of a case on this device: the larger of the times to move its bytes and to do its operations.

    `percent` is that time in percent of the measured device time; None without one.
    """

    floor_us: float
    bound: Bound
    bandwidth_bytes_per_s: float
    peak_flops_per_s: float | None
    precision: str
    percent: float | None


@dataclass(frozen=True, kw_only=True)
class Peaks:
    """Measured peaks of one device: copy bandwidth, and matrix products by precision.

    `flops_per_s` maps "float32", "tf32", "float16", "bfloat16", "float64" to operations a second.
    """

    device_name: str
    driver: str
    versions: str
    copy_bytes_per_s: float
    flops_per_s: Mapping[str, float]
    measured_at: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "flops_per_s", MappingProxyType(dict(self.flops_per_s)))


@dataclass(frozen=True, kw_only=True)
class DeviceState:
    """State of the device at one moment, as its driver reports it; None for values that it does not report.

    `throttled_by` has the current reasons for reduced clocks; `other_processes` are processes that are not ours and use
    the device.  () means that there are none, None that it is unknown; `refused` names what the driver did not report,
    each with the reason.
    """

    sm_clock_mhz: int | None = None
    memory_clock_mhz: int | None = None
    temperature_c: int | None = None
    power_w: float | None = None
    utilisation_percent: int | None = None
    throttled_by: tuple[str, ...] | None = None
    other_processes: tuple[int, ...] | None = None
    refused: tuple[str, ...] = ()

    def why_unknown(self, what: str) -> str:
        """The reason why the driver did not report `what`, by its name or for the whole state, as in `refused`."""
        reasons = (reason for reason in self.refused if reason.startswith((f"{what}: ", f"{WHOLE_STATE}: ")))
        return next(reasons, f"{what}: unknown")


@dataclass(frozen=True, kw_only=True)
class CaseBenchmark:
    """Measurements of one case.

    `outcome` is PASS when every timed call gave the right answer; otherwise there are no times. `slots` is the number
    of distinct input sets that rotate, `slot_bytes` the size of one, `calls` the number of timed calls, `verified` the
    number of their outputs that were checked.  `launches` are the specialisations that this case launches.
    `ratio_to_self` is the A/A run: the candidate against itself. `kernel_us` is the device time of the recorded
    launches in a process without the candidate's Python, None if they were not timed; `kernel_note` has the reason.
    """

    case: str
    outcome: Outcome
    cache: CacheState
    elapsed_s: float
    message: str = ""
    timing: Timing | None = None
    baselines: tuple[Timing, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    ratio_to_self: Interval | None = None
    floor: Floor | None = None
    slots: int = 0
    slot_bytes: int = 0
    calls: int = 0
    verified: int = 0
    launches: tuple[Launch, ...] = ()
    before: DeviceState | None = None
    after: DeviceState | None = None
    kernel_us: Interval | None = None
    kernel_note: str = ""


@dataclass(frozen=True, kw_only=True)
class Summary:
    """All right and timed cases against one baseline.

    `speedup` is the geometric mean of the cases' speed-ups with its interval; `fast` maps thresholds p
    to how many of the `planned` cases are right and at least p times as fast ("fast_p").
    """

    baseline: str
    speedup: Interval
    cases: int
    planned: int
    fast: Mapping[str, int]

    def __post_init__(self) -> None:
        object.__setattr__(self, "fast", MappingProxyType(dict(self.fast)))


@dataclass(frozen=True, kw_only=True)
class Holder:
    """Holder of a device: process id, command, and start (ISO 8601, UTC)."""

    pid: int
    command: str
    since: str


@dataclass(frozen=True, kw_only=True)
class Span:
    """A kind of work inside a run: its count, its total seconds, and its period in the run.

    `began_s` and `ended_s` count from the start of the run; overlapping work counts in full, so that `busy_s` of
    parallel work may exceed the time between them.
    """

    name: str
    count: int
    busy_s: float
    began_s: float
    ended_s: float
