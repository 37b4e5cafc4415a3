"""Times of the reference itself, taken in its own process by the clock that times candidates.

A few contents are drawn here; each call of a run has a copy of one in separate memory, so that a run accesses as much
memory as one of the candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch

from engine import protocol
from engine.clock.calls import Calls
from engine.clock.instruments import Instruments
from engine.clock.timed_run import timed_run
from engine.protocol import tensors
from engine.reference.harness import CanBeTimed

if TYPE_CHECKING:
    from engine.model import Arguments


class ReferenceTimes:
    """The reference of one case, called once on the first of these contents, when libraries load their kernels."""

    def __init__(self, task: CanBeTimed, contents: Sequence[Arguments], instruments: Instruments) -> None:
        self._task = task
        self._instruments = instruments
        self._calls = Calls(instruments)
        laid_out = [tensors.lay_out(arguments) for arguments in contents]
        self._specs = laid_out[0][0]
        self._images = [storages for _, storages in laid_out]
        # One set of copies for each call of a run. Never reallocated: CUDA graphs hold their addresses.
        self._sets: list[list[torch.Tensor]] = []
        self._bound: list[Callable[[], object]] = []
        self._write((0,))
        with torch.no_grad():
            self._bound[0]()
        instruments.synchronise()

    def time(self, command: protocol.TimeBaseline) -> protocol.Timed | protocol.Failed:
        """Call the reference as many times as there are slots."""
        self._write(command.slots)
        count = len(command.slots)
        with torch.no_grad():
            return timed_run(command, self._calls, self._bound[:count], self._sets[:count], self._instruments)

    def forget(self) -> None:
        """Free its graph and all memory."""
        self._calls.forget()
        self._images, self._sets, self._bound = [], [], []

    def _write(self, slots: Sequence[int]) -> None:
        """Write the contents of these slots to the first copies."""
        while len(self._sets) < len(slots):
            copies = [torch.empty_like(storage) for storage in self._images[0]]
            self._copy(0, copies)  # constructing a module may read its arguments
            arguments = tuple(tensors.value_of(spec, copies) for spec in self._specs)
            self._sets.append(copies)
            self._bound.append(self._task.bound(arguments))
        for slot, copies in zip(slots, self._sets, strict=False):
            self._copy(slot, copies)

    def _copy(self, slot: int, copies: Sequence[torch.Tensor]) -> None:
        for copy, storage in zip(copies, self._images[slot % len(self._images)], strict=True):
            copy.copy_(storage)
