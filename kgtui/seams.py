"""What the screen needs from the rest of the project, in the screen's own words.

The application hands in the engine, the store and the watcher; the tests hand in doubles that keep
to the same protocols.  Nothing here imports any of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeAlias

from engine.events import Event
from engine.model import Candidate, Outcome, Plan, Problem


class Judging(Protocol):
    """The engine: judges one candidate at a time and says so event by event."""

    async def start(self) -> None:
        """Start the judge and a warm spare.

        Raises:
            KgtuiError: this machine cannot run them; the text says why.
        """

    async def aclose(self) -> None:
        """Stop every child process and wait for it."""

    def evaluate(
        self, candidate: Candidate, plan: Plan, *, cancelled: asyncio.Event | None = None
    ) -> AsyncIterator[Event]:
        """Judge the candidate; when `cancelled` is set, stop at once and end with a cancelled verdict."""

    @property
    def device_name(self) -> str:
        """The device as a person calls it."""


@dataclass(frozen=True, kw_only=True)
class PastRun:
    """A run in the store.  Outcome, counts and time are None for one that was cut short."""

    number: int
    problem: str
    digest: str
    filename: str
    device: str
    target: str | None
    started_at: datetime
    outcome: Outcome | None = None
    flagged: bool = False
    passed: int | None = None
    total: int | None = None
    elapsed_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class LastRun:
    """What the store knows of one operator: its newest run and how many there are."""

    run: PastRun
    runs: int


@dataclass(frozen=True, kw_only=True)
class RecentFile:
    """A file that was judged before, newest judging first."""

    path: Path
    problem: str
    judged_at: datetime


class Recording(Protocol):
    """The store, as one session of this screen uses it.

    Every method raises StoreError when the store is locked, full or damaged.
    """

    def begin(self, candidate: Candidate, plan: Plan) -> int:
        """Note that a run begins; its number is what `record` and the screen call it."""

    def record(self, number: int, event: Event) -> None:
        """Keep one event; it is on disk, or safe from a kill of this process, when this returns."""

    def cached(self, candidate: Candidate, plan: Plan) -> int | None:
        """The newest finished run of the same text under the same plan, or None."""

    def failed_cases(self, problem: str) -> tuple[str, ...]:
        """The cases that failed in the newest finished run of this operator."""

    def events(self, number: int) -> tuple[Event, ...]:
        """The events of a run in their order."""

    def source(self, number: int) -> bytes:
        """The text that a run judged."""

    def runs(self, problem: str, *, limit: int) -> tuple[PastRun, ...]:
        """The newest runs of this operator."""

    def last_runs(self) -> dict[str, LastRun]:
        """The newest run of every operator that has one, by name."""

    def recent_files(self, *, limit: int) -> tuple[RecentFile, ...]:
        """The files that were judged last."""

    def close(self) -> None:
        """Release the database."""


@dataclass(frozen=True, kw_only=True)
class FileSaved:
    """New content of the watched file, whichever program wrote it."""

    path: Path
    content: bytes
    digest: str


class Watching(Protocol):
    """A watcher of one file; it calls back from a thread of its own."""

    def start(self) -> None:
        """Begin to watch."""

    def stop(self) -> None:
        """Stop and wait until no callback can come any more."""


EngineFactory: TypeAlias = Callable[[], Judging]
StoreOpener: TypeAlias = Callable[[], Recording]
Catalogue: TypeAlias = Callable[[], tuple[Problem, ...]]
WatcherFactory: TypeAlias = Callable[[Path, Callable[[FileSaved], None], Callable[[str], None]], Watching]
ArtefactReader: TypeAlias = Callable[[str], bytes]
