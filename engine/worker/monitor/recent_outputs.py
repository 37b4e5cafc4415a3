"""Outputs of the last watched call, kept for a later comparison: some time later, or after other calls.

Outputs that share memory with the arguments have other content in the next call: they are kept as they were when they
were last read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from engine import protocol
from engine.clock.returned import is_plain_tensor, values_of
from engine.clock.safe_torch import Base, without_modes
from engine.protocol import tensors
from engine.worker.memory import CallMemory

if TYPE_CHECKING:
    from engine.model import Value


class OutputRepeater:
    """Writes the outputs of calls for the judge; those of the last watched call repeatedly."""

    def __init__(self, memory: CallMemory) -> None:
        self._memory = memory
        self._call: protocol.Call | None = None
        self._values: tuple[object, ...] = ()
        self._places: frozenset[int] = frozenset()

    def write_outputs(
        self, command: protocol.Call, arguments: Sequence[Value], returned: object
    ) -> tuple[protocol.ReturnedSpec, ...]:
        """Write the outputs of the entry, and the watched tensors among the arguments."""
        if command.watch is None:
            return self._leave(command, returned)
        self._call = command
        watched = tuple(
            tensor for position in command.watch.positions for tensor in tensors.tensors_in(arguments[position])
        )
        self._values = (*values_of(returned), *watched) if command.watch.returns else watched
        self._places = frozenset(_place(tensor) for value in arguments for tensor in tensors.tensors_in(value))
        return self._leave(command, self._values)

    def again(self) -> tuple[protocol.ReturnedSpec, ...]:
        """Write the current content of the same outputs again.

        Raises:
            RuntimeError: no call was watched.
        """
        if self._call is None:
            raise RuntimeError("no call was watched, so no outputs can be written again")
        specs = self._leave(self._call, self._values)
        with without_modes():
            self._values = tuple(self._apart(value) for value in self._values)
        return specs

    def _apart(self, value: object) -> object:
        if not isinstance(value, torch.Tensor) or not is_plain_tensor(value) or _place(value) not in self._places:
            return value
        return Base.clone(value)

    def _leave(self, command: protocol.Call, returned: object) -> tuple[protocol.ReturnedSpec, ...]:
        return self._memory.leave(command.arena, returned, command.outputs, command.max_output_bytes)


def _place(value: torch.Tensor) -> int:
    """Address of the first byte of the memory that a tensor views."""
    return int(Base.untyped_storage(value).data_ptr())
