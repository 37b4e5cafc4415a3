"""Replies of judge and worker in a run whose every case is right."""

from __future__ import annotations

from engine import protocol
from engine.model import OutputReport


def reply_to(command: protocol.AnyCommand, report: OutputReport) -> protocol.AnyReply:
    """The reply where each comparison gives this report of the one output."""
    match command:
        case protocol.Load():
            return protocol.Loaded(id=command.id)
        case protocol.Prepare():
            arena = protocol.ArenaSpec(path=command.arena_path or "", storages=(), bytes=256)
            return protocol.Prepared(id=command.id, arguments=(), arena=arena, elapsed_s=0.0)
        case protocol.Call():
            return protocol.Called(id=command.id, returned=(), launches=(), elapsed_s=0.0)
        case protocol.Compare():
            return protocol.Compared(id=command.id, reports=(report,), repeated=None, mutated=None)
        case protocol.Release():
            return protocol.Released(id=command.id, seed=1)
        case protocol.Observe():
            return protocol.Observed(id=command.id)
        case _:
            return protocol.Done(id=command.id)
