"""The engine of one application behind its queue: started after the first paint, stopped at the end.

Requests that arrive before the engine has started wait in the queue.  It draws nothing: events go to the audience.
Queue and driver are created on first use, so that their modules do not delay the first paint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import KgtuiError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.model.events import Event
    from kgtui.history.run_history import RunHistory
    from kgtui.ports.protocols import EngineRuns
    from kgtui.ports.requests import Audience, RunHeader, RunRequest
    from kgtui.runner.driver import Request
    from kgtui.runner.run_queue import RunQueue, Ticket

_PACE_S = 1 / 5
_WORKBENCH = "workbench"


class EngineService:
    """Runs requests for one application, from `serve` until `aclose`."""

    def __init__(self, *, run_history: RunHistory, audience: Audience, on_trouble: Callable[[str], None]) -> None:
        self._run_history = run_history
        self._audience = audience
        self._on_trouble = on_trouble
        self._engine: EngineRuns | None = None
        self._serves = False
        self._made_queue: RunQueue | None = None
        self._looked_up: tuple[RunRequest, RunHeader, Sequence[Event]] | None = None

    @property
    def waits_for_engine(self) -> bool:
        """Whether a request waits and the engine has not started."""
        return not self._serves and self._made_queue is not None and self._queue.waits

    @property
    def busy(self) -> bool:
        """Whether a run is in progress, or one is queued."""
        return self._serves and self._queue.busy

    async def look_up(self, request: RunRequest) -> None:
        """Read the stored run that answers this request, so that `submit` delivers it at once."""
        from kgtui.runner.run_queue import look_ahead
        from kgtui.runner.stored_run import stored_run

        found = await stored_run(
            request, recording=self._run_history.recording, on_trouble=self._audience.trouble_arose
        )
        if found is not None:
            header, events = found
            await look_ahead(events, request.content)
            self._looked_up = request, header, events

    async def serve(self, engine: EngineRuns) -> None:
        """Start the engine, then run requests until cancelled; reports if it cannot start.

        A request that the store answers does not wait for the engine.
        """
        from kgtui.runner.driver import RunDriver

        self._engine, self._looked_up = engine, None
        driver = RunDriver(
            engine, recording=self._run_history.recording, on_trouble=self._audience.trouble_arose, pace_s=_PACE_S
        )
        await self._queue.answer(driver)
        try:
            await engine.start()
        except KgtuiError as error:
            self._on_trouble(f"nothing can run: {error}")
            return
        self._serves = True
        await self._queue.serve(driver)

    def submit(self, request: Request) -> None:
        """Run this in place of the workbench's earlier request, unless a stored run was found, which is delivered."""
        looked_up, self._looked_up = self._looked_up, None
        if looked_up is not None and looked_up[0] == request:
            _, header, events = looked_up
            self._audience.run_began(header)
            self._audience.on_events(events)
            return
        self._queue.submit(request, self._audience, slot=_WORKBENCH)

    def enqueue(self, request: Request, audience: Audience) -> Ticket:
        """Queue this request in addition to all others."""
        return self._queue.submit(request, audience)

    def drop(self, ticket: Ticket) -> None:
        """Withdraw the request, or stop its run."""
        self._queue.drop(ticket)

    def cancel(self) -> bool:
        """Stop the run in progress and drop all queued ones; False if there is none."""
        return self._made_queue is not None and self._queue.cancel()

    async def aclose(self) -> None:
        """Stop every child process."""
        if self._engine is not None:
            await self._engine.aclose()

    @property
    def _queue(self) -> RunQueue:
        if self._made_queue is None:
            from kgtui.runner.run_queue import RunQueue

            self._made_queue = RunQueue(on_trouble=self._audience.trouble_arose)
        return self._made_queue
