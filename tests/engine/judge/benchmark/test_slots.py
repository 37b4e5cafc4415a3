"""Slots: how many are arranged, with which content, and the memory that they take."""

from __future__ import annotations

import pytest
import torch

from engine import protocol
from engine.clock.scripted import ScriptedBlock, ScriptedDevice
from engine.devices.hardware.device_memory import DeviceMemoryError
from engine.judge.benchmark.slots import Slots, memory_by_block
from engine.judge.inputs import cases
from engine.protocol import tensors
from tests.engine.judge.benchmark.arranged import CPU, DOUBLE, EIGHT, REAL, TOY, Bench, toy
from tests.operators import definition


@pytest.mark.parametrize(("name", "case"), REAL)
def test_honest_entry_is_right_on_every_slot(name: str, case: str) -> None:
    bench = Bench(definition(name), case)
    for _ in range(2):
        assert bench.run(*EIGHT) == protocol.Checked(id="i", right=8)


def test_slots_are_consecutive_and_exceed_cache_five_times() -> None:
    bench = Bench(DOUBLE, cache_bytes=1024, most_slots=64)
    layout = bench.arranged.layouts[0]
    assert bench.arranged.slot_bytes == 400 + layout.outputs.bytes
    assert layout.slots == -(-5 * 1024 // bench.arranged.slot_bytes)
    assert layout.bytes == layout.slots * layout.stride == bench.device.blocks[0].size_bytes
    assert bench.arranged.l2_bytes == 1024


@pytest.mark.parametrize(("cache_bytes", "most_slots", "slots"), [(0, 256, 4), (1 << 20, 256, 256), (1 << 20, 7, 7)])
def test_slots_are_at_least_four_and_within_limit(cache_bytes: int, most_slots: int, slots: int) -> None:
    assert Bench(DOUBLE, cache_bytes=cache_bytes, most_slots=most_slots).arranged.layouts[0].slots == slots


def test_case_larger_than_quarter_memory_is_unsupported() -> None:
    device = ScriptedDevice()
    slots = Slots(
        CPU, lambda origin: DOUBLE, instruments=device.instruments(), memory=lambda _, size: device.memory(size)
    )
    failed = slots.carry_out(protocol.Arrange(id="i", problem=TOY, case="one", most_slots=256, most_bytes=4000))
    assert isinstance(failed, protocol.Failed)
    assert failed.kind is protocol.FailureKind.UNSUPPORTED
    assert failed.message == (
        "one needs 4 input sets of 2304 bytes, and there is room for 1 (4000 bytes); "
        "stop other programs on the device, or time a smaller case"
    )
    assert device.blocks == []


def test_case_arranged_again_reuses_its_own_block() -> None:
    bench = Bench(DOUBLE)
    again = protocol.Arrange(id="i", problem=TOY, case="one", most_slots=8, most_bytes=1 << 14)
    assert again.most_bytes < bench.arranged.layouts[0].bytes
    assert bench.ask(again, protocol.Arranged).layouts[0].slots == bench.arranged.layouts[0].slots


def test_failed_allocation_arranges_no_slots() -> None:
    def memory(_: int, size_bytes: int) -> ScriptedBlock:
        raise DeviceMemoryError("cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY")

    slots = Slots(CPU, lambda origin: DOUBLE, instruments=ScriptedDevice().instruments(), memory=memory)
    failed = slots.carry_out(protocol.Arrange(id="i", problem=TOY, case="one", most_slots=8, most_bytes=1 << 20))
    assert failed == protocol.Failed(
        id="i", kind=protocol.FailureKind.UNSUPPORTED, message="cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY"
    )
    with pytest.raises(RuntimeError, match="no slots were arranged"):
        slots.carry_out(protocol.Refresh(id="i", slots=(0,)))


def test_a_device_without_a_clock_is_unsupported() -> None:
    failed = Slots(CPU, lambda origin: DOUBLE).carry_out(
        protocol.Arrange(id="i", problem=TOY, case="one", most_slots=8, most_bytes=1 << 20)
    )
    assert isinstance(failed, protocol.Failed)
    assert (failed.kind, failed.message) == (
        protocol.FailureKind.UNSUPPORTED,
        "calls are timed on NVIDIA GPUs only; this device is cpu",
    )


def test_every_refresh_draws_new_content() -> None:
    bench = Bench(DOUBLE)
    seen = set()
    for _ in range(3):
        bench.refresh(*EIGHT)
        seen |= {tuple(bench.storage(number).tolist()) for number in EIGHT}
    assert len(seen) == 24


def test_a_refresh_leaves_other_slots_alone() -> None:
    bench = Bench(DOUBLE)
    bench.refresh(*EIGHT)
    before = [bench.slot(number).clone() for number in EIGHT]
    bench.refresh(2, 5)
    assert [number for number in EIGHT if not torch.equal(bench.slot(number), before[number])] == [2, 5]


def test_outputs_and_guard_zones_hold_one_nonzero_poison() -> None:
    bench = Bench(DOUBLE)
    poisons = set()
    for _ in range(20):
        bench.refresh(0)
        rest = bench.slot(0).clone()
        outputs = tensors.part(rest, bench.arranged.layouts[0].outputs)
        poisons.add(int(outputs[0]))
        tensors.part(rest, bench.arranged.layouts[0].storages[0]).copy_(outputs[0])
        assert rest.unique().numel() == 1
    assert len(poisons) > 1 and 0 not in poisons


def test_an_argument_that_is_only_written_is_poison() -> None:
    problem = toy(
        "f(x: Tensor, out: Tensor) -> None",
        lambda case, rng: (torch.randn(8, generator=rng), torch.zeros(8)),
        lambda x, out: x + 1,
        returns=0,
        mutates=("out",),
        written_only=("out",),
        eager=lambda x, out: out.copy_(x + 1) and None,
    )
    bench = Bench(problem)
    bench.refresh(0)
    assert bench.storage(0, 1).unique().tolist() == [int(bench.slot(0)[0])]
    bench.entry = lambda x, out: out.copy_(x + 1)
    assert bench.run(*EIGHT).right == 8
    bench.entry = lambda x, out: out[:4].copy_(x[:4] + 1)
    (report,) = bench.run(3).reports
    assert "4 of 8 wrong" in report.message and "never written" in report.message


def test_two_workers_have_separate_blocks_and_poisons() -> None:
    bench = Bench(DOUBLE)
    bench.ask(
        protocol.Arrange(id="i", problem=TOY, case="one", most_slots=8, most_bytes=1 << 24, blocks=2),
        protocol.Arranged,
    )
    first, second = (block.content for block in bench.device.blocks[-2:])
    bench.ask(protocol.Refresh(id="i", slots=(0, 1), block=1), protocol.Done)
    assert not first.any() and second.any()
    with pytest.raises(RuntimeError, match="slot 0 was never refreshed in block 0"):
        bench.slots.carry_out(protocol.Check(id="i", slots=(0,), returned=((),), block=0))
    wrong = bench.ask(protocol.Check(id="i", slots=(0,), returned=((),), block=1), protocol.Checked)
    assert (wrong.right, wrong.first_wrong) == (0, 0)


def test_blocks_do_not_overlap_and_are_reused() -> None:
    device = ScriptedDevice()
    block = memory_by_block(lambda: cases.ArenaMemory(CPU, allocate=lambda size_bytes, _: device.memory(size_bytes)))  # type: ignore[arg-type, return-value]  # a double of the driver's block
    first, second = block(0, 100), block(1, 100)
    assert first.handle != second.handle
    assert (block(0, 50), block(1, 100)) == (first, second)


def test_the_entry_sees_memory_of_its_own_process() -> None:
    bench = Bench(DOUBLE)
    seen: list[int] = []
    bench.entry = lambda x: (seen.append(x.untyped_storage().data_ptr()), x * 2)[1]
    assert bench.run(0, 1).right == 2
    assert bench.device.blocks[-1].content.data_ptr() not in seen


def test_peaks_of_non_gpu_device_are_unsupported() -> None:
    reply = Slots(CPU, lambda origin: DOUBLE).carry_out(protocol.MeasurePeaks(id="i"))
    assert isinstance(reply, protocol.Failed)
    assert reply.kind is protocol.FailureKind.UNSUPPORTED


def test_freed_slots_cannot_be_refreshed() -> None:
    bench = Bench(DOUBLE)
    bench.ask(protocol.FreeSlots(id="i"), protocol.Done)
    with pytest.raises(RuntimeError, match="no slots were arranged"):
        bench.refresh(0)


def test_input_shapes_depending_on_seed_are_problem_error() -> None:
    sizes = iter(range(1, 100))
    bench = Bench(toy("f(x: Tensor) -> Tensor", lambda case, rng: (torch.zeros(next(sizes)),), lambda x: x))
    with pytest.raises(ValueError, match="shapes and scalars of one depend on the seed"):
        bench.refresh(0)
