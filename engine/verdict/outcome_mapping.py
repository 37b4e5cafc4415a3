"""Maps a child's reply, or its exit, to an outcome.  Decides by type and kind, never by words."""

from __future__ import annotations

from engine import protocol
from engine.errors import ChildDiedError, DeadlineError, EngineError, RunMemoryError, WireError
from engine.model import Location, Outcome
from engine.verdict.decide import Stop

_OF_KIND = {
    protocol.FailureKind.RAISED: Outcome.RUNTIME_ERROR,
    protocol.FailureKind.EXITED: Outcome.RUNTIME_ERROR,
    protocol.FailureKind.NO_ENTRY: Outcome.COMPILE_ERROR,
    protocol.FailureKind.OUT_OF_MEMORY: Outcome.OUT_OF_MEMORY,
    protocol.FailureKind.OUT_OF_BOUNDS: Outcome.RUNTIME_ERROR,
    protocol.FailureKind.COMPILE: Outcome.COMPILE_ERROR,
    protocol.FailureKind.TAMPERED: Outcome.TAMPERED,
    protocol.FailureKind.UNSUPPORTED: Outcome.UNSUPPORTED,
    protocol.FailureKind.EXTENSION: Outcome.UNSUPPORTED,
    # A worker has no access to the reference and never gets such a command, so it cannot honestly report this failure.
    protocol.FailureKind.PROBLEM: Outcome.TAMPERED,
    protocol.FailureKind.ENGINE: Outcome.TAMPERED,
}


def of_failure(failed: protocol.Failed) -> Stop:
    """The end of a run by a Failed reply."""
    location = Location(line=failed.line) if failed.line is not None else None
    return Stop(outcome=_OF_KIND[failed.kind], message=failed.message, location=location)


def of_worker_error(error: EngineError, doing: str) -> Stop:
    """The end of a run in which the candidate's own process did not reply properly."""
    match error:
        case WireError():
            return Stop(
                outcome=Outcome.TAMPERED, message=f"{doing}, the candidate tampered with the result channel: {error}"
            )
        case DeadlineError():
            guess = "deadlock?" if error.slept else "infinite loop?"
            return Stop(outcome=Outcome.TIMEOUT, message=f"{doing}, {error} ({guess})")
        case RunMemoryError():
            return Stop(outcome=Outcome.OUT_OF_MEMORY, message=f"{doing}, {error}")
        case ChildDiedError():
            return Stop(outcome=Outcome.CRASHED, message=f"{doing}, {error}")
        case _:
            return Stop(outcome=Outcome.ENGINE_ERROR, message=f"{doing}: {error}")


def of_trusted(reply: protocol.AnyReply | EngineError, doing: str) -> Stop:
    """The end of a run in which the judge failed: not the candidate's fault, unless it truncated shared memory."""
    if isinstance(reply, protocol.Failed):
        if reply.kind is protocol.FailureKind.TAMPERED:
            return Stop(outcome=Outcome.TAMPERED, message=f"{doing}: {reply.message}")
        if reply.kind is protocol.FailureKind.PROBLEM:
            return Stop(outcome=Outcome.PROBLEM_ERROR, message=reply.message)
        return Stop(outcome=Outcome.ENGINE_ERROR, message=f"{doing}: {reply.message}")
    return Stop(outcome=Outcome.ENGINE_ERROR, message=f"{doing}: {reply}")
