"""The judge says what is right in the bytes that were handed back, and what has changed since others were kept."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
import torch

from engine import protocol
from engine.clock.returned import copy_out
from engine.devices.hardware.device_memory import DeviceBlock
from engine.judge.inputs import cases
from engine.judge.probing.output_readings import OutputReadings
from engine.judge.probing.precision import measure_precision
from engine.probes.lab.case_session import CaseSession
from engine.probes.lab.repeat_calls import watch_of
from engine.protocol import tensors
from engine.worker.memory import CallMemory
from engine.worker.monitor.recent_outputs import OutputRepeater
from tests.operators import definition

if TYPE_CHECKING:
    from tests.engine.judge.conftest import Bench


def compared(bench: Bench, *values: torch.Tensor, keep: bool = False) -> list[tuple[int, int, int | None]]:
    """Of each output how many elements there are, how many are right, how many have changed."""
    command = protocol.CompareReading(
        id="c", outputs=str(bench.outputs), max_output_bytes=1 << 20, returned=bench.hand_back(*values), keep=keep
    )
    reply = bench.ask(command)
    assert isinstance(reply, protocol.ReadingCompared), reply
    return [(output.total, output.right, output.changed) for output in reply.outputs]


def test_changes_without_kept_outputs_are_absent(bench: Bench) -> None:
    bench.prepare("TWICE")
    answer = 2 * bench.arguments[0]
    assert compared(bench, answer) == [(4, 4, None)]
    assert compared(bench, answer) == [(4, 4, None)]


def test_changes_are_counted_against_last_kept_outputs(bench: Bench) -> None:
    bench.prepare("TWICE")
    answer = 2 * bench.arguments[0]
    other = torch.cat([answer[:1], answer[1:] + 1])
    assert compared(bench, answer, keep=True) == [(4, 4, None)]
    assert compared(bench, other) == [(4, 1, 3)]
    assert compared(bench, answer) == [(4, 4, 0)]
    assert compared(bench, other, keep=True) == [(4, 1, 3)]
    assert compared(bench, other) == [(4, 1, 0)]


def test_a_change_is_one_of_bits(bench: Bench) -> None:
    bench.prepare("SCALAR")  # it returns its input, which is all zeros
    compared(bench, torch.zeros(4), keep=True)
    assert compared(bench, torch.tensor([0.0, -0.0, 0.0, 0.0])) == [(4, 4, 1)]


def test_nan_that_stays_has_not_changed(bench: Bench) -> None:
    bench.prepare("TWICE")
    compared(bench, torch.full((4,), torch.nan), keep=True)
    assert compared(bench, torch.full((4,), torch.nan)) == [(4, 0, 0)]


def test_written_arguments_are_those_returned(bench: Bench) -> None:
    bench.prepare("IN_PLACE")
    answer = 2 * bench.arguments[0]
    assert compared(bench, answer, keep=True) == [(4, 4, None)]
    assert compared(bench, torch.zeros(4)) == [(4, 0, 4)]


def test_argument_with_gaps_is_returned_without_them(bench: Bench) -> None:
    bench.prepare("INTO")
    assert compared(bench, bench.arguments[0] + 1) == [(4, 4, None)]


def test_output_of_another_shape_is_wrong_everywhere(bench: Bench) -> None:
    bench.prepare("TWICE")
    compared(bench, 2 * bench.arguments[0], keep=True)
    assert compared(bench, torch.zeros(3)) == [(4, 0, None)]


def test_output_not_returned_is_wrong_everywhere(bench: Bench) -> None:
    bench.prepare("IN_PLACE")
    assert compared(bench) == [(4, 0, None)]


def test_output_beyond_expected_count_is_ignored(bench: Bench) -> None:
    bench.prepare("TWICE")
    answer = 2 * bench.arguments[0]
    assert compared(bench, answer, answer) == [(4, 0, None)]


def test_an_empty_output_does_not_change(bench: Bench) -> None:
    bench.prepare("EMPTY")
    compared(bench, torch.empty(0), keep=True)
    assert compared(bench, torch.empty(0)) == [(0, 0, 0)]


def test_another_case_resets_kept_outputs(bench: Bench) -> None:
    bench.prepare("TWICE")
    compared(bench, 2 * bench.arguments[0], keep=True)
    bench.prepare("TWICE", case="large")
    assert compared(bench, 2 * bench.arguments[0]) == [(4, 4, None)]


def _block(size_bytes: int, device: torch.device) -> DeviceBlock:
    block = SimpleNamespace(handle="h", size_bytes=size_bytes, content=torch.zeros(size_bytes, dtype=torch.uint8))
    return cast(DeviceBlock, block)  # cast: memory of the host, in the driver's stead


def test_returned_and_written_outputs_have_device_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    problem, cpu = definition("cublas::cublasSaxpy_v2"), torch.device("cpu")
    case = problem.cases[0]
    content = cases.Contents(cpu).make(problem, case, 7)
    arena = cases.arena_on_device(content, cases.ArenaMemory(cpu, allocate=_block))
    prepared = cases.PreparedCase(problem=problem, case=case, arena=arena, base=content, content=content)
    cases.fill(prepared, content, 0xFF)
    assert arena.spec.outputs is not None
    place = tensors.part(arena._content, arena.spec.outputs)
    answer, written = (value.clone() for value in content.expected)
    returned, _ = copy_out((answer, written), place)
    readings = OutputReadings()
    command = protocol.CompareReading(id="c", outputs="", max_output_bytes=0, returned=returned, keep=True)
    total = answer.numel()
    first, second = readings.compare(prepared, command)
    assert [(one.total, one.right, one.changed) for one in (first, second)] == [(total, total, None)] * 2
    copy_out((answer, written.flatten().roll(1)), place)
    first, second = readings.compare(prepared, command)
    assert (first.changed, first.right) == (0, total)
    assert second.changed == int((written.view(torch.int32) != written.view(torch.int32).roll(1)).sum())
    reported = measure_precision(
        prepared, protocol.MeasurePrecision(id="g", outputs="", max_output_bytes=0, returned=returned[:1])
    )
    assert [one.name for one in reported] == list(problem.outputs)


@pytest.mark.parametrize("extra", [0, 2])
def test_returned_output_of_in_place_entry_passes(extra: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    problem, cpu = definition("vllm::rms_norm"), torch.device("cpu")
    case = next(case for case in problem.cases if case.name == "7x127 f32")
    content = cases.Contents(cpu).make(problem, case, 7)
    arena = cases.arena_on_device(content, cases.ArenaMemory(cpu, allocate=_block))
    prepared = cases.PreparedCase(problem=problem, case=case, arena=arena, base=content, content=content)
    cases.fill(prepared, content, 0xFF)
    memory = CallMemory(cpu)
    memory._blocks[arena.spec.handle] = arena._content
    lab = SimpleNamespace(problem=problem)
    bench = SimpleNamespace(lab=lab, prepared=SimpleNamespace(arguments=content.specs))
    call = protocol.Call(
        id="c",
        case=case.name,
        arguments=content.specs,
        arena=arena.spec,
        outputs="",
        max_output_bytes=0,
        poison=0xFF,
        watch=watch_of(cast(CaseSession, bench)),  # cast: as much of it as is read
    )
    out = content.expected[0].clone()
    returned = OutputRepeater(memory).write_outputs(call, [out, None, None, None], (out, *(torch.ones(7),) * extra))
    command = protocol.CompareReading(id="c", outputs="", max_output_bytes=0, returned=returned, keep=True)
    assert [(one.name, one.right) for one in OutputReadings().compare(prepared, command)] == [("out", out.numel())]
