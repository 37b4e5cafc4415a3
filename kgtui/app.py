"""The application: puts engine, store, watcher and screens together, and holds what outlives a screen.

First the screen is painted; the catalogue, the store and the engine follow.  None of torch, triton,
numpy and sqlite is imported before that, nor ever by this module.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, ClassVar

from textual.app import App
from textual.binding import BindingType
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.timer import Timer
from textual.worker import Worker, WorkerCancelled, WorkerFailed, WorkerState

from engine.errors import KgtuiError, UsageError
from engine.events import Event, RunFinished
from engine.model import Problem
from kgtui import disk
from kgtui.background import in_background
from kgtui.external import Opening, opening
from kgtui.file_watch import FileSaved, FileWatch, WatchTroubled
from kgtui.kernels import KernelFolder
from kgtui.keys import Where, bindings_of
from kgtui.loop import Loop, RunHeader
from kgtui.past import Past
from kgtui.seams import (
    ArtefactReader,
    Catalogue,
    EngineFactory,
    Judging,
    Order,
    Scaffold,
    StoreOpener,
    WatcherFactory,
)
from kgtui.state.glyphs import ASCII, UNICODE, Glyphs
from kgtui.state.strip import title
from kgtui.watching.records import TroubleKind
from kgtui.widgets.scrollbars import WholeCells

if TYPE_CHECKING:
    from textual.command import Provider

    from kgtui.screens.operators import OperatorsScreen
    from kgtui.screens.workbench import WorkbenchScreen

FLUSH_S = 1 / 5
TICK_S = 0.1
TERMINAL_S = 1.0
HUNG_UP = 129  # what a shell calls death by SIGHUP


def _palette() -> type[Provider]:
    """The palette's actions, imported when it is opened."""
    from kgtui.screens.palette import Actions

    return Actions


@dataclass(frozen=True, kw_only=True)
class Start:
    """The file to open at once, and its operator."""

    problem: Problem
    path: Path


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the user chose: the folder for kernels, where to judge, what to compile for, how to draw."""

    folder: Path
    device: str = "cpu"
    target: str | None = "sm_90"
    ascii: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)


class WorkbenchApp(App[None]):
    """kgtui on the screen."""

    CSS_PATH: ClassVar[list[str | PurePath]] = [
        "styles/app.tcss",
        "styles/workbench.tcss",
        "styles/bench.tcss",
        "styles/operators.tcss",
    ]
    TITLE = "kgtui"
    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_palette}
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Where.EVERYWHERE)]

    def __init__(
        self,
        *,
        engine_factory: EngineFactory,
        store_opener: StoreOpener,
        catalogue: Catalogue,
        watcher_factory: WatcherFactory,
        read_artefact: ArtefactReader,
        scaffold: Scaffold,
        settings: Settings,
        start: Start | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__()
        self._engine_factory = engine_factory
        self.past = Past(store_opener, say=self.trouble_arose)
        self.kernels = KernelFolder(settings.folder, scaffold=scaffold)
        self._catalogue = catalogue
        self.file_watch = FileWatch(self, watcher_factory)
        self._read_artefact = read_artefact
        self._settings = settings
        self._start = start
        self.clock = clock
        self.now = now
        self.problems: tuple[Problem, ...] = ()
        self._troubles: dict[str, str] = {}
        self._judging: Judging | None = None
        self._judge_loop: Loop | None = None
        self._serving: Worker[None] | None = None
        self._waiting: Order | None = None
        self._pending: list[Event] = []
        self._first_of_run = False
        self._flusher: Timer | None = None
        self._workbench: WorkbenchScreen | None = None
        self._operators: OperatorsScreen | None = None
        if settings.ascii:
            self.add_class("-ascii")
        if self.no_color:
            self.theme = "ansi-dark"

    # The first second

    def on_mount(self) -> None:
        """Paint first; everything slow begins after that."""
        # Textual has one renderer for the whole process: it is set for either set of signs.
        ScrollBar.renderer = WholeCells if self._settings.ascii else ScrollBarRender
        if self._start is not None:
            self.open_file(self._start.problem, self._start.path)
        else:
            self.action_operators()
        self._flusher = self.set_interval(FLUSH_S, self.flush, pause=True)
        self.set_interval(TICK_S, self._tick)
        self.set_interval(TERMINAL_S, self._leave_without_terminal)
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        try:
            self.problems = self._catalogue()
        except KgtuiError as error:
            self._troubles["catalogue"] = f"the catalogue cannot be shown: {error}"
        self._redraw()
        self._serving = in_background(self, self._serve, group="loop")

    async def _serve(self) -> None:
        """Open the store, start the engine, then judge for ever."""
        await self.past.open()
        await self._show_past()
        self._judging = self._engine_factory()
        try:
            await self._judging.start()
        except KgtuiError as error:
            self._set_trouble("engine", f"nothing can be judged: {error}")
            return
        self._judge_loop = Loop(self._judging, audience=self, clock=time.monotonic, recording=self.past.recording)
        if self._waiting is not None:
            self._judge_loop.submit(self._waiting)
        await self._judge_loop.serve()

    async def _show_past(self) -> None:
        self._redraw()
        if self._workbench is not None:
            self._workbench.read_history()

    async def _refresh_past(self) -> None:
        await self.past.refresh()
        self._redraw()

    async def on_unmount(self) -> None:
        """Stop what was started, in the opposite order."""
        await self.file_watch.stop()
        if self._serving is not None:
            self._serving.cancel()
            with contextlib.suppress(WorkerCancelled, WorkerFailed):
                await self._serving.wait()
        if self._judging is not None:
            await self._judging.aclose()
        await self.past.close()

    # The loop's audience

    def run_began(self, header: RunHeader) -> None:
        """A run begins; its first event is shown at once."""
        self.flush()
        self._first_of_run = True
        if self._workbench is not None:
            self._workbench.run_began(header)

    def events_happened(self, events: Sequence[Event]) -> None:
        """Collect what comes; the first and the last event of a run do not wait for the next flush."""
        self._pending += events
        if self._first_of_run or _finish(events):
            self._first_of_run = False
            self.flush()
        elif self._flusher is not None:
            self._flusher.resume()

    def trouble_arose(self, message: str) -> None:
        """The store has a problem of its own."""
        self._set_trouble("store", message)

    def flush(self) -> None:
        """Show all that has been collected."""
        events, self._pending = self._pending, []
        if self._flusher is not None:
            self._flusher.pause()
        if events and self._workbench is not None:
            self._workbench.events_happened(events)
            self._show_title()
            if _finish(events):
                in_background(self, self._refresh_past, group="lists")

    # The host of the screens

    @property
    def glyphs(self) -> Glyphs:
        """The set of signs in use."""
        return ASCII if self._settings.ascii else UNICODE

    @property
    def trouble(self) -> str:
        """What is wrong with the engine or the store."""
        return "; ".join(self._troubles.values())

    @property
    def busy(self) -> bool:
        """Whether a run goes on, waits, or is not shown in full yet."""
        starting = self._judge_loop is None and self._waiting is not None and not self._troubles
        return starting or bool(self._pending) or (self._judge_loop is not None and self._judge_loop.busy)

    def submit(self, order: Order) -> None:
        """Judge this next, as soon as the engine is there, and watch what it imports."""
        self.file_watch.follow_imports(order)
        if self._judge_loop is None:
            self._waiting = order
        else:
            self._judge_loop.submit(order)

    def cancel(self) -> bool:
        """Stop the run that goes on."""
        return self._judge_loop is not None and self._judge_loop.cancel()

    def open_file(self, problem: Problem, path: Path) -> None:
        """Show the workbench on this file."""
        from kgtui.screens.workbench import WorkbenchScreen
        from kgtui.state.workbench import Workbench

        try:
            content = disk.read(path)
        except UsageError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        if self._workbench is None:
            bench = Workbench(
                problem=problem, path=path, saved=content, device=self._settings.device, target=self._settings.target
            )
            self._workbench = WorkbenchScreen(bench)
            self.install_screen(self._workbench, "workbench")
        elif (self._workbench.bench.problem, self._workbench.bench.path) != (problem, path):
            self._workbench.open(problem, path, content)
        self._switch("workbench")

    async def artefact(self, digest: str) -> str:
        """The text of an artefact, or why it cannot be shown."""
        try:
            content = await asyncio.to_thread(self._read_artefact, digest)
        except OSError as error:
            return f"the code with the hash {digest[:12]} cannot be read: {error.strerror}; r compiles it again"
        return content.decode("utf-8", errors="replace")

    def editor_command(self, path: Path, *, line: int) -> Opening:
        """How the user's own editor is started."""
        return opening(path, line=line, columns=self.size.width, environment=self._settings.environment)

    # Messages and actions

    def on_file_saved(self, message: FileSaved) -> None:
        """A file was saved: the one that is open, or one that it imports."""
        workbench, saved = self._workbench, message.saved
        if workbench is not None and message.watch == self.file_watch.number:
            workbench.saved(saved.content, siblings_changed=saved.changed != saved.path)

    def on_watch_troubled(self, message: WatchTroubled) -> None:
        """The watcher lost the file, or found it again."""
        workbench, trouble = self._workbench, message.trouble
        if workbench is not None and message.watch == self.file_watch.number:
            workbench.notice("" if trouble.kind is TroubleKind.BACK else trouble.message)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A fault of ours in the background is seen, instead of a screen that waits for ever."""
        if event.state is WorkerState.ERROR:
            error = event.worker.error
            self._set_trouble("worker", f"kgtui itself failed: {type(error).__name__}: {error}; start it again")

    def action_operators(self) -> None:
        """Show the list of operators."""
        if self._operators is None:
            from kgtui.screens.operators import OperatorsScreen

            self._operators = OperatorsScreen()
            self.install_screen(self._operators, "operators")
        self._switch("operators")
        self._redraw()

    def back_to_workbench(self) -> None:
        """Return from the operators to the file, if one is open."""
        if self._workbench is not None:
            self._switch("workbench")

    def action_help(self) -> None:
        """Show every key."""
        from kgtui.screens.base import KgtuiScreen
        from kgtui.screens.help import HelpScreen

        if isinstance(self.screen, KgtuiScreen):
            self.push_screen(HelpScreen(first=self.screen.WHERE))

    def action_leave(self) -> None:
        """Quit; with unsaved text ask once."""
        workbench = self._workbench
        if workbench is None or not workbench.unsaved or workbench.asked_to_leave:
            self.exit()
            return
        self._switch("workbench")
        workbench.ask_to_leave()

    # Inside

    def _switch(self, name: str) -> None:
        while len(self.screen_stack) > 2:
            self.pop_screen()
        if len(self.screen_stack) == 1:
            self.push_screen(name)
        elif self.screen is not self.get_screen(name):
            self.switch_screen(name)

    def _redraw(self) -> None:
        if self._operators is not None and self._operators.is_mounted:
            self._operators.draw()
        if self._workbench is not None and self._workbench.is_mounted:
            self._workbench.draw_rail()

    def _set_trouble(self, kind: str, message: str) -> None:
        self._troubles[kind] = message
        self._redraw()

    def _leave_without_terminal(self) -> None:
        # Not every terminal that goes away sends a signal; reading from it would then keep a core busy for ever.
        if not self.is_headless and not _has_terminal():
            self.exit(return_code=HUNG_UP)

    def _tick(self) -> None:
        if self._workbench is not None and self._workbench.in_front:
            self._workbench.tick()

    def _show_title(self) -> None:
        if self._workbench is not None:
            bench = self._workbench.bench
            self.title = title(bench.view, bench.desk(self.clock()), self.glyphs)


def _has_terminal() -> bool:
    """Whether what we read keys from is still there; a terminal that was closed answers no more."""
    try:
        os.get_terminal_size(sys.__stdin__.fileno() if sys.__stdin__ is not None else -1)
    except (OSError, ValueError):
        return False
    return True


def _finish(events: Sequence[Event]) -> bool:
    """Whether the verdict is among these."""
    return any(isinstance(event, RunFinished) for event in events)
