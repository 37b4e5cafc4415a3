"""Launches of compiled kernels are noted while the recorder is on, and cost nothing while it is off."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from triton.compiler.compiler import CompiledKernel
from triton.runtime.jit import JITFunction

from engine import protocol
from engine.worker.launches.recorder import LaunchRecorder
from engine.worker.launches.records import LaunchLog
from engine.worker.launches.withholding import Withholding


@triton.jit
def kernel(x, n, block: tl.constexpr):
    pass


def run(kernel: Any, *args: Any, grid: Any, warmup: Any, **kwargs: Any) -> str:
    """Stands for Triton's own way to launch, which needs a device."""
    return "compiled"


class Recording:
    """A recorder in a process whose launches go nowhere."""

    def __init__(self) -> None:
        self.book = LaunchLog()
        self.recorder = LaunchRecorder(self.book)

    def launch(self, n: int, *, grid: Any = (3,), warmup: bool = False) -> object:
        return JITFunction.run(kernel, torch.zeros(4), n, block=64, grid=grid, warmup=warmup, num_warps=8)

    def noted(self) -> list[tuple[str, tuple[int, ...], int]]:
        return [(launch.kernel, launch.grid, launch.num_warps) for launch in self.book.take_unreported()]


class Tapes:
    """Notes the launches that run within."""

    capture = None

    def __init__(self, *, is_on: bool = True) -> None:
        self.is_on = is_on
        self.launches: list[Any] = []

    @contextlib.contextmanager
    def launching(self, launch: Any) -> Iterator[None]:
        self.launches.append(launch)
        yield


def taped(monkeypatch: pytest.MonkeyPatch, tapes: Tapes, *, grid: Any = (3,), warmup: bool = False) -> list[Any]:
    """What is on a tape after one launch."""
    monkeypatch.setattr(JITFunction, "run", run)
    LaunchRecorder(LaunchLog(), tapes=tapes).turn(on=True)
    JITFunction.run(kernel, torch.zeros(4), 5, block=64, grid=grid, warmup=warmup, num_warps=8, num_ctas=None)
    return [(launch.function, launch.grid, launch.options) for launch in tapes.launches]


@pytest.mark.parametrize(
    ("grid", "on_tape"),
    [((3,), (3, 1, 1)), ((3, 2), (3, 2, 1)), (lambda values: (values["n"], values["block"]), (5, 64, 1))],
    ids=["one axis", "two axes", "a function"],
)
def test_launch_is_on_tape_with_its_grid(monkeypatch: pytest.MonkeyPatch, grid: Any, on_tape: tuple[int, ...]) -> None:
    assert taped(monkeypatch, Tapes(), grid=grid) == [(kernel.fn, on_tape, {"num_warps": 8})]


def test_launch_on_tape_has_every_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    tapes = Tapes()
    taped(monkeypatch, tapes)
    (launch,) = tapes.launches
    assert {name: value for name, value in launch.values.items() if name != "x"} == {"n": 5, "block": 64}


@pytest.mark.parametrize(
    ("is_on", "grid", "warmup"), [(False, (3,), False), (True, (0,), False), (True, (3,), True)],
    ids=["no tape", "no programs", "a compile only"],
)  # fmt: skip
def test_empty_grid_or_warmup_is_not_taped(
    monkeypatch: pytest.MonkeyPatch, is_on: bool, grid: Any, warmup: bool
) -> None:
    assert taped(monkeypatch, Tapes(is_on=is_on), grid=grid, warmup=warmup) == []


@pytest.fixture
def recording(monkeypatch: pytest.MonkeyPatch) -> Recording:
    monkeypatch.setattr(JITFunction, "run", run)  # put back afterwards, whatever the recorder leaves there
    return Recording()


def test_nothing_is_noted_before_the_recorder_is_on(recording: Recording) -> None:
    recording.launch(2)
    assert recording.noted() == []


def test_launch_is_recorded_with_grid_and_result(recording: Recording) -> None:
    recording.recorder.turn(on=True)
    assert recording.launch(2) == "compiled"
    assert recording.noted() == [("kernel", (3,), 8)]


def test_grid_depending_on_arguments_is_computed(recording: Recording) -> None:
    recording.recorder.turn(on=True)
    recording.launch(200, grid=lambda meta: (triton.cdiv(meta["n"], meta["block"]), 2))
    assert recording.noted() == [("kernel", (4, 2), 8)]


def test_warm_up_is_not_a_launch(recording: Recording) -> None:
    recording.recorder.turn(on=True)
    recording.launch(2, warmup=True)
    assert recording.noted() == []


def test_disabled_recorder_keeps_tritons_launch(recording: Recording) -> None:
    recording.recorder.turn(on=True)
    recording.recorder.turn(on=False)
    recording.launch(2)
    assert recording.noted() == []
    assert JITFunction.run is run


def test_nested_recording_restores_previous_state(recording: Recording) -> None:
    with recording.recorder.recording():
        recording.launch(2)
        with recording.recorder.recording():
            recording.launch(2)
        recording.launch(2)
    recording.launch(2)
    [noted] = recording.book.take_unreported()
    assert noted.count == 3


def test_recorder_turned_on_twice_notes_launch_once(recording: Recording) -> None:
    recording.recorder.turn(on=True)
    recording.recorder.turn(on=True)
    recording.launch(2)
    [noted] = recording.book.take_unreported()
    assert noted.count == 1


def test_a_launch_that_failed_is_not_noted(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("too much shared memory")

    monkeypatch.setattr(JITFunction, "run", refuse)
    failing = Recording()
    failing.recorder.turn(on=True)
    with pytest.raises(RuntimeError, match="shared memory"):
        failing.launch(2)
    assert failing.noted() == []


def test_withheld_launch_compiles_without_launching(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[bool] = []

    def noted_run(kernel: Any, *args: Any, grid: Any, warmup: Any, **kwargs: Any) -> str:
        asked.append(warmup)
        return "compiled"

    monkeypatch.setattr(JITFunction, "run", noted_run)
    withholding, book = Withholding(), LaunchLog()
    LaunchRecorder(book, withholding).turn(on=True)
    kept = JITFunction.run  # as a candidate may keep it while it is loaded
    with withholding.during(protocol.Withhold()):
        assert kept(kernel, torch.zeros(4), 2, block=64, grid=(3,), warmup=False) == "compiled"
        kept(kernel, torch.zeros(4), 2, block=64, grid=(3,), warmup=True)
    assert asked == [True, True]
    assert book.take_unreported() == ()
    assert [(entry.launches, entry.withheld) for entry in withholding.take_ledger()] == [(1, 1)]


class Compiled:
    """As much of a compiled kernel as launching it by its grid needs; `made` are the launches that were made."""

    def __init__(self, source: object) -> None:
        self.src = source
        self.metadata = SimpleNamespace(num_warps=8, num_stages=2)
        self.made: list[tuple[object, ...]] = []


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Compiled:
    def launcher(compiled: Compiled, grid: Any) -> Any:
        return lambda *args: compiled.made.append((grid, *args))

    monkeypatch.setattr(CompiledKernel, "__getitem__", launcher)
    monkeypatch.setattr(JITFunction, "run", run)
    return Compiled(SimpleNamespace(fn=kernel))


def launched(compiled: Compiled) -> None:
    CompiledKernel.__getitem__(compiled, (3, 1, 1))(torch.zeros(4), 2, 64)


def test_launch_of_compiled_kernel_is_recorded(compiled: Compiled) -> None:
    book = LaunchLog()
    LaunchRecorder(book).turn(on=True)
    launched(compiled)
    (launch,) = book.take_unreported()
    assert (launch.kernel, launch.grid, launch.num_warps, launch.num_stages) == ("kernel", (3, 1, 1), 8, 2)
    assert len(compiled.made) == 1


def test_launch_of_compiled_kernel_is_withheld(compiled: Compiled) -> None:
    withholding = Withholding()
    LaunchRecorder(LaunchLog(), withholding).turn(on=True)
    with withholding.during(protocol.Withhold()):
        launched(compiled)
    assert compiled.made == []
    assert [(entry.launches, entry.withheld) for entry in withholding.take_ledger()] == [(1, 1)]


def test_kernel_compiled_without_function_is_unchanged(compiled: Compiled) -> None:
    compiled.src = object()
    book = LaunchLog()
    LaunchRecorder(book).turn(on=True)
    launched(compiled)
    assert (book.take_unreported(), len(compiled.made)) == ((), 1)
