"""A watched call hands back what it wrote, and hands it back again when it is asked, as it is then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from engine import protocol
from engine.judge.inputs.outputs import take
from engine.protocol import tensors
from engine.worker import main
from engine.worker.memory import CallMemory
from engine.worker.monitor.recent_outputs import OutputRepeater

CPU = torch.device("cpu")


class Stage:
    """A worker in this process whose entry adds one to its argument in place and returns twice that."""

    def __init__(self, folder: Path) -> None:
        self.worker = main._Worker.__new__(main._Worker)  # the whole one patches Triton for good
        self.worker._device = CPU
        self.worker._memory = CallMemory(CPU)
        self.worker._output_repeater = OutputRepeater(self.worker._memory)
        placed, size_bytes = tensors.place([16])
        self.spec = protocol.ArenaSpec(path=str(folder / "a"), storages=placed, bytes=size_bytes)
        tensors.ArenaFile(self.spec).write([torch.zeros(16, dtype=torch.uint8)], guard=0)
        self.outputs = folder / "o"
        self.argument = self.worker._memory.storages(self.spec)[0].view(torch.float32)
        self.returned = torch.arange(4.0)

    def call(self, watch: protocol.Watch | None) -> list[list[float]]:
        command = protocol.Call(
            id="i",
            case="c",
            arguments=(),
            arena=self.spec,
            outputs=str(self.outputs),
            max_output_bytes=1 << 20,
            poison=0,
            watch=watch,
        )
        return self.read(self.worker._output_repeater.write_outputs(command, [7, self.argument], self.returned))

    def repeat_outputs(self, pause_s: float = 0.0) -> list[list[float]]:
        return self.read(self.worker._repeat_outputs(protocol.RepeatOutputs(id="r", pause_s=pause_s)).returned)

    def read(self, specs: tuple[protocol.ReturnedSpec, ...]) -> list[list[float]]:
        content = torch.frombuffer(bytearray(self.outputs.read_bytes()), dtype=torch.uint8)
        values: list[Any] = [take("", spec, content, torch.empty(4)) for spec in specs]
        return [value.tolist() for value in values]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def test_unobserved_call_returns_its_outputs(stage: Stage) -> None:
    assert stage.call(None) == [[0, 1, 2, 3]]


def test_observed_call_returns_outputs_then_arguments(stage: Stage) -> None:
    stage.argument.fill_(5)
    assert stage.call(protocol.Watch(positions=(1,))) == [[0, 1, 2, 3], [5, 5, 5, 5]]


def test_observed_call_without_returns_returns_arguments(stage: Stage) -> None:
    stage.argument.fill_(5)
    stage.returned = stage.argument
    assert stage.call(protocol.Watch(positions=(1,), returns=False)) == [[5, 5, 5, 5]]
    assert stage.repeat_outputs() == [[5, 5, 5, 5]]


def test_repeated_outputs_read_returns_and_arguments(stage: Stage) -> None:
    stage.call(protocol.Watch(positions=(1,)))
    stage.returned[0] = 9
    stage.argument[3] = 8
    assert stage.repeat_outputs() == [[9, 1, 2, 3], [0, 0, 0, 8]]


def test_recall_waits_for_the_given_time(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(main, "_sleep", waited.append)
    stage.call(protocol.Watch())
    stage.repeat_outputs(pause_s=0.25)
    assert sum(waited) == pytest.approx(0.25)
    assert len(waited) == 10


def test_unobserved_call_cannot_be_recalled(stage: Stage) -> None:
    stage.call(None)
    with pytest.raises(RuntimeError, match="no call was watched"):
        stage.repeat_outputs()


def test_output_sharing_argument_memory_is_snapshotted(stage: Stage) -> None:
    stage.returned = stage.argument.view(4)
    stage.call(protocol.Watch(positions=(1,)))
    stage.argument.fill_(5)
    assert stage.repeat_outputs() == [[5, 5, 5, 5], [5, 5, 5, 5]]
    stage.argument.fill_(6)
    assert stage.repeat_outputs() == [[5, 5, 5, 5], [5, 5, 5, 5]]


def test_output_with_own_memory_is_read_each_time(stage: Stage) -> None:
    stage.call(protocol.Watch())
    stage.repeat_outputs()
    stage.returned.fill_(4)
    assert stage.repeat_outputs() == [[4, 4, 4, 4]]


def test_last_observed_call_is_recalled_after_others(stage: Stage) -> None:
    stage.call(protocol.Watch())
    stage.call(None)
    assert stage.repeat_outputs()
