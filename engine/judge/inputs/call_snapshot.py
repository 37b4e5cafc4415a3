"""Snapshot of a call's outputs, compared while the next call writes to the same memory.

Only the judge can write to the copies, and comparing them is the same as comparing at once.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import torch

from engine import protocol
from engine.judge.inputs.cases import PreparedCase
from engine.judge.inputs.copied_arena import CopiedArena
from engine.sandbox.untrusted_files import UntrustedFileError

_MOST_TAKEN = 2  # one of the last call of a case, one of the first call of the next


class CallSnapshot:
    """One call, and the state of its case at that time."""

    def __init__(
        self, command: protocol.TakeSnapshot, prepared: PreparedCase, read: Callable[[], torch.Tensor]
    ) -> None:
        self.prepared = prepared
        self.compare = protocol.Compare(
            id=command.id,
            outputs=command.outputs,
            max_output_bytes=command.max_output_bytes,
            returned=command.returned,
            explain=command.explain,
            hash_outputs=command.hash_outputs,
        )
        copied = CopiedArena(prepared.arena.spec, prepared.arena.read(), prepared.arena.damaged(guard=prepared.poison))
        try:
            copied.returned = read()
        except UntrustedFileError as error:
            copied.returned = error  # reported when the outputs are compared
        self._then = copied, prepared.content, prepared.initial, prepared.poison

    @contextlib.contextmanager
    def restored(self) -> Iterator[None]:
        """Context in which the case has its state of that time; afterwards it has the current one again."""
        prepared = self.prepared
        now = prepared.arena, prepared.content, prepared.initial, prepared.poison
        prepared.arena, prepared.content, prepared.initial, prepared.poison = self._then
        try:
            yield
        finally:
            prepared.arena, prepared.content, prepared.initial, prepared.poison = now


class CallSnapshots:
    """Snapshots still to be compared; beyond the limit the oldest are dropped, for no caller needs them."""

    def __init__(self) -> None:
        self._calls: dict[str, CallSnapshot] = {}

    def keep(self, command: protocol.TakeSnapshot, prepared: PreparedCase, read: Callable[[], torch.Tensor]) -> None:
        """Copy the results of this call; `read` makes a private copy of what the entry returned."""
        self._calls[command.id] = CallSnapshot(command, prepared, read)
        if len(self._calls) > _MOST_TAKEN:
            del self._calls[next(iter(self._calls))]

    def give(self, identifier: str) -> CallSnapshot:
        """The snapshot with this id, removed from the collection.

        Raises:
            RuntimeError: there is none.
        """
        if identifier not in self._calls:
            raise RuntimeError("there is no snapshot of this call to compare")
        return self._calls.pop(identifier)
