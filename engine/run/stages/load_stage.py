"""The stage that loads the candidate into its worker, again after each missing extension is built."""

from __future__ import annotations

from engine.errors import EngineError
from engine.model import Stage, Stream
from engine.processes.candidate_session import CandidateSession, LoadError
from engine.profile import Profile
from engine.run.event_stream import EventEmitter
from engine.run.native.building import NativeCode
from engine.verdict import outcome_mapping
from engine.verdict.decide import Stop


async def load(
    session: CandidateSession, *, native: NativeCode, emitter: EventEmitter, profile: Profile
) -> Stop | None:
    """Load the candidate and report the stage; None if it is loaded, else the reason for the stop."""
    began = emitter.begin(Stage.LOAD)
    try:
        stop = await _load(session, native, profile)
    except LoadError as error:
        stop = outcome_mapping.of_failure(error.failed)
        emitter.log(Stream.STDERR, error.failed.trace)
    except EngineError as error:
        stop = outcome_mapping.of_worker_error(error, "while loading")
    if stop is None:
        emitter.end(Stage.LOAD, began)
    else:
        emitter.end(Stage.LOAD, began, stop.outcome, stop.message, stop.location)
    return stop


async def _load(session: CandidateSession, native: NativeCode, profile: Profile) -> Stop | None:
    """None if the candidate is loaded, else the reason why an extension that it requests was not built.

    Raises:
        EngineError: as `CandidateSession.load` does.
    """
    while True:
        try:
            with profile.span("load"):
                await session.load()
            return None
        except LoadError as error:
            if error.failed.extension is None:
                raise
            stop = await native.build(error.failed.extension)
            if stop is not None:
                return stop
