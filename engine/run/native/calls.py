"""A call of the candidate that may ask for an extension: it is built, and another worker makes the call again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from engine import protocol
from engine.processes.candidate_session import CandidateSession
from engine.profile import Profile
from engine.verdict.decide import Stop

Build: TypeAlias = Callable[[protocol.ExtensionRequest], Awaitable[Stop | None]]
"""Has an extension built; why that stops the run, or None where it is built."""


async def asked(
    session: CandidateSession, command: protocol.Call, *, deadline_s: float, build: Build | None, profile: Profile
) -> protocol.AnyReply | Stop:
    """The worker's reply to a call, or why an extension that it asked for was not built.

    Raises:
        EngineError: the worker did not answer properly, or could not be loaded again.
    """
    while True:
        with profile.span("call"):
            called = await session.ask(command, deadline_s=deadline_s)
        if not isinstance(called, protocol.Failed) or called.extension is None or build is None:
            return called
        stop = await build(called.extension)
        if stop is not None:
            return stop
        await session.clear()
        await session.load()
