"""A run queue on the doubles of engine and store, and what its listener received."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from engine.model import Outcome
from engine.model.events import CaseFinished, Event, PortingFinished, RunFinished
from kgtui.ports.requests import Priority, RunHeader, RunRequest
from kgtui.runner.driver import Request, RunDriver
from kgtui.runner.run_queue import RunQueue, Ticket
from tests.guards import PATIENCE_S


@dataclass
class Listener:
    """Receives runs, and counts what the store did not hold at that moment."""

    recording: Any = None
    headers: list[RunHeader] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    unrecorded: int = 0
    finished: asyncio.Event = field(default_factory=asyncio.Event)
    has_begun: asyncio.Event = field(default_factory=asyncio.Event)
    ported: asyncio.Event = field(default_factory=asyncio.Event)

    def run_began(self, header: RunHeader) -> None:
        self.headers.append(header)

    def on_events(self, events: Sequence[Event]) -> None:
        number = self.headers[-1].number
        if self.recording is not None and number is not None and not self.headers[-1].cached:
            self.unrecorded += sum(event not in self.recording.events_by_run[number] for event in events)
        self.events += events
        if any(isinstance(event, CaseFinished) for event in events):
            self.has_begun.set()
        if verdicts := [event.verdict.outcome for event in events if isinstance(event, RunFinished)]:
            self.outcomes += verdicts
            self.finished.set()
        if any(isinstance(event, PortingFinished) for event in events):
            self.ported.set()

    def trouble_arose(self, message: str) -> None:
        self.troubles.append(message)

    async def first_case(self) -> None:
        await asyncio.wait_for(self.has_begun.wait(), PATIENCE_S)

    async def verdict(self) -> Outcome:
        """The next verdict, each once."""
        while not self.outcomes:
            self.finished.clear()
            await asyncio.wait_for(self.finished.wait(), PATIENCE_S)
        return self.outcomes.pop(0)


@dataclass
class Setting:
    """A queue that serves, and everything around it."""

    queue: RunQueue
    driver: RunDriver
    engine: Any
    recording: Any
    listener: Listener
    request: RunRequest

    def submit(self, request: Request, listener: Listener | None = None) -> Ticket:
        slot = str(request.path) if isinstance(request, RunRequest) else str(self.request.path)
        return self.queue.submit(request, listener or self.listener, slot=slot)

    def submit_batch(self, *contents: bytes) -> list[Ticket]:
        batched = replace(self.request, again=True, priority=Priority.BATCH, stops_at_verdict=True)
        return [self.queue.submit(replace(batched, content=content), self.listener) for content in contents]

    async def idle(self) -> None:
        """Until the queue has nothing left to do."""
        while self.queue.busy:
            await asyncio.sleep(0)

    @property
    def sources(self) -> list[bytes]:
        """What the engine has run, in this order."""
        return [candidate.source for candidate, _ in self.engine.evaluated]
