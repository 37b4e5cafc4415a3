"""Exchanges with judge and workers for a benchmark, timed by the parent's clock, with every failure distinguished.

An error of a worker ends the case with the candidate's outcome; an error of the judge ends it with ENGINE_ERROR.
Nothing here repeats a request, and no failure becomes a default.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from engine import protocol
from engine.errors import EngineError
from engine.model import Outcome
from engine.verdict import outcome_mapping
from engine.verdict.decide import Stop

R = TypeVar("R", bound=protocol.Reply)


class Side(Protocol):
    """A loaded worker; `engine.processes.candidate_session.CandidateSession` is one."""

    async def ask(self, command: protocol.AnyCommand, *, deadline_s: float) -> protocol.AnyReply:
        """The worker's reply.

        Raises:
            EngineError: it did not reply properly.
        """
        ...

    async def clear(self) -> None:
        """Kill the worker.  Safe to call twice."""
        ...


class CaseEnded(Exception):  # noqa: N818  # a signal of this package, never an error that a user sees
    """Timing of the case ended early; `stop` has outcome and reason."""

    def __init__(self, stop: Stop) -> None:
        super().__init__(stop.message)
        self.stop = stop


class FailedHere(CaseEnded):
    """The child could not carry out this command; it still runs for others."""

    def __init__(self, stop: Stop, failed: protocol.Failed) -> None:
        super().__init__(stop)
        self.failed = failed


class Exchange:
    """Judge and clock of one benchmark; `on_work` gets the purpose, begin and end of each command."""

    def __init__(
        self,
        *,
        ask_judge: Callable[[protocol.AnyCommand], Awaitable[protocol.AnyReply]],
        clock: Callable[[], float],
        on_work: Callable[[str, float, float], None],
    ) -> None:
        self._ask_judge = ask_judge
        self._on_work = on_work
        self.clock = clock

    async def ask_judge(self, command: protocol.AnyCommand, wanted: type[R], doing: str) -> tuple[R, float]:
        """The judge's reply, and its duration in seconds.

        Raises:
            FailedHere: it could not carry out the command.
            CaseEnded: it did not reply properly.
        """
        began = self.clock()
        try:
            reply = await self._ask_judge(command)
        except EngineError as error:
            raise CaseEnded(outcome_mapping.of_trusted(error, doing)) from error
        took_s = self._took(doing, began)
        if isinstance(reply, protocol.Failed):
            raise FailedHere(_of_judge(reply, doing), reply)
        if not isinstance(reply, wanted):
            message = f"{doing}: the judge answered with {type(reply).__name__}, expected {wanted.__name__}"
            raise CaseEnded(Stop(outcome=Outcome.ENGINE_ERROR, message=message))
        return reply, took_s

    async def ask_worker(
        self, side: Side, command: protocol.AnyCommand, wanted: type[R], doing: str, *, deadline_s: float
    ) -> tuple[R, float]:
        """The worker's reply, and its duration in seconds.  A worker that does not reply properly is killed.

        Raises:
            FailedHere: it could not carry out the command.
            CaseEnded: it did not reply properly.
        """
        began = self.clock()
        try:
            reply = await side.ask(command, deadline_s=deadline_s)
        except EngineError as error:
            await side.clear()
            raise CaseEnded(outcome_mapping.of_worker_error(error, doing)) from error
        took_s = self._took(doing, began)
        if isinstance(reply, protocol.Failed):
            raise FailedHere(outcome_mapping.of_failure(reply), reply)
        if not isinstance(reply, wanted):
            await side.clear()
            message = f"{doing}, the worker answered with {type(reply).__name__}, expected {wanted.__name__}"
            raise CaseEnded(Stop(outcome=Outcome.TAMPERED, message=message))
        return reply, took_s

    async def ask_judge_quietly(self, command: protocol.AnyCommand) -> None:
        """Have the judge carry out a command whose reply has no content."""
        await self._ask_judge(command)

    def _took(self, doing: str, began: float) -> float:
        now = self.clock()
        self._on_work(doing, began, now)
        return now - began


def _of_judge(failed: protocol.Failed, doing: str) -> Stop:
    """As `of_trusted`, except that a missing capability or lack of memory has a separate outcome."""
    if failed.kind in (protocol.FailureKind.UNSUPPORTED, protocol.FailureKind.OUT_OF_MEMORY):
        return Stop(outcome=Outcome.UNSUPPORTED, message=f"{doing}: {failed.message}")
    return outcome_mapping.of_trusted(failed, doing)
