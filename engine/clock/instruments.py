"""What a clock is made of on a device: a recorder, events, graphs, and a cache that can be emptied.

Everything that needs a device is in here, so that the rest can be run and tested without one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch

from engine.clock import cache, cupti, graphs
from engine.errors import UnsupportedError

HOLD = cupti.SLEEP.name
_Event, _record, _elapsed_ms = torch.cuda.Event, torch.cuda.Event.record, torch.cuda.Event.elapsed_time
_CYCLES_A_NS = 2  # about the clock of today's devices; nothing depends on how long a hold is to the microsecond


class Recorder(Protocol):
    """The device's own record of what it did, as of `cupti.Recorder`."""

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def take(self) -> tuple[cupti.Activity, ...]: ...

    def now_ns(self) -> int: ...


class Event(Protocol):
    """A moment in the work of the stream that calls are made on."""

    def record(self) -> None: ...

    def elapsed_ns(self, later: Event) -> int: ...


class Graph(Protocol):
    """Calls that were captured; `kernels` are the names of their kernels, () when those are not known."""

    kernels: tuple[str, ...]

    def replay(self) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Instruments:
    """`recorder` is None where there is no precise timer, for this `reason`.

    `hold` keeps the current stream busy for about so many nanoseconds with one kernel called HOLD.

    `evict` and `touch` empty the second-level cache and fill it; both return how many activities that
    may be on the device.  `forbid_persistence` says why it could not, "" when it could.
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


def instruments_of(device: torch.device) -> Instruments:
    """The instruments of this device.

    Raises:
        UnsupportedError: nothing can be timed on it.
    """
    if device.type != "cuda" or torch.version.cuda is None:
        raise UnsupportedError(f"calls are timed on NVIDIA GPUs only; this device is {device.type}")
    recorder: cupti.Recorder | None = None
    reason = ""
    try:
        recorder = cupti.open_recorder(device)
    except (cupti.CuptiError, OSError, AttributeError) as error:  # AttributeError: a library that lacks a function
        reason = str(error)
    cache_bytes = int(torch.cuda.get_device_properties(device).L2_cache_size)
    stream = torch.cuda.default_stream(device)
    return Instruments(
        recorder=recorder, reason=reason, cache_bytes=cache_bytes,
        synchronise=functools.partial(torch.cuda.synchronize, device),
        event=functools.partial(_StreamEvent, stream),
        hold=_Hold(),
        capture=functools.partial(graphs.capture, stream=stream),
        evict=_Evict(device, cache_bytes),
        touch=cache.touch,
        forbid_persistence=cache.forbid_persistence,
    )  # fmt: skip


class _Hold:
    """Kept with its function from before a candidate could replace it."""

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
    """Takes its memory on the first use: a worker that only verifies needs none."""

    def __init__(self, device: torch.device, cache_bytes: int) -> None:
        self._make = functools.partial(cache.Eviction, device, cache_bytes)
        self._eviction: cache.Eviction | None = None

    def __call__(self) -> int:
        self._eviction = self._eviction or self._make()
        self._eviction()
        return cache.MOST_ACTIVITIES
