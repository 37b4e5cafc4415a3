"""A store with past runs, and the History screen on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input

from engine.model import Candidate, Plan, Tier
from kgtui.history.recorder import StoreRecording
from kgtui.screens.history.screen import HistoryScreen
from kgtui.state.format.lines import plain_text
from kgtui.widgets.controls.bars import Strip
from kgtui.widgets.tables.paged_grid import PagedGrid
from kgtui.widgets.text.toned import Lines
from sessions import Store, open_memory_store
from tests.kgtui import fakes

TIERS = (Tier.SMOKE, Tier.FULL)
OURS = {"pages", "more", "way", "mark"}


class Kept(StoreRecording):
    """A store in memory that the application opens; `removed` is the compiled code that it was told to delete."""

    def __init__(self, store: Store) -> None:
        self.removed: list[str] = []
        super().__init__(store, label="test", environment={}, remove_artefact=self.removed.append)
        self.store = store

    def open_or_raise(self) -> None:
        """It is open."""


class Past:
    """Judges what the tests need to have been judged."""

    def __init__(self, folder: Path) -> None:
        self.recording = Kept(open_memory_store(clock=lambda: fakes.NOW))
        self.store = self.recording.store
        self.session = self.store.begin_session("an evening [bold]", environment={"torch": "2.13.0"})
        self._folder = folder
        (folder / "kernels").mkdir()

    def add(
        self,
        filename: str,
        *,
        script: str = "all_pass",
        problem: int = 0,
        source: bytes | None = None,
        device: str = "cpu",
    ) -> int:
        """The number of a run of this file."""
        known = fakes.catalogue()[problem]
        path = self._folder / "kernels" / filename
        candidate = Candidate(
            source=fakes.SOURCE if source is None else source,
            problem=known.name,
            filename=filename,
            folder=path.parent,
        )
        number = self.store.begin_run(self.session, candidate, device=device, target="sm_90", tiers=TIERS, path=path)
        plan = Plan.for_tiers(known, tiers=TIERS, device=device, target="sm_90", failed_before=())
        self.store.record_all(number, getattr(fakes, script)(candidate, plan))
        return number


async def settled(bench: Any, pilot: Pilot[None]) -> None:
    await bench.settled(pilot)
    while any(worker.group in OURS and worker.is_running for worker in bench.app.workers):
        await pilot.pause()
    await pilot.pause()


async def history(bench: Any, pilot: Pilot[None]) -> HistoryScreen:
    """The screen, opened by its key and settled."""
    await bench.until(pilot, lambda: bench.app.problems != () and bench.app.run_history.recording is not None)
    await settled(bench, pilot)
    await pilot.press("f8")
    await settled(bench, pilot)
    screen = bench.app.screen
    assert isinstance(screen, HistoryScreen)
    return screen


def listed(screen: HistoryScreen) -> list[str]:
    return [row.key for row in screen.query_one(PagedGrid).shown]


def head(screen: HistoryScreen) -> str:
    return plain_text(tuple(left for left, _ in screen.query_one("#head", Strip).rows))


def details(screen: HistoryScreen) -> str:
    return plain_text(screen.query_one("#details", Lines).lines)


async def typed(bench: Any, pilot: Pilot[None], text: str) -> None:
    bench.app.screen.query_one("#filter", Input).value = text
    await settled(bench, pilot)
