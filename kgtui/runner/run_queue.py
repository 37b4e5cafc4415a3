"""Requests that wait for one engine, in the order in which they run.

A save runs before a batch, and stops a running request of a batch, which runs again later.  Requests of one slot
replace each other: only the newest counts.  An error in one request never ends the queue.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.model import Outcome
from engine.model.events import CaseFinished, Event
from kgtui.ports.requests import Audience, RetargetRequest, RunHeader, RunRequest
from kgtui.state.run.suspects import suspects

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kgtui.runner.driver import Request, RunDriver


@dataclass(eq=False)
class Ticket:
    """One request in the queue, from `submit` until it has run or is withdrawn."""

    request: Request
    audience: Audience
    slot: str | None
    place: int
    is_cancelled: bool = False
    withdrawn: asyncio.Event = field(default_factory=asyncio.Event)
    runs_again: bool = False

    @property
    def order(self) -> tuple[int, int]:
        """Sort key; the lowest waiting ticket runs next."""
        return (self.request.priority, self.place)


class RunQueue:
    """`serve` runs requests until it is cancelled; all other methods may be called before and meanwhile."""

    def __init__(self, *, on_trouble: Callable[[str], None]) -> None:
        self._on_trouble = on_trouble
        self._waiting: list[Ticket] = []
        self._running: Ticket | None = None
        self._driver: RunDriver | None = None
        self._submitted = 0
        self._arrived = asyncio.Event()

    @property
    def waits(self) -> bool:
        """Whether a request is queued."""
        return bool(self._waiting)

    @property
    def busy(self) -> bool:
        """Whether a request is running or queued."""
        return self._running is not None or self.waits

    def submit(self, request: Request, audience: Audience, *, slot: str | None = None) -> Ticket:
        """Queue this request; a waiting or running request of the same `slot` is replaced."""
        self._submitted += 1
        ticket = Ticket(request=request, audience=audience, slot=slot, place=self._submitted)
        if slot is not None:
            for other in self._tickets():
                if other.slot == slot:
                    self.drop(other)
        running = self._running
        if running is not None and running.request.priority > request.priority and not running.is_cancelled:
            running.runs_again = True
            self._cancel(running)
        self._waiting.append(ticket)
        self._arrived.set()
        return ticket

    def drop(self, ticket: Ticket) -> None:
        """Withdraw a waiting request, or stop a running one; no effect on a finished one."""
        if ticket in self._waiting:
            self._waiting.remove(ticket)
            ticket.withdrawn.set()
        elif ticket is self._running:
            ticket.runs_again = False
            self._cancel(ticket)

    def cancel(self) -> bool:
        """Drop everything; False if there is nothing."""
        was_busy = self.busy
        for ticket in self._tickets():
            self.drop(ticket)
        return was_busy

    async def answer(self, driver: RunDriver) -> None:
        """Answer the next request from the store if possible, which needs no engine."""
        ticket = min(self._waiting, key=lambda one: one.order, default=None)
        if ticket is None or isinstance(ticket.request, RetargetRequest):
            return
        if (answer := await driver.stored(ticket.request)) is not None and ticket in self._waiting:
            for update in answer:
                await _deliver(ticket, update)
            self.drop(ticket)

    async def serve(self, driver: RunDriver) -> None:
        """Run requests as they arrive, until cancelled."""
        while True:
            while not self._waiting:
                self._arrived.clear()
                await self._arrived.wait()
            ticket = min(self._waiting, key=lambda one: one.order)
            self._waiting.remove(ticket)
            self._running, self._driver = ticket, driver
            try:
                await _carry_out(driver, ticket)
            except Exception as error:  # boundary of one request: the next one must still run
                self._on_trouble(f"internal error: {type(error).__name__}: {error}; r runs it again")
            finally:
                self._running = None
            if ticket.runs_again:
                ticket.runs_again = False
                ticket.is_cancelled = False
                self._waiting.append(ticket)

    def _cancel(self, running: Ticket) -> None:
        running.is_cancelled = True
        if self._driver is not None:
            self._driver.cancel()

    def _tickets(self) -> tuple[Ticket, ...]:
        return (*self._waiting, *((self._running,) if self._running is not None else ()))


async def _carry_out(driver: RunDriver, ticket: Ticket) -> None:
    async with contextlib.aclosing(driver.run(ticket.request)) as updates:
        async for update in updates:
            await _deliver(ticket, update)


async def _deliver(ticket: Ticket, update: RunHeader | Sequence[Event]) -> None:
    if isinstance(update, RunHeader):
        ticket.audience.run_began(update)
        return
    if isinstance(ticket.request, RunRequest):
        await look_ahead(update, ticket.request.content)
    ticket.audience.on_events(update)


async def look_ahead(events: Sequence[Event], source: bytes) -> None:
    """Find the lines of failed cases and cache them, since the screen would wait for that on a long text."""
    results = [event.result for event in events if isinstance(event, CaseFinished)]
    if failed := [result for result in results if result.outcome is not Outcome.PASS]:
        await asyncio.to_thread(lambda: [suspects(result, source) for result in failed])
