"""Brings the application to a page, waits until the page stands still, and takes its shots.

One application is enough for all shots of a page: it is resized, and dressed in the theme and the filter of a start
under NO_COLOR.  That this looks as such a start does is a test of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from textual.app import App
from textual.filter import NoColor
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from engine.model.events import Event, RunFinished
from engine.reports.reducer import reduce_all
from engine.reports.run_record import NO_RUN
from kgtui.ports.file_events import TroubleKind, WatchTrouble
from tests.kgtui.pages.catalogue import Page
from tests.kgtui.pages.drawing import Shot, shot_of

_GONE = "softmax.py no longer exists in kernels; it is still watched"  # the watcher's words
_ENDLESS = {"loop", "agents"}  # the workers that judge and that look for runs of agents, as long as the app lives


@dataclass(frozen=True, kw_only=True)
class Driven:
    """An application under test, and the scripts that a page may name."""

    bench: Any  # the record of the application on its doubles, which no module exports
    pilot: Pilot[None]
    scripts: Any  # looks a script up by its name

    async def reach(self, page: Page) -> None:
        """Do all that leads to the page."""
        bench = self.bench
        await bench.until(self.pilot, lambda: bench.app.problems != () and bench.engine.started is page.engine_starts)
        if page.engine_starts:
            await self._said()
        bench.engine.ports_only = page.ports_only
        if page.then:
            bench.engine.script = self.scripts(page.then)
            await self._save_another()
        bench.app.run_history.marked = page.marked
        for key in page.keys:
            await self.pilot.press(key)
            await self._settled()
        if page.overtaken:
            await self._save_another()
        if page.gone:
            bench.watcher.on_trouble(WatchTrouble(kind=TroubleKind.GONE, path=bench.path, message=_GONE))
            await self.pilot.pause()
        if page.ends_cancelled:
            await bench.until(self.pilot, lambda: bench.app.workbench.bench.view.verdict is not None)
        await self._settled()

    async def shots(self, sizes: Sequence[tuple[int, int]]) -> list[tuple[Shot, Shot]]:
        """In colour and without, at every size."""
        taken = []
        for place, size in enumerate(sizes):
            await self.pilot.resize_terminal(*size)
            both = {}
            for coloured in (True, False) if place % 2 == 0 else (False, True):  # the fewest changes of dress
                _dress(self.bench.app, coloured=coloured)
                both[coloured] = await self.still(coloured=coloured)
            taken.append((both[True], both[False]))
        return taken

    async def still(self, *, coloured: bool) -> Shot:
        """What is drawn once two shots in a row are the same."""
        before = None
        while True:
            await self.pilot.pause()
            await self._settled()
            for field in _fields(self.bench.app):
                field.cursor_blink = False
            shot = shot_of(self.bench.app, coloured=coloured)
            if shot == before:
                return shot
            before = shot

    async def _save_another(self) -> None:
        """Another program writes another text, and that is judged."""
        bench, judged = self.bench, len(self.bench.engine.evaluated)
        bench.watcher.save(b"# another\n" + bench.path.read_bytes())
        await bench.until(self.pilot, lambda: len(bench.engine.evaluated) > judged)
        await self._said()

    async def _said(self) -> None:
        """Wait until all that the engine says of the newest text, before it waits, is shown."""
        bench = self.bench
        await self.pilot.pause()
        await bench.until(self.pilot, lambda: not bench.app.runs.busy or bench.engine.evaluated != [])
        if bench.app.runs.busy and not self._has_verdict(events := self._events()):
            view = reduce_all(NO_RUN, events)
            await bench.until(self.pilot, lambda: bench.app.workbench.bench.view == view)
        await self._settled()

    def _events(self) -> list[Event]:
        candidate, plan = self.bench.engine.evaluated[-1]
        return list(self.bench.engine.script(candidate, plan))

    @staticmethod
    def _has_verdict(events: list[Event]) -> bool:
        return any(isinstance(event, RunFinished) for event in events)

    async def _settled(self) -> None:
        """Wait for what was begun beside the screen, and for the run, unless that waits to be cancelled."""
        while self._is_at_work():
            await self.pilot.pause()

    def _is_at_work(self) -> bool:
        app, judged = self.bench.app, self.bench.engine.evaluated
        if any(worker.is_running and worker.group not in _ENDLESS for worker in app.workers):
            return True
        expected = self.bench.engine.ports_only
        if expected is not None and self.bench.engine.ported:
            return len(app.workbench.bench.view.ports.kernels) < expected - 1  # the first says that it begins
        return app.runs.busy and judged != [] and self._has_verdict(self._events())


def _dress(app: App[None], *, coloured: bool) -> None:
    """The theme, and the filter that NO_COLOR asks for."""
    if app.no_color is not coloured:
        return
    app.no_color = not coloured
    others = [one for one in app._filters if not isinstance(one, NoColor)]
    app._filters = others if coloured else [*others, NoColor()]
    app.theme = "textual-dark" if coloured else "ansi-dark"


def _fields(app: App[None]) -> Iterator[Input | TextArea]:
    """What has a cursor that blinks."""
    yield from app.screen.query(Input)
    yield from app.screen.query(TextArea)
