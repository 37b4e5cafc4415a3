"""The clock on a real device: what no scripted one can show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch

from engine import protocol
from engine.clock.instruments import Instruments, instruments_of
from engine.clock.scripted import ScriptedBlock
from engine.clock.stopwatch import Stopwatch
from engine.judge.benchmark.slots import Slots
from engine.model import CacheState, ProblemId
from tests.operators import definition

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device: it is the device that is timed"),
]

DEVICE = torch.device("cuda")
CHUNK = (0, 1, 2)


@pytest.fixture(scope="module")
def instruments() -> Instruments:
    found = instruments_of(DEVICE)
    assert found.recorder is not None, found.reason
    return found


@pytest.fixture(autouse=True)
def at_rest(instruments: Instruments) -> Iterator[None]:
    """No test finds what another had recorded."""
    yield
    torch.cuda.synchronize()
    assert instruments.recorder is not None
    instruments.recorder.stop()
    instruments.recorder.take()


class Bench:
    """Judge and worker in one process, where memory needs no handle of the driver's."""

    def __init__(self, instruments: Instruments, name: str, case: str) -> None:
        self.problem = definition(name)
        self.entry: Callable[..., Any] = self.problem.eager
        self.blocks: dict[str, ScriptedBlock] = {}
        self.slots = Slots(DEVICE, lambda origin: self.problem, instruments=instruments, memory=self._memory)
        self.worker = Stopwatch(
            DEVICE,
            lambda: self.entry,
            instruments=instruments,
            open_block=lambda handle, size_bytes: self.blocks[handle].content[:size_bytes],
        )
        self.arranged = self.ask(
            protocol.Arrange(
                id="i", problem=ProblemId(source="", name=""), case=case, most_slots=8, most_bytes=4 << 30
            ),
            protocol.Arranged,
        )
        open_slots = protocol.OpenSlots(
            id="i", case=case, arguments=self.arranged.arguments, layout=self.arranged.layouts[0]
        )
        assert self.worker.carry_out(open_slots) == protocol.Done(id="i")

    def _memory(self, _: int, size_bytes: int) -> ScriptedBlock:
        content = torch.empty(size_bytes, dtype=torch.uint8, device=DEVICE)
        return self.blocks.setdefault("one", ScriptedBlock(handle="one", size_bytes=size_bytes, content=content))

    def ask(self, command: Any, kind: type[Any]) -> Any:
        reply = self.slots.carry_out(command)
        assert isinstance(reply, kind), reply
        return reply

    def refresh(self) -> None:
        self.ask(protocol.Refresh(id="i", slots=CHUNK), protocol.Done)

    def timed(
        self, mode: protocol.CallMode = protocol.CallMode.SINGLE, cache: CacheState = CacheState.COLD
    ) -> protocol.Timed:
        if mode is not protocol.CallMode.SINGLE:
            assert self.worker.carry_out(protocol.Fetch(id="i", slots=CHUNK, cache=cache)) == protocol.Done(id="i")
        reply = self.worker.carry_out(protocol.TimeCalls(id="i", slots=CHUNK, mode=mode, cache=cache))
        assert isinstance(reply, protocol.Timed), reply
        return reply

    def rest(self) -> None:
        """End the recording, or what the judge does in this process next would be the candidate's."""
        empty = self.worker.carry_out(protocol.TimeCalls(id="i", slots=(), mode=protocol.CallMode.BURST))
        assert isinstance(empty, protocol.Timed), empty

    def checked(self, timed: protocol.Timed) -> protocol.Checked:
        checked = self.ask(protocol.Check(id="i", slots=CHUNK, returned=timed.returned), protocol.Checked)
        assert isinstance(checked, protocol.Checked)
        return checked

    def collected(self) -> protocol.Timed:
        reply = self.worker.carry_out(protocol.Collect(id="i"))
        assert isinstance(reply, protocol.Timed), reply
        return reply


RIGHT = protocol.Checked(id="i", right=3)


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("aten::softmax", "4096x781 f32"),
        ("aten::softmax", "13x65 bf16 transposed"),
        ("vllm::fused_add_rms_norm", "1024x4096 bf16"),
        ("vllm::topk_softmax", "1024x16 top 2"),
        ("cublas::cublasSaxpy_v2", "1048576 alpha 0.5 inc 2 3"),
    ],
)
def test_every_calling_mode_is_timed_and_right(instruments: Instruments, name: str, case: str) -> None:
    bench = Bench(instruments, name, case)
    for cache in (CacheState.COLD, CacheState.WARM):
        bench.refresh()
        timed = bench.timed(cache=cache)
        bench.rest()
        assert (timed.method, timed.reason, timed.late) == ("cupti", "", ())
        assert all(call.span_ns and call.stream_ns and call.span_ns < call.stream_ns + 2000 for call in timed.calls)
        assert bench.checked(timed) == RIGHT
    bench.refresh()
    assert bench.timed(protocol.CallMode.BURST).elapsed_ns > 0
    assert bench.checked(bench.collected()) == RIGHT
    bench.timed(protocol.CallMode.CAPTURE)
    for _ in range(2):
        bench.refresh()
        assert bench.timed(protocol.CallMode.REPLAY).elapsed_ns > 0
        assert bench.checked(bench.collected()) == RIGHT


def test_baseline_is_timed_by_every_method(instruments: Instruments) -> None:
    bench = Bench(instruments, "vllm::fused_add_rms_norm", "1024x4096 bf16")
    bench.ask(protocol.PrepareBaseline(id="i", name="eager"), protocol.Done)
    bench.refresh()
    for mode in (
        protocol.CallMode.SINGLE,
        protocol.CallMode.BURST,
        protocol.CallMode.CAPTURE,
        protocol.CallMode.REPLAY,
    ):
        timed = bench.ask(
            protocol.TimeBaseline(id="i", name="eager", slots=CHUNK, mode=mode, cache=CacheState.COLD), protocol.Timed
        )
        assert timed.late == ()
        assert all(call.span_ns and call.activities > 1 for call in timed.calls)
    assert bench.checked(bench.timed()) == RIGHT


def test_failed_capture_leaves_process_unchanged(instruments: Instruments) -> None:
    bench = Bench(instruments, "aten::softmax", "4096x781 f32")

    def entry(x: torch.Tensor, dim: int, dtype: torch.dtype | None) -> torch.Tensor:
        return torch.softmax(x * float((x[0, 0] * 0 + 1).item()), dim, dtype=dtype)

    bench.entry = entry
    stream = torch.cuda.current_stream()
    for _ in range(2):
        failed = bench.worker.carry_out(protocol.TimeCalls(id="i", slots=CHUNK, mode=protocol.CallMode.CAPTURE))
        assert isinstance(failed, protocol.Failed)
        assert failed.kind is protocol.FailureKind.UNSUPPORTED
        assert failed.message.startswith("cannot be captured: ")
    assert torch.cuda.current_stream() == stream
    torch.cuda.empty_cache()
    bench.entry = bench.problem.eager
    bench.timed(protocol.CallMode.CAPTURE)
    bench.refresh()
    bench.timed(protocol.CallMode.REPLAY)
    assert bench.checked(bench.collected()) == RIGHT
    bench.refresh()
    assert bench.checked(bench.timed()) == RIGHT


def test_unjoined_stream_counts_in_span_only(
    instruments: Instruments,
) -> None:
    bench = Bench(instruments, "aten::softmax", "4096x781 f32")
    side = torch.cuda.Stream(DEVICE)

    def entry(x: torch.Tensor, dim: int, dtype: torch.dtype | None) -> torch.Tensor:
        with torch.cuda.stream(side):
            torch.cuda._sleep(1_000_000)
            return torch.softmax(x, dim, dtype=dtype)

    bench.entry = entry
    bench.refresh()
    timed = bench.timed()
    assert all(call.span_ns is not None and call.activities == 2 for call in timed.calls)
    assert all((call.span_ns or 0) > 2 * (call.stream_ns or 0) for call in timed.calls)


def test_work_between_two_runs_is_late(instruments: Instruments) -> None:
    bench = Bench(instruments, "aten::softmax", "4096x781 f32")
    bench.refresh()
    bench.timed()
    torch.cuda._sleep(1000)
    torch.cuda.synchronize()
    late = bench.timed().late
    assert len(late) == 1
    assert "spin_kernel" in late[0]


def test_own_copies_and_evictions_are_never_late(instruments: Instruments) -> None:
    for name, case in (("aten::softmax", "4096x781 f32"), ("aten::softmax", "4096x256 bf16")):
        bench = Bench(instruments, name, case)
        for cache in CacheState:
            bench.refresh()
            assert bench.timed(cache=cache).late == ()
            bench.rest()  # or the judge's work in this process would be late

    def evict() -> int:
        torch.cuda._sleep(1000)
        return instruments.evict()

    bench = Bench(replace(instruments, evict=evict), "aten::softmax", "4096x781 f32")
    bench.refresh()
    assert any("spin_kernel" in name for name in bench.timed().late)
