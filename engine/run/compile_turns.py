"""The turns of launches that are to be compiled: which compiler takes which launch next."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

from engine.model import Launch


@dataclass(kw_only=True)
class Job:
    """One launch to compile; `done` is set when that has ended, with or without success.

    `launched` is whether it was actually launched, and not only recorded by a dry run; `passed_over` whether it did not
    build then, which is not reported unless it is launched.
    """

    launch: Launch
    specialisation: str
    done: asyncio.Future[None]
    launched: bool
    passed_over: bool = False


@dataclass(frozen=True, kw_only=True, order=True)
class Turn:
    """A place in the queue: ordered by rank, and within one rank by arrival.

    A turn without a job ends the queue.
    """

    rank: int
    arrival: int
    job: Job | None = field(compare=False)


FIRST, REST, END = range(3)


class Turns:
    """The turns that no compiler has taken yet; the last compilers may be kept for those of rank FIRST."""

    def __init__(self, compilers: int) -> None:
        self._turns: list[Turn] = []
        self._compilers = compilers
        self._kept = 0
        self._changed = asyncio.Event()

    def put(self, turn: Turn) -> None:
        """Add a turn."""
        heapq.heappush(self._turns, turn)
        self._wake()

    def keep(self, compilers: int) -> None:
        """From now on keep so many compilers for turns of rank FIRST."""
        self._kept = compilers
        self._wake()

    async def take(self, place: int) -> Turn:
        """The next turn of the compiler with this number, which is taken out."""
        while (turn := self.take_now(place)) is None:
            await self._changed.wait()
        return turn

    def take_now(self, place: int) -> Turn | None:
        """The next turn of the compiler with this number, which is taken out; None if it would have to wait."""
        if not self._turns or (place >= self._compilers - self._kept and self._turns[0].rank != FIRST):
            return None
        turn = heapq.heappop(self._turns)
        self._wake()
        return turn

    async def until_taken(self) -> None:
        """Wait until every turn is taken, or all are dropped."""
        while self._turns:
            await self._changed.wait()

    def take_out(self, unwanted: Callable[[Job], bool]) -> list[Job]:
        """Remove the turns of rank REST with such a job; returns their jobs."""
        removed = [turn for turn in self._turns if turn.rank == REST and turn.job is not None and unwanted(turn.job)]
        self._turns = [turn for turn in self._turns if turn not in removed]
        heapq.heapify(self._turns)
        self._wake()
        return [turn.job for turn in removed if turn.job is not None]

    def drop(self) -> None:
        """Drop all turns."""
        self._turns.clear()
        self._wake()

    def _wake(self) -> None:
        """Have everyone that waits look again."""
        self._changed.set()
        self._changed = asyncio.Event()
