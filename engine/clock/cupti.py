"""The device's own record of its work: CUPTI's activity interface, read through ctypes.

Every kernel, copy and fill of this process is recorded with device timestamps, on whatever stream and from whatever
thread it was launched.  Only the first bytes of each record are read, which have the same layout in every CUPTI since
CUDA 11 (`CUpti_ActivityKernel4` and later, `CUpti_ActivityMemcpy3`, `CUpti_ActivityMemset2` of cupti_activity.h);
`check_layout` verifies it on a known launch.  It never falls back to another method by itself: a caller that gets
CuptiError reports the method that it used instead.
"""

from __future__ import annotations

import ctypes
import enum
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

_BUFFER_BYTES = 1 << 20
_NO_MORE_RECORDS = 12  # CUPTI_ERROR_MAX_LIMIT_REACHED
_FLUSH_FORCED = 1  # CUPTI_ACTIVITY_FLAG_FLUSH_FORCED: also what is not full yet
_KNOWN_CYCLES = 1000


class CuptiError(Exception):
    """CUPTI is missing, or returned an error; the message has the call and the reason."""


class Kind(enum.IntEnum):
    """Kinds of activity, by their numbers in cupti_activity.h."""

    COPY = 1
    FILL = 2
    KERNEL = 10  # CONCURRENT_KERNEL: does not serialise kernels, as kind 3 would


@dataclass(frozen=True, kw_only=True)
class Activity:
    """One activity of the device, in nanoseconds of CUPTI's clock; `name` is a kernel's mangled name.

    `grid` and `block` are a kernel's launch sizes; () for copies and fills.
    """

    kind: Kind
    name: str
    start_ns: int
    end_ns: int
    stream: int
    correlation: int
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Known:
    """A kernel whose record is known before it is launched; `name` is a part of its name."""

    name: str
    grid: tuple[int, ...]
    block: tuple[int, ...]


SLEEP = Known(name="spin_kernel", grid=(1, 1, 1), block=(1, 1, 1))  # torch's own, so that nothing is compiled


class _KernelHead(ctypes.Structure):
    """The first 112 bytes of CUpti_ActivityKernel4 and later."""

    _fields_ = (
        ("kind", ctypes.c_uint32), ("cache_config", ctypes.c_uint8), ("shared_config", ctypes.c_uint8),
        ("registers", ctypes.c_uint16), ("partitioned_requested", ctypes.c_uint32),
        ("partitioned_executed", ctypes.c_uint32), ("start", ctypes.c_uint64), ("end", ctypes.c_uint64),
        ("completed", ctypes.c_uint64), ("device", ctypes.c_uint32), ("context", ctypes.c_uint32),
        ("stream", ctypes.c_uint32), ("grid", ctypes.c_int32 * 3), ("block", ctypes.c_int32 * 3),
        ("static_shared", ctypes.c_int32), ("dynamic_shared", ctypes.c_int32), ("local_a_thread", ctypes.c_uint32),
        ("local_total", ctypes.c_uint32), ("correlation", ctypes.c_uint32), ("grid_id", ctypes.c_int64),
        ("name", ctypes.c_char_p),
    )  # fmt: skip


class _MemoryHead(ctypes.Structure):
    """The first 48 bytes of CUpti_ActivityMemcpy3 and of CUpti_ActivityMemset2, and of their successors."""

    _fields_ = (
        ("kind", ctypes.c_uint32),
        ("what", ctypes.c_uint32),
        ("bytes", ctypes.c_uint64),
        ("start", ctypes.c_uint64),
        ("end", ctypes.c_uint64),
        ("device", ctypes.c_uint32),
        ("context", ctypes.c_uint32),
        ("stream", ctypes.c_uint32),
        ("correlation", ctypes.c_uint32),
    )


_REQUESTED = ctypes.CFUNCTYPE(
    None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t), ctypes.POINTER(ctypes.c_size_t)
)
_COMPLETED = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)


_registered: dict[str, Recorder] = {}
"""Recorders by the path of their library, which calls back into them for the life of the process."""


class Recorder:
    """Records activities between `start` and `stop`; one per process."""

    def __init__(self, library: Any) -> None:  # Any: a loaded library, whose functions have no types
        self.library = library
        self._buffers: dict[int, ctypes.Array[ctypes.c_uint64]] = {}
        self._idle: list[ctypes.Array[ctypes.c_uint64]] = []
        self._activities: list[Activity] = []
        self._lost = 0
        self._trouble: CuptiError | None = None
        # Kept for as long as the library may call them.
        self._callbacks = (_REQUESTED(self._give_buffer), _COMPLETED(self._take_buffer))
        self._call("cuptiActivityRegisterCallbacks", *self._callbacks)

    def start(self) -> None:
        """Record from now on."""
        for kind in Kind:
            self._call("cuptiActivityEnable", int(kind))

    def stop(self) -> None:
        """Stop recording; earlier records can still be read with `take`."""
        for kind in Kind:
            self._call("cuptiActivityDisable", int(kind))

    def take(self) -> tuple[Activity, ...]:
        """Everything recorded since the last call, by start.  The device must be idle.

        Raises:
            CuptiError: records were lost or could not be read, so that the rest is not evidence.
        """
        self._call("cuptiActivityFlushAll", _FLUSH_FORCED)
        taken, self._activities = self._activities, []
        lost, self._lost = self._lost, 0
        trouble, self._trouble = self._trouble, None
        if trouble is not None:
            raise trouble
        if lost:
            raise CuptiError(f"CUPTI dropped {lost} records: its buffers were full")
        return tuple(sorted(taken, key=lambda activity: activity.start_ns))

    def now_ns(self) -> int:
        """The clock of the timestamps of activities."""
        now = ctypes.c_uint64()
        self._call("cuptiGetTimestamp", ctypes.byref(now))
        return now.value

    def _give_buffer(self, buffer: object, size: object, most: object) -> None:
        words = self._idle.pop() if self._idle else (ctypes.c_uint64 * (_BUFFER_BYTES // 8))()
        address = ctypes.addressof(words)
        self._buffers[address] = words
        buffer[0] = address  # type: ignore[index]  # ctypes gives a pointer
        size[0] = _BUFFER_BYTES  # type: ignore[index]  # as above
        most[0] = 0  # type: ignore[index]  # as above

    def _take_buffer(self, context: int | None, stream: int, buffer: int, size: int, used: int) -> None:
        words = self._buffers.pop(buffer)
        dropped = ctypes.c_size_t()
        try:
            self._activities += read_records(self._records(buffer, used))
            self._call(
                "cuptiActivityGetNumDroppedRecords",
                ctypes.c_void_p(context),
                ctypes.c_uint32(stream),
                ctypes.byref(dropped),
            )
        except CuptiError as error:  # a callback cannot raise: ctypes would print the error and continue
            self._trouble = error
        self._lost += dropped.value
        self._idle.append(words)

    def _records(self, buffer: int, used: int) -> list[int]:
        """The addresses of the records in the first `used` bytes of a buffer."""
        addresses: list[int] = []
        record = ctypes.c_void_p()
        while used:
            status = self.library.cuptiActivityGetNextRecord(
                ctypes.c_void_p(buffer), ctypes.c_size_t(used), ctypes.byref(record)
            )
            if status == _NO_MORE_RECORDS:
                break
            self._expect("cuptiActivityGetNextRecord", status)
            assert record.value is not None
            addresses.append(record.value)
        return addresses

    def _call(self, name: str, *arguments: object) -> None:
        self._expect(name, getattr(self.library, name)(*arguments))

    def _expect(self, name: str, status: int) -> None:
        if status:
            text = ctypes.c_char_p()
            self.library.cuptiGetResultString(status, ctypes.byref(text))
            said = text.value.decode() if text.value else "no message"
            raise CuptiError(f"{name} failed with {status} ({said})")


def open_recorder(device: torch.device) -> Recorder:
    """A recorder on the CUPTI that this process's torch was built with, validated on a known launch.

    Raises:
        CuptiError: it is missing, refuses, or its record is wrong.
    """
    for path in _candidates():
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        if path not in _registered:
            _registered[path] = Recorder(library)
        _prove(_registered[path], device)
        return _registered[path]
    raise CuptiError("no libcupti was found: torch neither loaded nor contains one")


def read_records(addresses: Sequence[int]) -> list[Activity]:
    """The activities at these addresses; records of other kinds are left out."""
    return [found for address in addresses if (found := _activity(address)) is not None]


def check_layout(activities: Sequence[Activity], known: Known, *, began_ns: int, ended_ns: int) -> None:
    """Raise unless a known launch between two readings of the clock was recorded correctly.

    Raises:
        CuptiError: it was not, so no other record can be trusted.
    """
    kernels = [activity for activity in activities if activity.kind is Kind.KERNEL]
    found = [one for one in kernels if known.name in one.name and (one.grid, one.block) == (known.grid, known.block)]
    if len(found) != 1:
        raise CuptiError(f"CUPTI's records are not laid out as expected: {kernels[:2]} instead of {known}")
    if not began_ns <= found[0].start_ns < found[0].end_ns <= ended_ns:
        raise CuptiError(
            f"CUPTI's clocks differ: a kernel between {began_ns} and {ended_ns} ns is recorded as running from "
            f"{found[0].start_ns} to {found[0].end_ns}"
        )


def _prove(recorder: Recorder, device: torch.device) -> None:
    torch.cuda.synchronize(device)
    recorder.start()
    try:
        began_ns = recorder.now_ns()
        torch.cuda._sleep(_KNOWN_CYCLES)
        torch.cuda.synchronize(device)
        ended_ns = recorder.now_ns()
        activities = recorder.take()
    finally:
        recorder.stop()
    check_layout(activities, SLEEP, began_ns=began_ns, ended_ns=ended_ns)


def _activity(address: int) -> Activity | None:
    number = ctypes.c_uint32.from_address(address).value
    if number == Kind.KERNEL:
        kernel = _KernelHead.from_address(address)
        return Activity(
            kind=Kind.KERNEL,
            name=(kernel.name or b"").decode(errors="replace"),
            start_ns=kernel.start,
            end_ns=kernel.end,
            stream=kernel.stream,
            correlation=kernel.correlation,
            grid=tuple(kernel.grid),
            block=tuple(kernel.block),
        )
    if number in (Kind.COPY, Kind.FILL):
        memory = _MemoryHead.from_address(address)
        kind = Kind(number)
        return Activity(
            kind=kind,
            name=f"{kind.name.lower()} of {memory.bytes} bytes",
            start_ns=memory.start,
            end_ns=memory.end,
            stream=memory.stream,
            correlation=memory.correlation,
        )
    return None


def _candidates() -> list[str]:
    """Possible paths of libcupti: loaded already, from torch's packages, or found by the loader."""
    maps = Path("/proc/self/maps")
    lines = maps.read_text().splitlines() if os.access(maps, os.R_OK) else []
    mapped = {line.split()[-1] for line in lines if "libcupti.so" in line}
    packages = Path(torch.__file__).parents[1]
    beside = [
        str(path) for pattern in ("nvidia/*/lib/libcupti.so*", "torch/lib/libcupti*") for path in packages.glob(pattern)
    ]
    return [*sorted(mapped), *sorted(beside, reverse=True), "libcupti.so.13", "libcupti.so.12", "libcupti.so"]
