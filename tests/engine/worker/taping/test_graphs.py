"""What CUDA graphs capture is on the tape of each call that replays them, or the tape says why not."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import triton
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack as dispatch_modes

from engine.protocol.proof.tape import Filled, Given, Launched, Moved, Tape, read_tape
from engine.worker.launches.recorder import _Launch
from engine.worker.monitor.operators.ledger import Ledger
from engine.worker.taping import graphs
from engine.worker.taping.recorder import TapeRecorder
from tests.engine.replay.tapes import ELEMENTS, double, replay_on_host, zeros


@triton.jit
def double_kernel(x, y, n):
    pass


class Graph:
    """A graph that the driver would replay."""

    replays = 0

    def capture_begin(self, *args: Any, **kwargs: Any) -> None:
        pass

    def capture_end(self) -> None:
        pass

    def replay(self) -> None:
        self.replays += 1


class Worker:
    """Records calls as a worker does."""

    def __init__(self) -> None:
        self.recorder = TapeRecorder()
        self.ledger = Ledger(self.recorder)

    def call(self, entry: Callable[[torch.Tensor], torch.Tensor], given: torch.Tensor) -> Tape:
        """The tape of one call."""
        with self.ledger.of_call("case", (given,)), self.recorder.of_call((given.view(torch.uint8),), __file__):
            return read_tape(self.recorder.tape((entry(given),)))

    def prepare(self, made: Callable[[], Any]) -> Any:
        """What an earlier call makes, of which there is no tape."""
        with self.ledger.of_call("case", ()):
            return made()

    def launch(self, x: torch.Tensor, y: torch.Tensor) -> None:
        values = {"x": x, "y": y, "n": x.numel()}
        receiver = self.recorder.capture or self.recorder
        with receiver.launching(_Launch(function=double_kernel.fn, sizes=(1, 1, 1), values=values, options={})):
            pass

    def captured(self, work: Callable[[], Any]) -> Any:
        """A graph of this work, and what that returned."""
        graph = Graph()
        graph.capture_begin(pool=None)
        made = work()
        graph.capture_end()
        return graph, made


@pytest.fixture
def follow(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Worker]:
    """Makes the worker of this process; `observes` has it report the operators of each capture."""
    for name in ("capture_begin", "capture_end", "replay"):
        monkeypatch.setattr(Graph, name, getattr(Graph, name))  # put back afterwards
    monkeypatch.setattr(torch.cuda, "CUDAGraph", Graph)
    monkeypatch.setattr(graphs, "_is_capturing", lambda: True)

    def made(*, observes: bool) -> Worker:
        worker = Worker()
        graphs.follow_graphs(worker.recorder, *((worker.ledger.of_capture,) if observes else ()))
        return worker

    return made


@pytest.fixture
def worker(follow: Callable[..., Worker]) -> Worker:
    return follow(observes=True)


def given() -> torch.Tensor:
    return torch.arange(float(ELEMENTS))


def static(worker: Worker) -> tuple[Any, torch.Tensor, torch.Tensor]:
    """A graph that doubles the content of its own memory, and that memory."""

    def made() -> tuple[Any, torch.Tensor, torch.Tensor]:
        x, y = torch.ones(ELEMENTS), torch.ones(ELEMENTS)
        return worker.captured(lambda: worker.launch(x, y))[0], x, y

    return worker.prepare(made)  # type: ignore[no-any-return]  # what it was given


def test_replayed_graph_launches_are_on_tape(worker: Worker) -> None:
    graph, x, y = static(worker)

    def entry(live: torch.Tensor) -> torch.Tensor:
        x.copy_(live)
        graph.replay()
        return y.clone()

    tape = worker.call(entry, given())
    assert [type(step) for step in tape.steps] == [Given, Moved, Given, Launched, Moved]
    assert (tape.incomplete, graph.replays) == ("", 1)


def test_the_tape_of_a_graph_computes_the_answer(worker: Worker) -> None:
    graph, x, y = static(worker)

    def entry(live: torch.Tensor) -> torch.Tensor:
        x.copy_(live)
        graph.replay()
        return y.clone()

    tape = worker.call(entry, given())
    content = np.arange(5, 5 + ELEMENTS, dtype=np.float32)
    replayed = replay_on_host(tape, [content.view(np.uint8)], {0: double()}, poison=zeros)
    answer = replayed.content[tape.returned[0].storage].view(np.float32)  # type: ignore[union-attr]  # it is a tensor
    assert answer.tolist() == (2 * content).tolist()


def test_memory_made_in_a_capture_has_no_content(worker: Worker) -> None:
    graph, y = worker.prepare(lambda: worker.captured(lambda: torch.zeros(ELEMENTS)))

    def entry(live: torch.Tensor) -> torch.Tensor:
        graph.replay()
        graph.replay()
        return y  # type: ignore[no-any-return]  # a tensor

    tape = worker.call(entry, given())
    assert [type(step) for step in tape.steps] == [Filled]  # of the second replay, which covers the first
    assert tape.incomplete == ""


def test_captured_operations_are_not_steps(worker: Worker) -> None:
    def entry(live: torch.Tensor) -> torch.Tensor:
        y = torch.empty(ELEMENTS)
        worker.captured(lambda: (y.copy_(live), worker.launch(live, y)))
        return live  # here the captured copy is carried out, so the content of y is not what a device would have

    assert worker.call(entry, given()).steps == ()


def test_a_captured_operator_is_on_the_tape(worker: Worker) -> None:
    def made() -> tuple[Any, torch.Tensor, torch.Tensor]:
        x = torch.ones(ELEMENTS)
        graph, y = worker.captured(lambda: torch.nn.functional.silu(x))
        return graph, x, y

    graph, x, y = worker.prepare(made)

    def entry(live: torch.Tensor) -> torch.Tensor:
        x.copy_(live)
        graph.replay()
        return y  # type: ignore[no-any-return]  # a tensor

    last = worker.call(entry, given()).steps[-1]
    assert isinstance(last, Given)
    assert (last.operator, last.data) == ("aten::silu", None)


def beside(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(graphs, "_is_capturing", lambda: False)
    return static(worker)[0]


@pytest.mark.parametrize(
    ("captured", "reason"),
    [
        (lambda worker, _: Graph(), graphs.UNSEEN),
        (beside, "work beside a CUDA graph while it was captured"),
        (
            lambda worker, _: worker.prepare(lambda: worker.captured(lambda: torch.arange(4))[0]),
            "a CUDA graph that fills memory by aten::arange",
        ),
        (
            lambda worker, _: worker.prepare(lambda: worker.captured(lambda: torch.ones(1).item())[0]),
            "the host read results while a CUDA graph was captured: Tensor.item",
        ),
    ],
    ids=["never captured", "another stream", "of no argument", "host reads"],
)
def test_a_graph_that_is_not_recorded_is_named(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, captured: Callable[..., Any], reason: str
) -> None:
    graph = captured(worker, monkeypatch)

    def entry(live: torch.Tensor) -> torch.Tensor:
        graph.replay()
        return live

    assert worker.call(entry, given()).incomplete == reason


def test_a_graph_captured_with_host_tensors_is_incomplete(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    worker.recorder.sees_operators = True
    capture = graphs.Capture(worker.recorder)
    capture.keep(lambda: None, (torch.ones(1, device="meta"), torch.ones(1)))
    assert (capture.incomplete, len(capture.steps)) == ("", 1)
    monkeypatch.setattr(graphs, "device_of", lambda _: SimpleNamespace(type="cuda"))
    capture.keep(lambda: None, (torch.ones(1),))
    assert (capture.incomplete, capture.steps) == ("a CUDA graph was captured with work on the host", [])


def test_memory_with_other_bounds_is_named(worker: Worker) -> None:
    whole = torch.arange(2.0 * ELEMENTS)
    graph, _ = worker.prepare(lambda: worker.captured(lambda: worker.launch(whole, whole)))
    part = torch.from_numpy(whole.numpy()[ELEMENTS:])

    def entry(live: torch.Tensor) -> torch.Tensor:
        graph.replay()
        return live

    assert worker.call(entry, part).incomplete == "a CUDA graph works on memory that has other bounds now"


def test_nested_graph_is_replayed_with_outer_graph(worker: Worker) -> None:
    inner, _, _ = static(worker)
    outer, _ = worker.prepare(lambda: worker.captured(inner.replay))

    def entry(live: torch.Tensor) -> torch.Tensor:
        outer.replay()
        return live

    assert len(worker.call(entry, given()).launches) == 1


def test_a_capture_without_an_end_is_forgotten(worker: Worker) -> None:
    graph = Graph()

    def failing() -> None:
        graph.capture_begin()
        torch.zeros(ELEMENTS)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        worker.prepare(failing)
    tape = worker.call(lambda live: live.clone(), given())
    assert [type(step) for step in tape.steps] == [Moved]


def test_graph_captured_while_timed_is_on_tape(worker: Worker) -> None:
    x = torch.ones(ELEMENTS)

    def timed() -> tuple[Any, torch.Tensor]:
        """Captures where neither a call is verified nor a tape recorded."""
        y = torch.empty(ELEMENTS)
        return worker.captured(lambda: (worker.launch(x, y), y.clone())[1])

    graph, z = timed()

    def entry(live: torch.Tensor) -> torch.Tensor:
        x.copy_(live)
        graph.replay()
        return z

    tape = worker.call(entry, given())
    assert [type(step) for step in tape.steps] == [Given, Moved, Given, Launched, Moved]
    assert tape.incomplete == ""


def test_operators_after_a_capture_are_not_reported(worker: Worker) -> None:
    worker.captured(lambda: torch.zeros(ELEMENTS))
    assert (worker.recorder.sees_operators, worker.ledger.is_on) == (False, False)
    assert dispatch_modes() == []


def test_a_capture_that_never_ended_leaves_calls_observed(worker: Worker) -> None:
    Graph().capture_begin()

    def entry(live: torch.Tensor) -> torch.Tensor:
        worker.captured(lambda: None)
        return live.clone()

    assert [type(step) for step in worker.call(entry, given()).steps] == [Moved]
    assert not worker.ledger.is_on


def test_a_capture_that_is_not_observed_is_named(follow: Callable[..., Worker]) -> None:
    worker = follow(observes=False)
    graph, _ = worker.captured(lambda: torch.zeros(4))

    def entry(live: torch.Tensor) -> torch.Tensor:
        graph.replay()
        return live

    assert worker.call(entry, given()).incomplete == graphs.UNSEEN


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device: graphs are captured there")
def test_a_graph_of_a_device_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("capture_begin", "capture_end", "replay"):
        monkeypatch.setattr(torch.cuda.CUDAGraph, name, getattr(torch.cuda.CUDAGraph, name))  # put back afterwards
    worker = Worker()
    graphs.follow_graphs(worker.recorder, worker.ledger.of_capture)
    x = torch.ones(ELEMENTS, device="cuda")

    def made() -> tuple[torch.cuda.CUDAGraph, torch.Tensor]:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = x.clone()
        return graph, y

    graph, y = made()  # as a timed call does: nothing but the capture is observed

    def entry(live: torch.Tensor) -> torch.Tensor:
        x.copy_(live)
        graph.replay()
        return y

    tape = worker.call(entry, given().cuda())
    assert ([type(step) for step in tape.steps], tape.incomplete) == ([Given, Moved, Moved], "")
    assert torch.equal(y.cpu(), given())
