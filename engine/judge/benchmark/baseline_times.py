"""Timing of baselines on the same inputs that the candidate was timed on.

A baseline gets private copies, rewritten before every run, since it may write to its arguments as the candidate does;
and every run is made by the same code and from the same state of the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from engine import protocol
from engine.clock.calls import Calls
from engine.clock.instruments import Instruments
from engine.clock.timed_run import timed_run
from engine.judge.baselines import ReadyBaseline, baseline_named, eager
from engine.judge.benchmark.slot_checks import Layout
from engine.judge.inputs.outputs import lay_out
from engine.model.problems.reference_timer import ReferenceTimer
from engine.protocol import tensors

if TYPE_CHECKING:
    from engine.model import Arguments


@dataclass(frozen=True, kw_only=True)
class _Side:
    """A ready baseline and its calls."""

    ready: ReadyBaseline
    calls: Calls


class BaselineTimes:
    """The baselines of one case."""

    def __init__(self, device: torch.device, instruments: Instruments) -> None:
        self._device = device
        self._instruments = instruments
        # None for the reference of a foreign problem, which `_timer` times in its own process.
        self._sides: dict[str, _Side | None] = {}
        self._timer: ReferenceTimer | None = None
        # One set of copies for each call of a run. Never reallocated: CUDA graphs hold their addresses.
        self._sets: list[list[torch.Tensor]] = []

    def prepare(self, command: protocol.PrepareBaseline, layout: Layout, inputs: Arguments) -> protocol.AnyReply:
        """Prepare a baseline, or reply with the reason why that is impossible.

        Raises:
            KgtuiError: there is none of that name, or it failed.
        """
        if command.name == eager.NAME and layout.problem.timer is not None:
            layout.problem.timer.prepare(layout.case)
            self._sides[command.name], self._timer = None, layout.problem.timer
            return protocol.Done(id=command.id)
        baseline = baseline_named(command.name)
        reason = baseline.available(layout.problem, self._device)
        if reason:
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=reason)
        specs, storages = lay_out(layout.problem, inputs)
        arguments = tuple(tensors.value_of(spec, storages) for spec in specs)  # laid out like those of a run
        ready = baseline.prepare(layout.problem, layout.case, arguments, self._device)
        self._sides[command.name] = _Side(ready=ready, calls=Calls(self._instruments))
        return protocol.Done(id=command.id)

    def time(self, command: protocol.TimeBaseline, layout: Layout, images: torch.Tensor) -> protocol.AnyReply:
        """Call a baseline on copies of these images."""
        if command.name not in self._sides:
            raise RuntimeError(f"baseline {command.name} was not prepared")
        side = self._sides[command.name]
        if side is None:
            assert self._timer is not None
            reply: protocol.AnyReply = self._timer.time(command)
            return reply
        self._copy(layout, images, command.slots)
        count = len(command.slots)
        calls = self._calls_on(side, layout, count)
        return timed_run(command, side.calls, calls, self._sets[:count], self._instruments, notes=side.ready.notes)

    def forget(self) -> None:
        """Release all baselines and their memory."""
        for side in self._sides.values():
            if side is not None:
                side.calls.forget()
        if self._timer is not None:
            self._timer.forget()
            self._timer = None
        self._sides, self._sets = {}, []

    def _copy(self, layout: Layout, images: torch.Tensor, slots: tuple[int, ...]) -> None:
        while len(self._sets) < len(slots):
            self._sets.append([torch.empty_like(part) for part in layout.parts(images[0])])
        for numbered, copies in zip(slots, self._sets, strict=False):
            for part, copy in zip(layout.parts(images[numbered]), copies, strict=True):
                copy.copy_(part)

    def _calls_on(self, side: _Side, layout: Layout, calls: int) -> list[Callable[[], object]]:
        def on(storages: list[torch.Tensor]) -> Callable[[], object]:
            arguments = [tensors.value_of(spec, storages) for spec in layout.specs]
            return lambda: side.ready(*arguments)

        return [on(storages) for storages in self._sets[:calls]]
