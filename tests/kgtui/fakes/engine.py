"""An engine that replays event streams and starts no process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field

from engine.model import (
    Candidate,
    Launch,
    Outcome,
    Plan,
    Verdict,
)
from engine.model.commands import CancelRun
from engine.model.events import (
    Event,
    OtherLoaded,
    PortingFinished,
    RunFinished,
)
from engine.run.cancelling import RunsInProgress
from tests.kgtui.fakes.streams import Script, all_pass, ported


@dataclass
class FakeEngine:
    """Replays a script; one whose stream has no verdict waits until it is cancelled."""

    script: Script = all_pass
    device_name: str = "Triton interpreter"
    evaluated: list[tuple[Candidate, Plan]] = field(default_factory=list)
    compared: list[tuple[Candidate, Candidate]] = field(default_factory=list)
    cancelled: int = 0
    ported: list[tuple[Candidate, tuple[str, ...]]] = field(default_factory=list)
    ports_only: int | None = None
    starts: bool = True
    started: bool = False
    closed: bool = False
    runs: RunsInProgress = field(default_factory=RunsInProgress)

    async def start(self) -> None:
        if not self.starts:
            await asyncio.Event().wait()
        self.started = True

    async def aclose(self) -> None:
        self.closed = True

    def send(self, command: CancelRun) -> None:
        self.runs.cancel(command)

    async def evaluate(
        self, candidate: Candidate, plan: Plan, *, run_id: str | None = None
    ) -> AsyncGenerator[Event, None]:
        self.evaluated.append((candidate, plan))
        finished = False
        with self.runs.open(run_id) as cancelled:
            for event in self.script(candidate, plan):
                finished = finished or isinstance(event, RunFinished)
                yield event
            if finished or run_id is None:
                return
            await cancelled.wait()
        self.cancelled += 1
        verdict = Verdict(outcome=Outcome.CANCELLED, sentence="cancelled", passed=0, total=len(plan.cases))
        yield RunFinished(at_s=0.2, verdict=verdict)

    async def compare(
        self, candidate: Candidate, other: Candidate, plan: Plan, *, run_id: str | None = None
    ) -> AsyncGenerator[Event, None]:
        self.compared.append((candidate, other))
        async for event in self.evaluate(candidate, plan, run_id=run_id):
            if isinstance(event, RunFinished):
                yield OtherLoaded(at_s=event.at_s, digest=other.digest)
            yield event

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
        self.ported.append((candidate, tuple(targets)))
        events = ported(launches, targets, after_s)
        with self.runs.open(run_id) as cancelled:
            for event in events[: self.ports_only]:
                yield event
            if self.ports_only is None or run_id is None:
                return
            await cancelled.wait()
        self.cancelled += 1
        yield PortingFinished(at_s=after_s + 2, outcome=Outcome.CANCELLED, message="cancelled")
