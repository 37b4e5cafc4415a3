"""CUDA graphs on a tape: captured work is recorded once, and belongs to each call that replays the graph.

A captured step works on the memory that it was captured with, and on its content when the graph runs.  So each step is
kept with its tensors, and is put on the tape before the graph runs, when unknown memory still has the content that the
graph will read.

Captures are recorded whenever they happen: also while the candidate is loaded and in calls that are timed, since a
later call may replay the graph.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

import torch

from engine.protocol.proof.tape import MOST_STEPS
from engine.worker.operands import device_of, tensors_in
from engine.worker.taping.steps import PendingLaunch, StepReceiver

UNSEEN = "a CUDA graph was replayed that was captured where its launches were not recorded"
_NAME_CHARACTERS = 200
_is_capturing = torch.cuda.is_current_stream_capturing  # bound before a candidate can replace it


class CallRecorder(StepReceiver, Protocol):
    """Interface of the recorder of a call's tape; `capture` receives the steps of a graph capture."""

    capture: Capture | None
    sees_operators: bool
    is_in_graph: bool


class Capture:
    """Receives the steps that a graph captures, and keeps them as `steps`; `incomplete` is why one is missing."""

    is_on = True

    def __init__(self, tape: CallRecorder) -> None:
        """`tape` gets the steps whenever the graph is replayed."""
        self._tape = tape
        self._devices: set[str] = set()
        self.steps: list[Callable[[], None]] = []
        self.incomplete = "" if tape.sees_operators else UNSEEN

    def put_on_tape(self) -> None:
        """Add the steps of the graph to the call before the graph runs."""
        if self._tape.capture is not None:
            self._tape.capture.keep(self.put_on_tape)
            return
        if self.incomplete:
            self._tape.leave_incomplete(self.incomplete)
        self._tape.is_in_graph = True
        for put in self.steps:
            put()
        self._tape.is_in_graph = False

    def keep(self, put: Callable[[], None], tensors: Iterable[torch.Tensor] = ()) -> None:
        """Keep a step that works on these tensors."""
        self._devices |= {str(device_of(tensor).type) for tensor in tensors}
        if self.incomplete:
            return
        if not _is_capturing():
            self.leave_incomplete("work beside a CUDA graph while it was captured")
        elif len(self._devices - {"meta"}) > 1:
            self.leave_incomplete("a CUDA graph was captured with work on the host")
        elif len(self.steps) == MOST_STEPS:
            self.leave_incomplete(f"a CUDA graph of more than {MOST_STEPS} steps")
        else:
            self.steps.append(put)

    def leave_incomplete(self, why: str) -> None:
        """Record that a step cannot be kept."""
        self.incomplete = self.incomplete or why
        self.steps.clear()

    # ------------------------------------------------------------ as of StepReceiver

    def taken(self, tensors: Iterable[torch.Tensor]) -> None:
        """No operation: the step itself names the tensors that it takes."""

    def read(self, operator: str, tensor: torch.Tensor) -> None:
        """Make the capture incomplete: a graph captures no reads by the host."""
        self.leave_incomplete(f"the host read results while a CUDA graph was captured: {operator[:_NAME_CHARACTERS]}")

    def allocated(self, result: object) -> None:
        """Record memory of the graph's own."""
        self.keep(lambda: self._tape.allocated(result), tensors_in((result,)))

    def filled(self, target: torch.Tensor, number: Any) -> None:  # Any: what torch fills with
        """Record that every element is set to this number."""
        self.keep(lambda: self._tape.filled(target, number), (target,))

    def moved(self, target: torch.Tensor, source: torch.Tensor) -> None:
        """Record that the elements are copied."""
        self.keep(lambda: self._tape.moved(target, source), (target, source))

    def looked_up(
        self, target: torch.Tensor, source: torch.Tensor, positions: torch.Tensor, dimension: int, *, each: bool = False
    ) -> None:
        """Record that elements at positions are copied."""
        self.keep(
            lambda: self._tape.looked_up(target, source, positions, dimension, each=each), (target, source, positions)
        )

    def given(
        self, operator: str, tensors: Iterable[torch.Tensor], taken: Sequence[torch.Tensor], *, integers: bool = False
    ) -> None:
        """Record content of an operator that is not replayed."""
        left = tuple(tensors)
        self.keep(lambda: self._tape.given(operator, left, taken, integers=integers), (*left, *taken))

    @contextlib.contextmanager
    def launching(self, launch: PendingLaunch) -> Iterator[None]:
        """Context in which a kernel is launched."""

        def put() -> None:
            with self._tape.launching(launch):
                pass

        yield
        self.keep(put, tensors_in(launch.values.values()))


def follow_graphs(
    tape: CallRecorder, observing: Callable[[], contextlib.AbstractContextManager[object]] = contextlib.nullcontext
) -> None:
    """Have every CUDA graph of this process report its captures and replays from now on.

    Operators and launches are reported in the context of `observing`, which is open during each capture.
    """
    graph_type: Any = torch.cuda.CUDAGraph
    begin, end, replay = graph_type.capture_begin, graph_type.capture_end, graph_type.replay
    captures: weakref.WeakKeyDictionary[Any, Capture] = weakref.WeakKeyDictionary()
    observed = contextlib.ExitStack()

    def capture_begin(graph: Any, *args: Any, **kwargs: Any) -> None:
        observed.close()  # closes a capture that never ended
        begin(graph, *args, **kwargs)
        observed.enter_context(observing())
        tape.capture = Capture(tape)

    def capture_end(graph: Any) -> None:
        captured, tape.capture = tape.capture, None
        captures.pop(graph, None)
        observed.close()
        end(graph)
        if captured is not None:
            captures[graph] = captured

    def replayed(graph: Any) -> None:
        known = captures.get(graph)
        if known is not None and (tape.is_on or tape.capture is not None):
            known.put_on_tape()
        elif known is None and (tape.capture or tape).is_on:
            (tape.capture or tape).leave_incomplete(UNSEEN)
        replay(graph)

    graph_type.capture_begin, graph_type.capture_end, graph_type.replay = capture_begin, capture_end, replayed
