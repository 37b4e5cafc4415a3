"""Keeping a run, as long as that works: trouble with the store or the disk never stops a run.

What goes wrong is said once, on the error stream, and the run goes on without being kept.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from engine.artefacts import ArtefactStore
from engine.errors import StoreError
from engine.model import Candidate, Problem, Tier
from engine.model.events import Event
from kgtui.settings.paths import Paths, can_write
from sessions import Store, open_store
from sessions.store import BUSY_TIMEOUT_S


class Keeper:
    """One run of one session in the store, or in none.  Store calls run in threads: they may wait for a lock."""

    def __init__(self, store: Store | None, *, warn: Callable[[str], None]) -> None:
        self._store = store
        self._warn = warn
        self._number: int | None = None
        if store is not None:
            store.on_moved = self._moved

    @property
    def number(self) -> int | None:
        """The run's number; None when it is not kept."""
        return self._number

    async def failed_before(self, problem: Problem, path: Path) -> tuple[str, ...]:
        """The cases to judge first: those that failed when this file was judged last."""
        if self._store is None:
            return ()
        try:
            return await asyncio.to_thread(self._store.failed_cases, problem.name, path=path)
        except StoreError as error:
            self._give_up(error)
            return ()

    async def begin(
        self,
        candidate: Candidate,
        *,
        label: str,
        environment: Mapping[str, str],
        device: str,
        target: str | None,
        tiers: tuple[Tier, ...],
        path: Path,
    ) -> None:
        """Note that a run begins, in a session of its own."""
        if self._store is None:
            return
        try:
            session = await asyncio.to_thread(self._store.begin_session, label, environment=environment)
            self._number = await asyncio.to_thread(
                self._store.begin_run, session, candidate, device=device, target=target, tiers=tiers, path=path
            )
        except StoreError as error:
            self._give_up(error)

    async def record(self, event: Event) -> None:
        """Keep the next event; it is safe from a kill of this process when this returns."""
        if self._store is None or self._number is None:
            return
        try:
            await asyncio.to_thread(self._store.record, self._number, event)
        except StoreError as error:
            self._give_up(error)

    def close(self) -> None:
        """End the session and release the database."""
        if self._store is not None:
            try:
                self._store.close()
            except StoreError as error:
                self._give_up(error)

    def _moved(self, sentence: str, numbers: Mapping[int, int]) -> None:
        if self._number is not None:
            self._number = numbers.get(self._number, self._number)
        self._warn(sentence)

    def _give_up(self, error: StoreError) -> None:
        store, self._store = self._store, None
        self._warn(f"the run goes on, but is not kept from here on: {error}")
        if store is not None:
            with contextlib.suppress(StoreError):  # the first failure is the one that was said
                store.close()


def open_keeper(paths: Paths, *, warn: Callable[[str], None], busy_timeout_s: float = BUSY_TIMEOUT_S) -> Keeper:
    """A keeper on the user's store; on none, and that is said, where it cannot be opened."""
    try:
        return Keeper(open_store(paths.sessions, busy_timeout_s=busy_timeout_s), warn=warn)
    except StoreError as error:
        warn(f"the run goes on, but is not kept: {error}")
        return Keeper(None, warn=warn)


@contextlib.contextmanager
def artefact_folder(paths: Paths, *, is_kept: bool, warn: Callable[[str], None]) -> Iterator[ArtefactStore]:
    """Where compiled code goes: the user's folder, or one that is removed afterwards where that cannot be."""
    if is_kept and can_write(paths.artefacts):
        yield ArtefactStore(folder=paths.artefacts)
        return
    if is_kept:
        warn(f"compiled code is not kept: {paths.artefacts} cannot be written; KGTUI_HOME names another folder")
    with tempfile.TemporaryDirectory(prefix="kgtui-") as folder:
        yield ArtefactStore(folder=Path(folder))
