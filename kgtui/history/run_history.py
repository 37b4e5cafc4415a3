"""Past runs, fetched from the store without blocking the screen.

Errors of the store go to a callback, and the result is then empty.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from engine.errors import StoreError
from kgtui.files.kernel_folder import SAMPLES
from kgtui.ports.protocols import BestRun, LastRun, PastRun, RecentFile, Recording, StoreNotice

if TYPE_CHECKING:
    from engine.model.events import Event
    from engine.reports.run_record import RunRecord
    from kgtui.history.store_admin import StoreAdmin
    from kgtui.ports.requests import RunRequest
    from sessions.candidates.checked import CheckedStore
    from sessions.candidates.generations import GenerationStore

T = TypeVar("T")

HISTORY_ROWS = 200
RECENT_FILES = 20


class StoredRuns(Recording, Protocol):
    """Interface of the store for one session of the screen, with all earlier sessions."""

    @property
    def admin(self) -> StoreAdmin:
        """All recorded runs and sessions, for History."""

    @property
    def generations(self) -> GenerationStore:
        """Batches of models and their answers."""

    @property
    def checked(self) -> CheckedStore:
        """Batches of candidates and their results."""

    def session(self) -> int:
        """The number of this session, which is created on first use."""

    def run_record(self, number: int) -> RunRecord:
        """A stored run."""


StoreOpener: TypeAlias = Callable[[], StoredRuns]


class RunHistory:
    """Access to the store for the lists of the screen; `recording` is None if there is no store.
    `marked` are the runs marked for comparison, in ascending order; `is_read` is whether the lists are those of the
    store, or cannot be read.
    """

    def __init__(self, opener: StoreOpener, *, on_trouble: Callable[[str], None], notice: StoreNotice) -> None:
        self._opener = opener
        self._on_trouble = on_trouble
        self._notice = notice
        self.recording: StoredRuns | None = None
        self.is_read = False
        self.last_runs: dict[str, LastRun] = {}
        self.recent_files: tuple[RecentFile, ...] = ()
        self.marked: tuple[int, ...] = ()

    async def open(self) -> None:
        """Open the store."""
        # Not first in the other thread: a screen that is imported meanwhile needs a part of the package, and the
        # import of a package in one thread and of its part in another end with _DeadlockError.
        importlib.import_module("sessions")
        try:
            self.recording = await asyncio.to_thread(self._opener)
        except StoreError as error:
            self._on_trouble(f"nothing is saved: {error}")
            return
        self.recording.listen(self._notice)

    async def refresh(self) -> None:
        """Reload the recent operators and files."""
        if self.recording is None:
            self.is_read = True
            return
        try:
            self.last_runs = await asyncio.to_thread(self.recording.last_runs)
            recent = await asyncio.to_thread(self.recording.recent_files, limit=RECENT_FILES)
        except StoreError as error:
            self._on_trouble(str(error))
        else:
            self.recent_files = await asyncio.to_thread(_users_own, recent)
        finally:
            self.is_read = True

    async def runs_of(self, problem: str) -> tuple[PastRun, ...] | None:
        """The newest runs of this operator; None if they cannot be read."""
        if self.recording is None:
            return ()
        try:
            return await asyncio.to_thread(self.recording.runs, problem, limit=HISTORY_ROWS)
        except StoreError as error:
            self._on_trouble(str(error))
            return None

    async def best_for(self, request: RunRequest) -> BestRun | None:
        """The run to beat: the fastest one so far of the file of the request."""
        if self.recording is None:
            return None
        try:
            return await asyncio.to_thread(self.recording.best, request)
        except StoreError as error:
            self._on_trouble(str(error))
            return None

    async def run(self, number: int) -> tuple[tuple[Event, ...], bytes] | None:
        """The events and the source of a run; None if they cannot be read."""
        from engine.model.events import RunStarted  # not before the first paint

        if self.recording is None:
            return None
        try:
            events = await asyncio.to_thread(self.recording.events, number)
            digest = next((event.digest for event in events if isinstance(event, RunStarted)), None)
            source = await asyncio.to_thread(self.recording.source, digest) if digest else b""
        except StoreError as error:
            self._on_trouble(str(error))
            return None
        return events, source

    async def ask(self, question: Callable[[StoreAdmin], T]) -> T | None:
        """The result of a query on the whole store; None without a store, or on failure.

        Raises:
            UsageError: the queried entry does not exist.
        """
        if self.recording is None:
            return None
        try:
            return await asyncio.to_thread(question, self.recording.admin)
        except StoreError as error:
            self._on_trouble(str(error))
            return None

    async def close(self) -> None:
        """Release the database; an error of it was already reported."""
        if self.recording is not None:
            with contextlib.suppress(StoreError):
                await asyncio.to_thread(self.recording.close)


def _users_own(recent: tuple[RecentFile, ...]) -> tuple[RecentFile, ...]:
    """Files that still exist; excluding the installed sample of `kgtui check --sample`, which must not be edited."""
    return tuple(file for file in recent if file.path.exists() and not file.path.is_relative_to(SAMPLES))
