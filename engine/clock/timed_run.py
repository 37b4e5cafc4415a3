"""One run of a baseline by the rules of the clock: the judge's own baseline, or a foreign reference in its process.

Each call has a separate set of storages, rewritten before the run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from engine import protocol
from engine.clock.calls import Calls
from engine.clock.instruments import Instruments
from engine.model import CacheState

Call = Callable[[], object]


def timed_run(
    command: protocol.TimeBaseline,
    side: Calls,
    calls: Sequence[Call],
    sets: Sequence[list[torch.Tensor]],
    instruments: Instruments,
    *,
    notes: tuple[str, ...] = (),
) -> protocol.Timed | protocol.Failed:
    """The times of these calls, each on the set of its number; Failed for calls that cannot be captured."""
    note = instruments.forbid_persistence()
    notes = (*notes, *((note,) if note else ()))
    match command.mode:
        case protocol.CallMode.SINGLE:
            return _single(command, side, calls, sets, instruments, notes)
        case protocol.CallMode.BURST:
            _settle(command, instruments)
            elapsed_ns = side.burst(calls)
            side.kept = ()
            return protocol.Timed(id=command.id, elapsed_ns=elapsed_ns, notes=notes)
        case protocol.CallMode.CAPTURE:
            return _capture(command, side, calls, instruments, notes)
        case protocol.CallMode.REPLAY:
            if side.captured != len(calls):
                raise RuntimeError(f"the graph holds {side.captured} calls, {len(calls)} were requested")
            _settle(command, instruments)
            return protocol.Timed(id=command.id, elapsed_ns=side.replay(), notes=notes)


def _single(
    command: protocol.TimeBaseline,
    side: Calls,
    calls: Sequence[Call],
    sets: Sequence[list[torch.Tensor]],
    instruments: Instruments,
    notes: tuple[str, ...],
) -> protocol.Timed:
    def before(number: int) -> int:
        return instruments.touch(sets[number]) if command.cache is CacheState.WARM else instruments.evict()

    record = side.single(calls, before=before, after=lambda number, returned: 0)
    side.rest()  # later device work of this process is not counted
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
    command: protocol.TimeBaseline,
    side: Calls,
    calls: Sequence[Call],
    instruments: Instruments,
    notes: tuple[str, ...],
) -> protocol.Timed | protocol.Failed:
    try:
        kernels = side.capture(calls)
    except Exception as error:  # a library may raise anything; any error means that it cannot be captured
        instruments.synchronise()
        message = f"{command.name} cannot be captured: {type(error).__name__}: {error}"
        return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=message)
    return protocol.Timed(id=command.id, kernels=kernels, notes=notes)


def _settle(command: protocol.TimeBaseline, instruments: Instruments) -> None:
    """Wait until the sets are written, and empty the cache for a cold run."""
    if command.cache is CacheState.COLD:
        instruments.evict()
    instruments.synchronise()
