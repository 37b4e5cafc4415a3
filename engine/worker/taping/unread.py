"""Fills and moves that no step has read: one that the next covers is no part of the call, however many there are."""

from __future__ import annotations

from engine.protocol.proof.tape import Addressed, Filled, Given, Launched, LookedUp, Moved, Step


class UnreadWrites:
    """The last fill, move or look-up into each storage of a tape, unless a later step may have read it."""

    def __init__(self) -> None:
        self._by_storage: dict[int, Filled | Moved | LookedUp] = {}

    def covered_by(self, step: Step) -> Step | None:
        """The step that this next one makes superfluous, as it writes the same view; None if there is none."""
        match step:
            case Filled() | Moved() | LookedUp():
                for storage in _read_by(step):
                    self._by_storage.pop(storage, None)
                before = self._by_storage.get(step.target.storage)
                self._by_storage[step.target.storage] = step
                return before if before is not None and before.target == step.target else None
            case Given():
                for storage in (step.storage, *step.reads):
                    self._by_storage.pop(storage, None)
            case Addressed() | Launched():  # a launch may read all memory whose addresses it gets
                self._by_storage.clear()
        return None


def _read_by(step: Filled | Moved | LookedUp) -> tuple[int, ...]:
    match step:
        case Filled():
            return ()
        case Moved():
            return (step.source.storage,)
        case LookedUp():
            return (step.source.storage, step.positions.storage)
