"""The worker's side of a benchmark, on slots that lie in this process and a device that is scripted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from engine import protocol
from engine.clock.binding import BindingEntry
from engine.clock.cupti import CuptiError
from engine.clock.scripted import ScriptedDevice
from engine.clock.stopwatch import Stopwatch
from engine.model import CacheState
from engine.protocol import tensors

CPU = torch.device("cpu")
SLOTS = 4


class Bench:
    """A stopwatch that has occupied four slots, each with one vector of six numbers and room for `room` bytes."""

    def __init__(
        self, *, room: int = 1024, precise: bool = True, device: ScriptedDevice | None = None, on_host: bool = False
    ) -> None:
        self.device = device or ScriptedDevice()
        self.entry: Callable[..., Any] = self.double
        self.stopwatch = Stopwatch(
            CPU,
            lambda: self.entry,
            instruments=self.device.instruments(precise=precise),
            open_block=self.device.open_block,
        )
        specs, _ = tensors.lay_out((torch.zeros(6),), on_cpu=[0] if on_host else ())
        placed, stride = tensors.place((24, room))
        self.block = self.device.memory(256 + SLOTS * stride)
        self.layout = protocol.SlotLayout(
            handle=self.block.handle,
            bytes=self.block.size_bytes,
            first=256,
            stride=stride,
            slots=SLOTS,
            storages=placed[:1],
            outputs=placed[1],
        )
        for number in range(SLOTS):
            self.input(number).copy_(torch.arange(6.0) + 10 * number)
        self.occupied = self.ask(protocol.OpenSlots(id="i", case="one", arguments=specs, layout=self.layout))

    def double(self, x: torch.Tensor) -> torch.Tensor:
        self.device.put("double", 50)
        return x * 2

    def ask(self, command: Any) -> protocol.AnyReply:
        return self.stopwatch.carry_out(command)

    def timed(self, mode: protocol.CallMode, *slots: int, cache: CacheState = CacheState.COLD) -> protocol.Timed:
        if slots and mode is not protocol.CallMode.SINGLE:
            fetch = protocol.Fetch(id="i", slots=tuple(dict.fromkeys(slots)), cache=cache)
            assert self.ask(fetch) == protocol.Done(id="i")
        reply = self.ask(protocol.TimeCalls(id="i", slots=slots, mode=mode, cache=cache))
        assert isinstance(reply, protocol.Timed), reply
        return reply

    def refused(self, command: Any) -> protocol.Failed:
        reply = self.ask(command)
        assert isinstance(reply, protocol.Failed), reply
        return reply

    def collected(self) -> protocol.Timed:
        reply = self.ask(protocol.Collect(id="i"))
        assert isinstance(reply, protocol.Timed), reply
        return reply

    def _slot(self, number: int) -> torch.Tensor:
        first = self.layout.first + number * self.layout.stride
        return self.block.content[first : first + self.layout.stride]

    def input(self, number: int) -> torch.Tensor:
        return tensors.part(self._slot(number), self.layout.storages[0]).view(torch.float32)

    def output(self, number: int, spec: protocol.ReturnedSpec) -> torch.Tensor:
        """What lies in a slot where `spec` says."""
        place = tensors.part(self._slot(number), self.layout.outputs)
        raw = place[spec.offset : spec.offset + spec.bytes]
        return raw.view(tensors.dtype_named(spec.dtype)).view(spec.shape)

    def outputs(self, numbers: Sequence[int], reply: protocol.Timed) -> list[list[float]]:
        pairs = zip(numbers, reply.returned, strict=True)
        return [self.output(number, *returned).tolist() for number, returned in pairs]


class AddsSum(BindingEntry):
    """Reads the sum of its input when a call is prepared, and adds it in the call."""

    def __init__(self, device: ScriptedDevice) -> None:
        self._device = device

    def bind(self, arguments: Sequence[Any]) -> Callable[[], Any]:
        (x,) = arguments
        self._device.put("prepares", 5000)
        weight = x.sum()

        def call() -> torch.Tensor:
            self._device.put("adds", 50)
            return x + weight

        return call


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_single_calls_use_slots_in_order(bench: Bench) -> None:
    assert bench.occupied == protocol.Done(id="i")
    reply = bench.timed(protocol.CallMode.SINGLE, 2, 0)
    assert [(call.span_ns, call.activities) for call in reply.calls] == [(50, 1), (50, 1)]
    assert bench.outputs((2, 0), reply) == [[40, 42, 44, 46, 48, 50], [0, 2, 4, 6, 8, 10]]
    assert (reply.method, reply.reason, reply.late) == ("cupti", "", ())
    assert reply.kernels == (protocol.KernelTime(name="double", device_ns=100, count=2),)


def test_preparation_of_a_call_is_not_timed(bench: Bench) -> None:
    bench.entry = AddsSum(bench.device)
    reply = bench.timed(protocol.CallMode.SINGLE, 0, 1)
    assert [(call.span_ns, call.activities) for call in reply.calls] == [(50, 1), (50, 1)]
    assert bench.outputs((0, 1), reply) == [[15, 16, 17, 18, 19, 20], [85, 86, 87, 88, 89, 90]]
    assert (reply.late, reply.kernels) == ((), (protocol.KernelTime(name="adds", device_ns=100, count=2),))


def test_call_is_prepared_for_the_content_of_each_round(bench: Bench) -> None:
    bench.entry = AddsSum(bench.device)
    bench.timed(protocol.CallMode.SINGLE, 0)
    bench.input(0).copy_(torch.ones(6))
    reply = bench.timed(protocol.CallMode.SINGLE, 0)
    assert bench.outputs((0,), reply) == [[7, 7, 7, 7, 7, 7]]
    bench.input(0).copy_(torch.zeros(6))
    bench.timed(protocol.CallMode.BURST, 0)
    assert bench.outputs((0,), bench.collected()) == [[0, 0, 0, 0, 0, 0]]


def test_prepared_calls_are_not_captured(bench: Bench) -> None:
    bench.entry = AddsSum(bench.device)
    bench.timed(protocol.CallMode.BURST, 0)
    refused = bench.refused(
        protocol.TimeCalls(id="i", slots=(0,), mode=protocol.CallMode.CAPTURE, cache=CacheState.WARM)
    )
    assert refused.kind is protocol.FailureKind.UNSUPPORTED
    assert refused.message.startswith("cannot be captured: each call is prepared from its content")


def test_timed_argument_has_own_offset_without_neighbours(bench: Bench) -> None:
    met: list[tuple[int, int]] = []

    def looks(x: torch.Tensor) -> torch.Tensor:
        met.append((x.storage_offset(), x.untyped_storage().nbytes()))
        return bench.double(x)

    bench.entry = looks
    bench.timed(protocol.CallMode.SINGLE, 0, 2)
    assert met == [(0, 24), (0, 24)]


def test_cold_run_empties_cache_before_each_call(bench: Bench) -> None:
    bench.timed(protocol.CallMode.SINGLE, 0, 1, 2)
    assert (bench.device.evictions, bench.device.touched) == (3, [])
    bench.timed(protocol.CallMode.SINGLE, 0, 1, cache=CacheState.WARM)
    assert (bench.device.evictions, bench.device.touched) == (3, [24, 24])


def test_cold_fetch_empties_cache_of_copies() -> None:
    arguments: list[torch.Tensor] = []
    evicted: list[list[float]] = []

    class Watched(ScriptedDevice):
        def evict(self) -> int:
            evicted.append(arguments[0].tolist())
            return super().evict()

    bench = Bench(device=Watched())
    bench.entry = lambda x: (arguments.append(x), x * 2)[1]
    bench.timed(protocol.CallMode.BURST, 1, cache=CacheState.WARM)
    assert evicted == []
    bench.input(1).fill_(7)
    bench.timed(protocol.CallMode.BURST, 1)
    assert evicted == [[7] * 6]


def test_fetch_of_no_slots_empties_the_cache(bench: Bench) -> None:
    made = torch.zeros(6)
    bench.entry = lambda x: torch.mul(x, 2, out=made)
    bench.timed(protocol.CallMode.CAPTURE, 1)
    bench.input(1).fill_(7)
    evictions = bench.device.evictions
    assert bench.ask(protocol.Fetch(id="i", slots=(), cache=CacheState.COLD)) == protocol.Done(id="i")
    assert bench.device.evictions == evictions + 1
    assert isinstance(bench.ask(protocol.TimeCalls(id="i", slots=(1,), mode=protocol.CallMode.REPLAY)), protocol.Timed)
    assert bench.outputs((1,), bench.collected()) == [[20, 22, 24, 26, 28, 30]]


def test_missing_recorder_is_reported() -> None:
    reply = Bench(precise=False).timed(protocol.CallMode.SINGLE, 0)
    assert reply.calls == (protocol.CallTime(span_ns=None, stream_ns=50, activities=0),)
    assert (reply.method, reply.reason) == ("", "scripted without a recorder")


def test_dropped_records_leave_no_span(bench: Bench) -> None:
    def entry(x: torch.Tensor) -> torch.Tensor:
        bench.device.trouble = CuptiError("CUPTI dropped 1 records")
        return bench.double(x)

    bench.entry = entry
    reply = bench.timed(protocol.CallMode.SINGLE, 0)
    assert (reply.method, reply.reason, reply.calls[0].span_ns) == ("", "CUPTI dropped 1 records", None)


def test_a_cache_that_may_keep_lines_is_noted(bench: Bench) -> None:
    bench.device.note = "could not"
    assert bench.timed(protocol.CallMode.SINGLE, 0).notes == ("could not",)
    assert bench.timed(protocol.CallMode.BURST, 0).notes == ("could not",)


def test_work_between_two_commands_is_late(bench: Bench) -> None:
    bench.timed(protocol.CallMode.SINGLE, 0)
    bench.device.put("side_kernel", 500)
    assert bench.timed(protocol.CallMode.SINGLE, 1).late == ("side_kernel",)


def deferring(device: ScriptedDevice, activities: int) -> object:
    """An object that does something when it is looked at."""

    class Kind(type):
        @property
        def __name__(cls) -> str:  # type: ignore[override]  # a stranger's type
            for _ in range(activities):
                device.put("deferred", 100)
            return "Deferring"

    return Kind("Deferring", (), {})()


def test_work_that_begins_while_we_copy_is_late(bench: Bench) -> None:
    # One more than the copies that there are.
    bench.entry = lambda x: (x.clone(), deferring(bench.device, 3))
    assert bench.timed(protocol.CallMode.SINGLE, 0).late == ("deferred", "deferred", "deferred")


def test_outputs_not_copied_leave_no_gap(bench: Bench) -> None:
    def entry(x: torch.Tensor) -> tuple[object, ...]:
        # The slot is handed back, which may be one.
        return x[:0], torch.zeros(1 << 16), torch.zeros(1, device="meta"), deferring(bench.device, 2)

    bench.entry = entry
    assert bench.timed(protocol.CallMode.SINGLE, 0).late == ("deferred", "deferred")


@pytest.mark.parametrize("mode", [protocol.CallMode.SINGLE, protocol.CallMode.BURST])
def test_replaced_copy_function_cannot_compute_the_output(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, mode: protocol.CallMode
) -> None:
    heard: list[str] = []

    def replacing(name: str) -> Callable[..., Any]:
        usual = getattr(torch.Tensor, name)
        return lambda *arguments: (heard.append(name), usual(*arguments))[1]

    for name in ("copy_", "detach", "resolve_conj", "resolve_neg", "narrow", "view", "is_conj", "is_neg"):
        monkeypatch.setattr(torch.Tensor, name, replacing(name))
    reply = bench.timed(mode, 0)
    returned = reply.returned if mode is protocol.CallMode.SINGLE else bench.collected().returned
    monkeypatch.undo()
    assert heard == []
    assert bench.output(0, *returned[0]).tolist() == [0, 2, 4, 6, 8, 10]


@pytest.mark.parametrize("kind", [TorchFunctionMode, TorchDispatchMode])
def test_mode_never_left_does_not_see_copies(bench: Bench, kind: type[Any]) -> None:
    heard: list[str] = []

    def listen(mode: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        heard.append(str(func))
        return func(*args, **(kwargs or {}))

    listening = type("Listening", (kind,), {"__torch_function__": listen, "__torch_dispatch__": listen})
    with listening():
        bench.timed(protocol.CallMode.SINGLE, 0)
    assert "mul" in str(heard)  # the entry's own work
    assert "copy" not in str(heard)


def test_a_call_without_work_has_no_activities(bench: Bench) -> None:
    bench.entry = lambda x: x
    assert bench.timed(protocol.CallMode.SINGLE, 0).calls == (
        protocol.CallTime(span_ns=None, stream_ns=0, activities=0),
    )


def test_empty_chunk_times_no_calls(bench: Bench) -> None:
    assert bench.timed(protocol.CallMode.SINGLE) == protocol.Timed(id="i", method="cupti")
    assert bench.timed(protocol.CallMode.BURST).elapsed_ns == 0


def test_several_unusual_outputs_are_described(bench: Bench) -> None:
    bench.entry = lambda x: (x + 1, x.to(torch.int16)[::2], None, x[:0])
    (returned,) = bench.timed(protocol.CallMode.SINGLE, 1).returned
    assert [(spec.type_name, spec.dtype, spec.shape, spec.bytes) for spec in returned] == [
        ("Tensor", "float32", (6,), 24),
        ("Tensor", "int16", (3,), 6),
        ("NoneType", "", (), 0),
        ("Tensor", "float32", (0,), 0),
    ]
    assert bench.output(1, returned[0]).tolist() == [11, 12, 13, 14, 15, 16]
    assert bench.output(1, returned[1]).tolist() == [10, 12, 14]


def test_outputs_too_large_are_described_unwritten() -> None:
    bench = Bench(room=256)
    bench.entry = lambda x: torch.ones(1000)
    before = bench.block.content.clone()
    (returned,) = bench.timed(protocol.CallMode.SINGLE, 0).returned
    assert (returned[0].shape, returned[0].bytes) == ((1000,), 4000)
    assert torch.equal(bench.block.content, before)


def test_entry_error_is_raised_and_next_command_works(bench: Bench) -> None:
    def entry(x: torch.Tensor) -> torch.Tensor:
        raise ZeroDivisionError("theirs")

    bench.entry = entry
    for mode in (protocol.CallMode.SINGLE, protocol.CallMode.BURST):
        with pytest.raises(ZeroDivisionError, match="theirs"):
            bench.timed(mode, 0)
    bench.entry = bench.double
    assert len(bench.timed(protocol.CallMode.SINGLE, 0).calls) == 1


def test_a_burst_is_collected_into_its_slots(bench: Bench) -> None:
    reply = bench.timed(protocol.CallMode.BURST, 3, 1)
    assert (reply.elapsed_ns, reply.calls, reply.returned) == (100, (), ())
    collected = bench.collected()
    assert bench.outputs((3, 1), collected) == [[60, 62, 64, 66, 68, 70], [20, 22, 24, 26, 28, 30]]
    assert not collected.shared_outputs


@pytest.mark.parametrize(
    ("views", "shared"),
    [
        ((slice(0, 6), slice(0, 6)), True),
        ((slice(0, 6), slice(5, 11)), True),
        ((slice(0, 6), slice(6, 12)), False),
        ((slice(0, 20), slice(3, 4)), True),
        ((slice(0, 0), slice(0, 6)), False),
    ],
)
def test_overlapping_outputs_are_shared_neighbours_are_not(
    bench: Bench, views: tuple[slice, slice], shared: bool
) -> None:
    memory, turns = torch.zeros(20), iter(views)
    bench.entry = lambda x: memory[next(turns)]
    bench.timed(protocol.CallMode.BURST, 0, 1)
    assert bench.collected().shared_outputs is shared


def test_two_outputs_of_one_call_may_share_memory(bench: Bench) -> None:
    def entry(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = x * 2
        return y, y

    bench.entry = entry
    bench.timed(protocol.CallMode.BURST, 0, 1)
    assert not bench.collected().shared_outputs


def test_graph_replays_on_current_slot_content(bench: Bench) -> None:
    made: dict[int, torch.Tensor] = {}

    def entry(x: torch.Tensor) -> torch.Tensor:
        bench.device.put("double", 50)
        return torch.mul(x, 2, out=made.setdefault(x.data_ptr(), torch.zeros(6)))

    bench.entry = entry
    assert bench.timed(protocol.CallMode.CAPTURE, 0, 1).kernels == (protocol.KernelTime(name="double", count=2),)
    for number in (0, 1):
        bench.input(number).fill_(100 + number)
    assert bench.timed(protocol.CallMode.REPLAY, 0, 1).elapsed_ns == 100
    assert bench.outputs((0, 1), bench.collected()) == [[200] * 6, [202] * 6]


def test_failed_capture_is_unsupported_and_calls_continue(bench: Bench) -> None:
    bench.timed(protocol.CallMode.CAPTURE, 0, 1)

    def entry(x: torch.Tensor) -> torch.Tensor:
        if bench.device.capturing:
            raise RuntimeError("operation not permitted when stream is capturing")
        return bench.double(x)

    bench.entry = entry
    failed = bench.refused(protocol.TimeCalls(id="i", slots=(0, 1), mode=protocol.CallMode.CAPTURE))
    assert (failed.kind, failed.message) == (
        protocol.FailureKind.UNSUPPORTED,
        "cannot be captured: RuntimeError: operation not permitted when stream is capturing",
    )
    assert len(bench.timed(protocol.CallMode.SINGLE, 0).calls) == 1
    assert (
        "holds calls on ()"
        in bench.refused(protocol.TimeCalls(id="i", slots=(0, 1), mode=protocol.CallMode.REPLAY)).message
    )


def test_unprintable_error_is_reported_by_type(bench: Bench) -> None:
    class UnspeakableError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def entry(x: torch.Tensor) -> torch.Tensor:
        raise UnspeakableError

    bench.entry = entry
    failed = bench.refused(protocol.TimeCalls(id="i", slots=(0,), mode=protocol.CallMode.CAPTURE))
    assert failed.message == "cannot be captured: UnspeakableError: "


def test_graph_serves_only_its_slots(bench: Bench) -> None:
    bench.timed(protocol.CallMode.CAPTURE, 0, 1)
    failed = bench.refused(protocol.TimeCalls(id="i", slots=(1, 0), mode=protocol.CallMode.REPLAY))
    assert (failed.kind, failed.message) == (
        protocol.FailureKind.ENGINE,
        "the graph holds calls on (0, 1), not on (1, 0)",
    )


def test_an_empty_burst_forgets_nothing(bench: Bench) -> None:
    bench.timed(protocol.CallMode.BURST, 2)
    bench.timed(protocol.CallMode.BURST)
    assert bench.outputs((2,), bench.collected()) == [[40, 42, 44, 46, 48, 50]]


def test_single_calls_and_capture_leave_nothing_to_collect(bench: Bench) -> None:
    bench.timed(protocol.CallMode.BURST, 0)
    bench.timed(protocol.CallMode.CAPTURE, 0)
    assert bench.refused(protocol.Collect(id="i")).kind is protocol.FailureKind.ENGINE
    bench.timed(protocol.CallMode.BURST, 0)
    bench.timed(protocol.CallMode.SINGLE, 0)
    assert bench.refused(protocol.Collect(id="i")).kind is protocol.FailureKind.ENGINE


def test_a_slot_that_does_not_exist_is_refused(bench: Bench) -> None:
    failed = bench.refused(protocol.TimeCalls(id="i", slots=(0, 4), mode=protocol.CallMode.SINGLE))
    assert failed.message == "there are 4 slots, and (0, 4) were requested"


def test_host_argument_has_the_content_of_each_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.Tensor, "cpu", torch.Tensor.clone)  # as from a device
    bench = Bench(on_host=True)
    bench.input(1).fill_(3.0)
    assert bench.outputs((1,), bench.timed(protocol.CallMode.SINGLE, 1)) == [[6.0] * 6]


def test_calls_that_read_a_host_argument_are_not_captured() -> None:
    bench = Bench(on_host=True)
    fetch = protocol.Fetch(id="i", slots=(0,), cache=CacheState.COLD)
    assert bench.ask(fetch) == protocol.Done(id="i")
    failed = bench.refused(protocol.TimeCalls(id="i", slots=(0,), mode=protocol.CallMode.CAPTURE))
    assert failed.message.startswith("cannot be captured: a graph keeps the numbers that were read")


def test_closed_slots_cannot_be_timed(bench: Bench) -> None:
    assert bench.ask(protocol.CloseSlots(id="i")) == protocol.Done(id="i")
    failed = bench.refused(protocol.TimeCalls(id="i", slots=(0,), mode=protocol.CallMode.SINGLE))
    assert failed.message == "timing requires occupied slots"
    assert not bench.device.is_recording


def test_missing_memory_for_copies_is_unsupported(bench: Bench) -> None:
    class Full(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is torch.empty_like:
                raise torch.OutOfMemoryError("Tried to allocate 2.00 GiB")
            return super().__torch_function__(func, types, args, kwargs or {})

    bench.block.content = bench.block.content.as_subclass(Full)
    failed = bench.refused(protocol.OpenSlots(id="i", case="one", arguments=(), layout=bench.layout))
    assert failed.kind is protocol.FailureKind.UNSUPPORTED
    assert failed.message == (
        f"there is no device memory for {SLOTS * bench.layout.stride} bytes of input copies: Tried to allocate 2.00 GiB"
    )


def test_device_without_clock_cannot_be_occupied(bench: Bench) -> None:
    stopwatch = Stopwatch(CPU, lambda: bench.entry, open_block=bench.device.open_block)
    assert stopwatch.carry_out(
        protocol.OpenSlots(id="i", case="one", arguments=(), layout=bench.layout)
    ) == protocol.Failed(
        id="i", kind=protocol.FailureKind.UNSUPPORTED, message="calls are timed on NVIDIA GPUs only; this device is cpu"
    )
