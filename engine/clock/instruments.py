"""Instruments of a clock on a device: a recorder, events, graphs, and a cache that can be emptied.

Everything that needs a device is in here, so that the rest can be run and tested without one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch

from engine.clock import cache, cupti, graphs
from engine.clock import listener as listening
from engine.clock.listener import DriverCall
from engine.devices.runtimes import runtime_of
from engine.errors import UnsupportedError

HOLD = cupti.SLEEP.name
_Event, _record, _elapsed_ms = torch.cuda.Event, torch.cuda.Event.record, torch.cuda.Event.elapsed_time
_CYCLES_A_NS = 2  # roughly the clock of current devices; a hold need not be exact to the microsecond


class Recorder(Protocol):
    """Interface of the device's activity record, implemented by `cupti.Recorder`."""

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def take(self) -> tuple[cupti.Activity, ...]: ...

    def now_ns(self) -> int: ...


class Listener(Protocol):
    """Interface of the driver's record of launches, implemented by `listener.Listener`."""

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def take(self) -> tuple[DriverCall, ...]: ...


class Event(Protocol):
    """A point in the work of the stream that calls are made on."""

    def record(self) -> None: ...

    def elapsed_ns(self, later: Event) -> int: ...


class Graph(Protocol):
    """Captured calls; `nodes` are their kernels, () if unknown."""

    nodes: tuple[graphs.KernelNode, ...]

    def replay(self) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Instruments:
    """`recorder` and `listener` are None without a precise timer, for this `reason`.

    `hold` keeps the current stream busy for about this number of nanoseconds with one kernel called HOLD.  `evict` and
    `touch` empty the second-level cache and fill it; both return the most activities of that on the device.
    `forbid_persistence` returns why it failed, or "".
    """

    recorder: Recorder | None
    reason: str
    cache_bytes: int
    synchronise: Callable[[], None]
    event: Callable[[], Event]
    hold: Callable[[int], None]
    capture: Callable[[Callable[[], None]], Graph]
    evict: Callable[[], int]
    touch: Callable[[Sequence[torch.Tensor]], int]
    forbid_persistence: Callable[[], str]
    listener: Listener | None = None


def instruments_of(device: torch.device) -> Instruments:
    """The instruments of this device.

    Raises:
        UnsupportedError: nothing can be timed on it.
    """
    if not runtime_of(device).is_nvidia():
        raise UnsupportedError(f"calls are timed on NVIDIA GPUs only; this device is {device.type}")
    recorder: cupti.Recorder | None = None
    reason = ""
    cache_bytes = int(torch.cuda.get_device_properties(device).L2_cache_size)
    synchronise = functools.partial(torch.cuda.synchronize, device)
    evicting, touching = 0, 0
    try:
        recorder = cupti.open_recorder(device)
        evicting, touching = _activities_of_reading(device, cache_bytes, recorder, synchronise)
        torch.cuda.empty_cache()  # release the buffers of the measurement
    except (cupti.CuptiError, OSError, AttributeError) as error:  # AttributeError: a library that lacks a function
        recorder, reason = None, str(error)
    stream = torch.cuda.default_stream(device)
    return Instruments(
        recorder=recorder,
        reason=reason,
        cache_bytes=cache_bytes,
        synchronise=synchronise,
        event=functools.partial(_StreamEvent, stream),
        hold=_Hold(),
        capture=functools.partial(graphs.capture, stream=stream),
        evict=_Evict(device, cache_bytes, activities=evicting),
        touch=functools.partial(cache.touch, activities=touching),
        forbid_persistence=cache.forbid_persistence,
        listener=listening.Listener(recorder.library) if recorder is not None else None,
    )


def activities_of(work: Callable[[], object], recorder: Recorder, synchronise: Callable[[], None]) -> int:
    """Number of device activities of this work, by the device's own record.

    Raises:
        CuptiError: it could not be recorded.
    """
    synchronise()
    recorder.start()
    try:
        recorder.take()
        work()
        synchronise()
        return len(recorder.take())
    finally:
        recorder.stop()


def _activities_of_reading(
    device: torch.device, cache_bytes: int, recorder: Recorder, synchronise: Callable[[], None]
) -> tuple[int, int]:
    """Number of activities of an eviction, and the most of touching one storage.

    Counted before a candidate is loaded: further activities in a window of ours would be its hiding place.
    """
    eviction = cache.Eviction(device, cache_bytes)
    storage = torch.empty(cache_bytes, dtype=torch.uint8, device=device)
    eviction()
    cache.touch([storage], activities=0)
    touching = functools.partial(cache.touch, [storage], activities=0)
    return activities_of(eviction, recorder, synchronise), activities_of(touching, recorder, synchronise)


class _Hold:
    """Bound to its function before a candidate could replace it."""

    def __init__(self) -> None:
        self._sleep = torch.cuda._sleep

    def __call__(self, duration_ns: int) -> None:
        self._sleep(duration_ns * _CYCLES_A_NS)  # type: ignore[no-untyped-call]  # torch leaves it bare


class _StreamEvent:
    def __init__(self, stream: torch.cuda.Stream) -> None:
        self._stream = stream
        self._event = _Event(enable_timing=True)  # type: ignore[no-untyped-call]  # torch leaves it bare

    def record(self) -> None:
        _record(self._event, self._stream)

    def elapsed_ns(self, later: Event) -> int:
        assert isinstance(later, _StreamEvent)
        return max(0, round(float(_elapsed_ms(self._event, later._event)) * 1e6))


class _Evict:
    """Allocates its memory on the first use, which fills it: a worker that only verifies needs none."""

    def __init__(self, device: torch.device, cache_bytes: int, *, activities: int) -> None:
        self._make = functools.partial(cache.Eviction, device, cache_bytes)
        self._eviction: cache.Eviction | None = None
        self._activities = activities

    def __call__(self) -> int:
        filling = self._eviction is None
        self._eviction = self._eviction or self._make()
        self._eviction()
        return self._activities + filling
