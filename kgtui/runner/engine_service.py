"""The engine of one application behind its loop: started after the first paint, fed with orders, stopped.

Orders that come before the engine is there wait for it; only the newest counts.  It draws nothing:
what happens goes to the audience.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from engine.errors import KgtuiError
from kgtui.history.run_history import RunHistory
from kgtui.ports.protocols import Audience, GridOrder, Judging, Order, PortOrder
from kgtui.runner.loop import Loop


class EngineService:
    """Judges for one application, from `serve` until `aclose`."""

    def __init__(self, *, past: RunHistory, audience: Audience, say: Callable[[str], None]) -> None:
        self._past = past
        self._audience = audience
        self._say = say
        self._judging: Judging | None = None
        self._loop: Loop | None = None
        self._waiting: Order | PortOrder | GridOrder | None = None

    @property
    def waits_for_engine(self) -> bool:
        """Whether an order is there and the engine is not."""
        return self._loop is None and self._waiting is not None

    @property
    def busy(self) -> bool:
        """Whether a run goes on, or waits for another one."""
        return self._loop is not None and self._loop.busy

    async def serve(self, judging: Judging) -> None:
        """Start the engine, then judge for ever; why it cannot start is said.

        An order that the store answers does not wait for the engine.
        """
        self._judging = judging
        loop = Loop(judging, audience=self._audience, clock=time.monotonic, recording=self._past.recording)
        order = self._waiting
        if isinstance(order, Order) and await loop.answer(order) and self._waiting is order:
            self._waiting = None
        try:
            await judging.start()
        except KgtuiError as error:
            self._say(f"nothing can be judged: {error}")
            return
        self._loop = loop
        if self._waiting is not None:
            self._loop.submit(self._waiting)
        await self._loop.serve()

    def submit(self, order: Order | PortOrder | GridOrder) -> None:
        """Judge this next, or compile it for other targets, as soon as the engine is there."""
        if self._loop is None:
            self._waiting = order
        else:
            self._loop.submit(order)

    def cancel(self) -> bool:
        """Stop the run that goes on and forget the one that waits; False when there is neither."""
        if self._loop is not None:
            return self._loop.cancel()
        waiting, self._waiting = self._waiting, None
        if isinstance(waiting, GridOrder):
            waiting.ended()
        return waiting is not None

    def drop(self, grid: GridOrder) -> None:
        """Judge no more of this one; whatever else was asked for stays."""
        if self._loop is not None:
            self._loop.drop(grid)
        elif self._waiting is grid:
            self._waiting = None

    async def aclose(self) -> None:
        """Stop every child process."""
        if self._judging is not None:
            await self._judging.aclose()
