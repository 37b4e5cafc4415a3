"""Verification of an agent's saves while it works: the newest save replaces the one that is running.

Each run is stored as one of the agent's request, so that its engine time counts there, also where it was cancelled.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from kgtui.generation.events import CandidateSaved, RunAdvanced, SaveVerified
from kgtui.generation.verifying import RunWithdrawnError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.model import Problem
    from engine.model.events import Event
    from kgtui.generation.events import GenerationEvent, Spot
    from kgtui.generation.verifying import Verifier


class SaveVerifier:
    """Verifies the saves of one answer; call it with each, and close it when the answer is complete."""

    def __init__(
        self,
        problem: Problem,
        spot: Spot,
        *,
        verifier: Verifier,
        add_save: Callable[[int, int], None],
        emit: Callable[[GenerationEvent], None],
    ) -> None:
        self._problem = problem
        self._spot = spot
        self._verifier = verifier
        self._add_save = add_save
        self._emit = emit
        self._saves = 0
        self._running: asyncio.Task[None] | None = None
        self._storing: dict[int, asyncio.Task[None]] = {}

    def __call__(self, generation: int, source: bytes) -> None:
        """Verify this save instead of the previous one."""
        self._saves += 1
        self._emit(CandidateSaved(spot=self._spot, save=self._saves, source=source))
        if self._running is not None:
            self._running.cancel()
        self._running = asyncio.create_task(self._verify(generation, source, self._saves, before=self._running))

    async def aclose(self) -> None:
        """Stop the run of the last save: the answer is verified as every other one.

        Raises:
            StoreError: a run could not be stored as one of this request.
        """
        if self._running is not None:
            self._running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._running
        await asyncio.gather(*self._storing.values())

    async def _verify(self, generation: int, source: bytes, save: int, *, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait({before})

        def watch(number: int | None, events: Sequence[Event]) -> None:
            if number is not None and number not in self._storing:
                storing = asyncio.to_thread(self._add_save, generation, number)
                self._storing[number] = asyncio.create_task(storing)
            self._emit(RunAdvanced(spot=self._spot, number=number, events=tuple(events)))

        name = f"{self._spot.model} {self._spot.place} save {save}"
        with contextlib.suppress(RunWithdrawnError):
            run = await self._verifier.verify(self._problem, source, name=name, watch=watch)
            verdict = run.final
            self._emit(
                SaveVerified(
                    spot=self._spot,
                    save=save,
                    run=run.number,
                    outcome=verdict.outcome,
                    flagged=verdict.flagged,
                    sentence=verdict.sentence,
                )
            )
