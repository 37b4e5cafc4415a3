"""The run of a file that is not a candidate, which needs no process."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence

from engine.model import Candidate, Launch, Outcome, Plan, Stage
from engine.model.commands import CancelRun
from engine.model.events import Event, RunFinished, RunStarted, StageFinished, StageStarted
from engine.static.source import SourceError, is_quickly_parsed, read_source
from engine.verdict.decide import Facts, Stop, decide
from kgtui.ports.requests import RunRequest


class Refusing:
    """The engine of one such run: it yields events that are already known."""

    def __init__(self, events: Sequence[Event], *, device_name: str) -> None:
        self.device_name = device_name
        self._events = events

    async def start(self) -> None:
        """Start nothing."""

    async def aclose(self) -> None:
        """Stop nothing."""

    def send(self, command: CancelRun) -> None:
        """No operation: the run ends before it can be cancelled."""

    async def evaluate(
        self, candidate: Candidate, plan: Plan, *, run_id: str | None = None
    ) -> AsyncGenerator[Event, None]:
        """Yields the known events."""
        for event in self._events:
            yield event

    def compare(
        self, candidate: Candidate, other: Candidate, plan: Plan, *, run_id: str | None = None
    ) -> AsyncGenerator[Event, None]:
        """Yields the known events."""
        return self.evaluate(candidate, plan)

    async def retarget(
        self,
        candidate: Candidate,
        *,
        entry: str,
        launches: Sequence[Launch],
        targets: Sequence[str],
        after_s: float = 0.0,
        run_id: str | None = None,
    ) -> AsyncGenerator[Event, None]:
        """No events: nothing was launched."""
        nothing: tuple[Event, ...] = ()
        for event in nothing:
            yield event


def refusal_of(request: RunRequest, *, device_name: str) -> tuple[Event, ...]:
    """The events of a file that does not parse or has no entry; empty for a candidate."""
    began_s = time.monotonic()
    candidate = request.candidate
    if not is_quickly_parsed(candidate.source):
        return ()  # the engine reads it in a separate process
    try:
        read_source(candidate, request.problem.entry)
    except SourceError as error:
        took_s, plan = time.monotonic() - began_s, request.plan(())
        stop = Stop(outcome=Outcome.COMPILE_ERROR, message=str(error), location=error.location)
        started = RunStarted(
            at_s=0.0,
            problem=request.problem.name,
            digest=candidate.digest,
            device=plan.device,
            device_name=device_name,
            target=plan.target,
            cases=len(plan.cases),
            policy=plan.policy,
        )
        parsed = StageFinished(
            at_s=took_s,
            stage=Stage.PARSE,
            outcome=stop.outcome,
            elapsed_s=took_s,
            message=stop.message,
            location=stop.location,
        )
        verdict = decide(Facts(planned=len(plan.cases), policy=plan.policy, stop=stop))
        begun = StageStarted(at_s=0.0, stage=Stage.PARSE)
        return (started, begun, parsed, RunFinished(at_s=took_s, verdict=verdict))
    return ()
