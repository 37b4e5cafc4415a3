"""What a watched call handed over, kept to be looked at again: a while later, or after other calls.

What shares memory with the arguments is theirs, and holds other content in the next call: it is kept as it was
when it was last looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from engine import wire
from engine.clock.unheard import Base, unheard
from engine.worker.memory import CallMemory, is_plain_tensor, values_of


@dataclass(kw_only=True)
class _Watched:
    """A call, what it handed over, and where the memory of its arguments begins."""

    call: wire.Call
    values: tuple[object, ...]
    places: frozenset[int]


class Recalls:
    """Leaves for the judge what calls return; of those that are kept, again and again."""

    def __init__(self, memory: CallMemory) -> None:
        self._memory = memory
        self._last: _Watched | None = None
        self._aside: _Watched | None = None

    def hand_back(
        self, command: wire.Call, arguments: Sequence[object], returned: object
    ) -> tuple[wire.ReturnedSpec, ...]:
        """Leave what the entry returned, and what of the arguments is watched."""
        if command.watch is None:
            return self._leave(command, returned)
        watched = _Watched(
            call=command,
            values=(*values_of(returned), *(arguments[position] for position in command.watch.positions)),
            places=frozenset(_place(value) for value in arguments if isinstance(value, torch.Tensor)),
        )
        if command.watch.aside:
            self._aside = watched
        else:
            self._last = watched
        return self._leave(command, watched.values)

    def again(self, *, aside: bool = False) -> tuple[wire.ReturnedSpec, ...]:
        """Leave the same once more, as it is now.

        Raises:
            RuntimeError: no call was watched, or none is kept aside.
        """
        watched = self._aside if aside else self._last
        if watched is None:
            raise RuntimeError("a recall of a call that was not watched")
        specs = self._leave(watched.call, watched.values)
        with unheard():
            watched.values = tuple(_apart(value, watched.places) for value in watched.values)
        return specs

    def _leave(self, command: wire.Call, returned: object) -> tuple[wire.ReturnedSpec, ...]:
        return self._memory.leave(command.arena, returned, command.outputs, command.max_output_bytes)


def _apart(value: object, places: frozenset[int]) -> object:
    if not isinstance(value, torch.Tensor) or not is_plain_tensor(value) or _place(value) not in places:
        return value
    return Base.clone(value)


def _place(value: torch.Tensor) -> int:
    """Where the memory that a tensor views begins."""
    return int(Base.untyped_storage(value).data_ptr())
