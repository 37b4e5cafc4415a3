"""Timing baselines on the very inputs that the candidate was timed on.

A baseline gets private copies, written again before every run, since it may write to its arguments as the
candidate does; and every run is made by the same code and from the same state of the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from engine import protocol
from engine.clock.calls import Calls
from engine.clock.instruments import Instruments
from engine.judge.baselines import ReadyBaseline, baseline_named
from engine.judge.benchmark.slot_checks import Layout
from engine.judge.inputs.outputs import lay_out
from engine.model import CacheState
from engine.protocol import tensors

if TYPE_CHECKING:
    from engine.model import Arguments


@dataclass(frozen=True, kw_only=True)
class _Side:
    """A baseline that is ready, and its calls."""

    ready: ReadyBaseline
    calls: Calls


class BaselineTimes:
    """The baselines of one case."""

    def __init__(self, device: torch.device, instruments: Instruments) -> None:
        self._device = device
        self._instruments = instruments
        self._sides: dict[str, _Side] = {}
        # One set for each call of a run.  Never replaced: graphs hold their addresses.
        self._sets: list[list[torch.Tensor]] = []

    def prepare(self, command: protocol.PrepareBaseline, layout: Layout, inputs: Arguments) -> protocol.AnyReply:
        """Make a baseline ready, or reply with the reason why it cannot be.

        Raises:
            KgtuiError: there is none of that name, or it failed.
        """
        baseline = baseline_named(command.name)
        reason = baseline.available(layout.problem, self._device)
        if reason:
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=reason)
        specs, storages = lay_out(layout.problem, inputs)
        arguments = tuple(tensors.value_of(spec, storages) for spec in specs)  # made in the way of those of a run
        ready = baseline.prepare(layout.problem, layout.case, arguments, self._device)
        self._sides[command.name] = _Side(ready=ready, calls=Calls(self._instruments))
        return protocol.Done(id=command.id)

    def time(self, command: protocol.TimeBaseline, layout: Layout, images: torch.Tensor) -> protocol.AnyReply:
        """Call a baseline on copies of these images."""
        if command.name not in self._sides:
            raise RuntimeError(f"baseline {command.name} was not prepared")
        side = self._sides[command.name]
        self._copy(layout, images, command.slots)
        note = self._instruments.forbid_persistence()
        notes = (*side.ready.notes, *((note,) if note else ()))
        calls = self._calls_on(side, layout, len(command.slots))
        match command.how:
            case protocol.How.SINGLE:
                return self._single(command, side.calls, calls, notes)
            case protocol.How.BURST:
                self._settle(command.cache)
                elapsed_ns = side.calls.burst(calls)
                side.calls.kept = ()
                return protocol.Timed(id=command.id, elapsed_ns=elapsed_ns, notes=notes)
            case protocol.How.CAPTURE:
                return self._capture(command, side.calls, calls, notes)
            case protocol.How.REPLAY:
                if side.calls.captured != len(calls):
                    raise RuntimeError(f"the graph holds {side.calls.captured} calls, {len(calls)} were asked for")
                self._settle(command.cache)
                return protocol.Timed(id=command.id, elapsed_ns=side.calls.replay(), notes=notes)

    def forget(self) -> None:
        """Let go of all baselines and their memory."""
        for side in self._sides.values():
            side.calls.forget()
        self._sides, self._sets = {}, []

    def _single(
        self, command: protocol.TimeBaseline, side: Calls, calls: list[Callable[[], object]], notes: tuple[str, ...]
    ) -> protocol.Timed:
        def before(number: int) -> int:
            if command.cache is CacheState.WARM:
                return self._instruments.touch(self._sets[number])
            return self._instruments.evict()

        record = side.single(calls, before=before, after=lambda number, returned: 0)
        side.rest()  # the judge's own device work that follows is not counted
        return protocol.Timed(
            id=command.id,
            calls=record.calls,
            kernels=record.kernels,
            late=record.late,
            method=record.method,
            reason=record.reason,
            notes=(*notes, *record.notes),
        )

    def _capture(
        self, command: protocol.TimeBaseline, side: Calls, calls: list[Callable[[], object]], notes: tuple[str, ...]
    ) -> protocol.AnyReply:
        try:
            kernels = side.capture(calls)
        except Exception as error:  # the edge to libraries: whatever one raises, it cannot be captured
            self._instruments.synchronise()
            message = f"{command.name} cannot be captured: {type(error).__name__}: {error}"
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=message)
        return protocol.Timed(id=command.id, kernels=kernels, notes=notes)

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

    def _settle(self, cache: CacheState) -> None:
        """Have the copies written, and the cache emptied of them where the run is to be cold."""
        if cache is CacheState.COLD:
            self._instruments.evict()
        self._instruments.synchronise()
