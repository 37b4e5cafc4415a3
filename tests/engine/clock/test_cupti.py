"""Records of CUPTI read from bytes that are laid out as cupti_activity.h says, and from a library that is scripted."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import pytest
import torch

from engine.clock import cupti
from engine.clock.cupti import Activity, CuptiError, Kind, Known, Recorder, check_layout, read_records

NAME = ctypes.create_string_buffer(b"softmax_kernel")
KNOWN = Known(name="spin", grid=(1, 1, 1), block=(1, 1, 1))


def kernel(start: int, end: int, *, name: Any = NAME, grid: tuple[int, ...] = (7, 2, 1)) -> bytes:
    """CUpti_ActivityKernel4: kind, caches and registers, partitions, times, ids, sizes, memory, ids, name."""
    address = ctypes.addressof(name) if name is not None else 0
    return struct.pack(
        "<IBBH II QQQ III 3i 3i ii II I q Q", 10, 0, 0, 32, 0, 0, start, end, end, 0, 1, 13, *grid, 128, 1, 1, 0, 512,
        0, 0, 77, 5, address,
    ) + bytes(96)  # fmt: skip


def memory(kind: int, start: int, end: int, *, size: int = 4096) -> bytes:
    """CUpti_ActivityMemcpy3 and CUpti_ActivityMemset2 up to the correlation."""
    return struct.pack("<II QQQ II II", kind, 8, size, start, end, 0, 1, 13, 78) + bytes(64)


def buffer_of(*records: bytes) -> tuple[Any, list[int]]:
    """The records in memory, 8-byte aligned, and the address of each."""
    joined = b"".join(records)
    words = (ctypes.c_uint64 * (len(joined) // 8 + 1))()
    ctypes.memmove(words, joined, len(joined))
    begins = [sum(map(len, records[:number])) for number in range(len(records))]
    return words, [ctypes.addressof(words) + begin for begin in begins]


def test_kernel_is_read_with_name_times_and_sizes() -> None:
    words, addresses = buffer_of(kernel(1_000, 4_500))
    assert read_records(addresses) == [
        Activity(
            kind=Kind.KERNEL,
            name="softmax_kernel",
            start_ns=1_000,
            end_ns=4_500,
            stream=13,
            correlation=77,
            grid=(7, 2, 1),
            block=(128, 1, 1),
        )
    ]
    del words


def test_copies_and_fills_are_read_with_sizes() -> None:
    words, addresses = buffer_of(memory(1, 10, 20), memory(2, 30, 40, size=8), memory(3, 50, 60))
    assert [(one.kind, one.name, one.start_ns, one.end_ns, one.grid) for one in read_records(addresses)] == [
        (Kind.COPY, "copy of 4096 bytes", 10, 20, ()),
        (Kind.FILL, "fill of 8 bytes", 30, 40, ()),
    ]
    del words


def test_kernel_without_name_has_empty_name() -> None:
    words, addresses = buffer_of(kernel(1, 2, name=None))
    assert read_records(addresses)[0].name == ""
    del words


def spin(start: int = 110, end: int = 120, **changes: Any) -> Activity:
    fields: dict[str, Any] = {"kind": Kind.KERNEL, "name": "_Z11spin_kernell", "grid": (1, 1, 1), "block": (1, 1, 1)}
    return Activity(start_ns=start, end_ns=end, stream=7, correlation=1, **{**fields, **changes})


def test_known_launch_read_back_proves_the_layout() -> None:
    check_layout([spin(kind=Kind.FILL, name="fill"), spin()], KNOWN, began_ns=100, ended_ns=130)


@pytest.mark.parametrize(
    ("activities", "message"),
    [
        ([], "not laid out as expected"),
        ([spin(name="other")], "not laid out as expected"),
        ([spin(grid=(2, 1, 1))], "not laid out as expected"),
        ([spin(block=(32, 1, 1))], "not laid out as expected"),
        ([spin(kind=Kind.COPY)], "not laid out as expected"),
        ([spin(), spin()], "not laid out as expected"),
        ([spin(90, 120)], "clocks differ: a kernel between 100 and 130 ns is recorded as running from 90 to 120"),
        ([spin(110, 131)], "clocks differ"),
        ([spin(120, 120)], "clocks differ"),
    ],
)
def test_unexpected_record_fails_layout_check(activities: list[Activity], message: str) -> None:
    with pytest.raises(CuptiError, match=message):
        check_layout(activities, KNOWN, began_ns=100, ended_ns=130)


class Library:
    """A CUPTI that hands out records when it is flushed; what it answers can be set by a function's name."""

    def __init__(self) -> None:
        self.answers: dict[str, int] = {}
        self.calls: list[tuple[str, int]] = []
        self.waiting: list[bytes] = []
        self.dropped = 0
        self.buffers: list[int] = []
        self._callbacks: tuple[Any, ...] = ()
        self._next: list[int] = []

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cupti"):
            raise AttributeError(name)

        def function(*arguments: Any) -> int:
            return self.answers.get(name, 0) or getattr(self, f"_{name}", lambda *_: 0)(*arguments)

        return function

    def _cuptiActivityRegisterCallbacks(self, requested: Any, completed: Any) -> int:  # noqa: N802 -- CUPTI's name
        self._callbacks = (requested, completed)
        return 0

    def _cuptiActivityEnable(self, kind: int) -> int:  # noqa: N802 -- CUPTI's name
        self.calls.append(("enable", kind))
        return 0

    def _cuptiActivityDisable(self, kind: int) -> int:  # noqa: N802 -- CUPTI's name
        self.calls.append(("disable", kind))
        return 0

    def _cuptiActivityFlushAll(self, flag: int) -> int:  # noqa: N802 -- CUPTI's name
        assert flag == 1
        if self.waiting:
            buffer, size, most = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_size_t()
            self._callbacks[0](ctypes.pointer(buffer), ctypes.pointer(size), ctypes.pointer(most))
            assert buffer.value is not None and buffer.value % 8 == 0 and (size.value, most.value) == (1 << 20, 0)
            joined = b"".join(self.waiting)
            ctypes.memmove(buffer.value, joined, len(joined))
            begins = [sum(map(len, self.waiting[:number])) for number in range(len(self.waiting))]
            self._next = [buffer.value + begin for begin in begins]
            self.buffers.append(buffer.value)
            self.waiting = []
            self._callbacks[1](None, 0, buffer.value, size.value, len(joined))
        return 0

    def _cuptiActivityGetNextRecord(self, buffer: Any, used: Any, record: Any) -> int:  # noqa: N802 -- CUPTI's name
        if not self._next:
            return 12
        record._obj.value = self._next.pop(0)
        return 0

    def _cuptiActivityGetNumDroppedRecords(self, context: Any, stream: Any, dropped: Any) -> int:  # noqa: N802
        dropped._obj.value = self.dropped
        return 0

    def _cuptiGetTimestamp(self, now: Any) -> int:  # noqa: N802 -- CUPTI's name
        now._obj.value = 1_700_000_000_000_000_123
        return 0

    def _cuptiGetResultString(self, status: int, text: Any) -> int:  # noqa: N802 -- CUPTI's name
        text._obj.value = b"CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
        return 0


def test_recorder_returns_records_once_by_start() -> None:
    library = Library()
    recorder = Recorder(library)
    recorder.start()
    library.waiting = [kernel(500, 600), memory(1, 100, 200)]
    assert [(one.name, one.start_ns) for one in recorder.take()] == [
        ("copy of 4096 bytes", 100),
        ("softmax_kernel", 500),
    ]
    assert recorder.take() == ()
    recorder.stop()
    assert library.calls == [(what, kind) for what in ("enable", "disable") for kind in (1, 2, 10)]


def test_buffer_is_reused_once_its_records_are_read() -> None:
    library = Library()
    recorder = Recorder(library)
    elsewhere = []
    for _ in range(3):
        library.waiting = [kernel(1, 2)]
        assert len(recorder.take()) == 1
        elsewhere.append((ctypes.c_uint64 * (1 << 17))())  # would get the address of a buffer that was let go
    assert len(set(library.buffers)) == 1


def test_the_clock_has_all_its_64_bits() -> None:
    assert Recorder(Library()).now_ns() == 1_700_000_000_000_000_123


def test_dropped_records_invalidate_the_rest_and_are_reported() -> None:
    library = Library()
    recorder = Recorder(library)
    library.waiting, library.dropped = [kernel(1, 2)], 3
    with pytest.raises(CuptiError, match="CUPTI dropped 3 records"):
        recorder.take()
    library.waiting, library.dropped = [kernel(3, 4)], 0
    assert [one.start_ns for one in recorder.take()] == [3]


def test_callback_error_is_reported_by_take() -> None:
    library = Library()
    recorder = Recorder(library)
    library.waiting, library.answers = [kernel(1, 2)], {"cuptiActivityGetNextRecord": 4}
    with pytest.raises(CuptiError, match="cuptiActivityGetNextRecord failed with 4"):
        recorder.take()


def test_refusal_is_reported_with_function_and_reason() -> None:
    library = Library()
    recorder = Recorder(library)
    library.answers = {"cuptiActivityEnable": 35}
    with pytest.raises(CuptiError, match=r"cuptiActivityEnable failed with 35 \(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES\)"):
        recorder.start()


def test_missing_library_is_reported_with_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cupti, "_candidates", lambda: ["/nowhere/libcupti.so"])
    with pytest.raises(CuptiError, match="no libcupti was found"):
        cupti.open_recorder(torch.device("cuda"))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device: CUPTI records what a device does")
def test_a_device_records_its_copies_and_kernels() -> None:
    device = torch.device("cuda")
    recorder = cupti.open_recorder(device)
    source = torch.ones(1 << 20, device=device)
    torch.cuda.synchronize()
    recorder.start()
    began_ns = recorder.now_ns()
    (source + 1).copy_(source)
    torch.cuda.synchronize()
    ended_ns = recorder.now_ns()
    recorder.stop()
    found = recorder.take()
    assert [one.kind for one in found] == [Kind.KERNEL, Kind.COPY]
    assert all(began_ns <= one.start_ns < one.end_ns <= ended_ns for one in found)
