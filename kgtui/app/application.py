"""The application: connects engine, store, watcher and screens, and owns the state that outlives a screen.

The first paint shows the screen with the stored run of an opened file; the catalogue, the lists of the store and the
engine follow.  Neither torch nor triton is imported by this process.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.binding import BindingType
from textual.message import Message
from textual.screen import Screen
from textual.worker import Worker, WorkerCancelled, WorkerFailed, WorkerState

from engine.errors import KgtuiError, UsageError
from engine.model import Problem
from kgtui.app import clipboard
from kgtui.app.jobs.agent_runs import AgentRuns
from kgtui.app.jobs.run_audience import RunAudience
from kgtui.app.jobs.runs import Runs
from kgtui.app.lookups import artefact_text, find_or_notify
from kgtui.app.notifications import Notifications
from kgtui.app.opening import look_up_stored_run, workbench_on
from kgtui.app.screen_stack import ScreenStack
from kgtui.app.terminal import TerminalApp
from kgtui.app.troubles import Troubles
from kgtui.background import in_background
from kgtui.files import disk
from kgtui.files.external_editor import EditorCommand, editor_command
from kgtui.files.file_watch import FileSaved, FileWatch, WatchTroubled
from kgtui.files.kernel_folder import KernelFolder
from kgtui.files.unsaved import UnsavedTexts
from kgtui.history.run_history import RunHistory
from kgtui.runner.engine_service import EngineService
from kgtui.screens.base.appearance import Appearance
from kgtui.screens.base.screen import KgtuiScreen
from kgtui.settings.keys import Action, Where, bindings_of, first_key
from kgtui.state.format.glyphs import ASCII, UNICODE, Glyphs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from pathlib import Path, PurePath

    from textual.command import Provider

    from engine.problem_source import ProblemDescription
    from kgtui.app.services import Services
    from kgtui.app.start import PreparedBatch, Settings, Start
    from kgtui.screens.base.open_workbench import OpenWorkbench
    from kgtui.state.workbench.workbench import Workbench

TICK_S = 0.1
NOTICE_S = 30.0
STORED_RUN_LIMIT_S = 1.0  # the longest that the first paint waits for a locked or slow store


def _palette() -> type[Provider]:
    """The palette's actions, imported when it is opened."""
    from kgtui.screens.base.palette import Actions

    return Actions


class StoreMoved(Message):
    """The store continues in another file; `numbers` maps former run numbers to new ones."""

    def __init__(self, sentence: str, numbers: Mapping[int, int]) -> None:
        super().__init__()
        self.sentence = sentence
        self.numbers = numbers


class WorkbenchApp(TerminalApp):
    """The Textual application of kgtui."""

    CSS_PATH: ClassVar[list[str | PurePath]] = [
        "../styles/app.tcss",
        "../styles/workbench.tcss",
        "../styles/bench.tcss",
        "../styles/operators.tcss",
        "../styles/terminal.tcss",
    ]
    TITLE = "kgtui"
    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_palette}
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Where.EVERYWHERE)]

    def __init__(
        self,
        *,
        services: Services,
        settings: Settings,
        start: Start | None = None,
        batch: PreparedBatch | None = None,
        started: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        # Set before any theme: otherwise Textual maps the colours of a theme to greys instead of removing them.
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        self._services = services
        self._settings = settings
        self._start = start
        self._batch = batch
        self._started = started
        self.clock = clock
        self.now = now
        self._troubles = Troubles(self._redraw)
        self.appearance = Appearance(self, settings.preferences, in_use=settings.in_use)
        self._run_notifications = Notifications(self, preferences=lambda: self.appearance.preferences, clock=clock)
        self._audience = RunAudience(
            self, self, notifications=self._run_notifications, troubles=self._troubles, on_end=self._refresh_history
        )

        def store_moved(sentence: str, numbers: Mapping[int, int]) -> None:
            self.post_message(StoreMoved(sentence, numbers))  # called in the thread that noticed

        self.run_history = RunHistory(
            services.store_opener, on_trouble=self._audience.trouble_arose, notice=store_moved
        )
        self._service = EngineService(
            run_history=self.run_history, audience=self._audience, on_trouble=partial(self._troubles.set, "engine")
        )
        self.runs = Runs(
            self,
            self,
            audience=self._audience,
            service=self._service,
            settings=settings,
            notifications=self._run_notifications,
            troubles=self._troubles,
            find=services.problems.find,
        )
        self.kernels = KernelFolder(settings.folder, scaffold=services.scaffold, kernels=settings.kernels)
        self.problem_named = partial(find_or_notify, services.problems, self)
        self.artefact = partial(artefact_text, services.read_artefact)
        self.unsaved_texts = UnsavedTexts(settings.data / "unsaved")
        self.file_watch = FileWatch(self, services.watcher_factory)
        self.device_and_target = f"{settings.device} to {settings.target}" if settings.target else settings.device
        self.problems: tuple[ProblemDescription, ...] = ()
        self.opened: Workbench | None = None
        self.agents = AgentRuns(self, app=self, refresh=self._refresh_history)
        self._navigation = ScreenStack(self, self)
        self._opening: asyncio.Task[None] | None = None
        self._serving: Worker[None] | None = None

    # The first second

    async def on_mount(self) -> None:  # type: ignore[override]  # Textual waits for either kind of handler
        """Paint first, with the stored run of the file; slow work starts after that."""
        self.appearance.apply()
        self._run_notifications.begin()
        await self._navigation.fetch("workbench" if self._start is not None else "operators")
        if self._start is not None:
            if self._services.has_store():  # creating a store takes longer than reading one
                look_up = look_up_stored_run(
                    self._start, settings=self._settings, run_history=self.run_history, service=self._service
                )
                self._opening = asyncio.create_task(look_up)
                await asyncio.wait({self._opening}, timeout=STORED_RUN_LIMIT_S)
            self.open_file(self._start.problem, self._start.path)
        else:
            self.action_show("operators")
        self.while_active(TICK_S, self._tick)
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self.problems, broken = self._services.problems.descriptions()
        if broken:
            self._troubles.set("problems", "; ".join(broken))
        self._redraw()
        self._serving = in_background(self, self._serve, group="loop")
        in_background(self, self._navigation.prepare, group="screens")

    async def _serve(self) -> None:
        """Read the lists of the store, start the engine, then run requests until cancelled."""
        await (self._opening or self.run_history.open())
        await self.run_history.refresh()
        self._redraw()
        if self.workbench is not None:
            self.workbench.history.read()
        in_background(self, self.agents.watch, group="agents")
        engine = self._services.engine_factory()
        self._started()
        if self._batch is not None:
            self.runs.generation.carry_out(self._batch)
            self.action_show("models")
        await self._service.serve(engine)

    def _refresh_history(self) -> None:
        async def refresh() -> None:
            await self.run_history.refresh()
            self._redraw()

        in_background(self, refresh, group="lists")

    async def on_unmount(self) -> None:
        """Stop what was started, in the opposite order."""
        await self.file_watch.stop()
        if self._serving is not None:
            self._serving.cancel()
            with contextlib.suppress(WorkerCancelled, WorkerFailed):
                await self._serving.wait()
        await self._service.aclose()
        await self.run_history.close()

    # The host of the screens

    @property
    def glyphs(self) -> Glyphs:
        """The glyph set in use."""
        return ASCII if self.appearance.preferences.is_ascii else UNICODE

    @property
    def actions(self) -> tuple[Action, ...]:
        """Every action with the user's key bindings."""
        return self.appearance.actions

    @property
    def front(self) -> Screen[Any]:
        """The screen at the top of the stack."""
        return self.screen

    def appearance_changed(self) -> None:
        """Redraw after a change of glyphs, colours or keys."""
        self._redraw()

    @property
    def trouble(self) -> str:
        """Problem of the engine, the store or the settings, as a sentence."""
        return "; ".join(filter(None, (*self._troubles.sentences, self.appearance.trouble)))

    @property
    def workbench(self) -> OpenWorkbench | None:
        """The workbench, once a file was opened."""
        return cast("OpenWorkbench | None", self._navigation.made("workbench"))  # the module creates no other object

    def open_file(self, operator: Problem | ProblemDescription, path: Path) -> None:
        """Show this file in the workbench."""
        problem = operator if isinstance(operator, Problem) else self.problem_named(operator.name)
        if problem is None:
            return
        try:
            content = disk.read(path)
        except UsageError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        workbench = self.workbench
        if workbench is None:
            self.opened = workbench_on(problem, path, content, settings=self._settings)
        elif (workbench.bench.problem, workbench.bench.path) != (problem, path):
            if workbench.file.has_unsaved:
                words = f"{workbench.bench.path.name} has unsaved text: save it with ctrl+s, then open {path.name}"
                self.notify(words, severity="warning", markup=False)
            else:
                workbench.open(problem, path, content)
        self.action_show("workbench")

    def editor_command(self, path: Path, *, line: int) -> EditorCommand:
        """Command of the user's own editor."""
        environment = {**self._settings.environment, "VISUAL": self.appearance.preferences.text("editor") or ""}
        return editor_command(path, line=line, columns=self.size[0], rows=self.size[1], environment=environment)

    def copy_to_clipboard(self, text: str) -> None:
        """Copy to the clipboard; where the terminal may ignore that, report where else the text was put."""
        text = text.encode(errors="replace").decode()  # a path may hold bytes that are not text
        super().copy_to_clipboard(text)
        if clipboard.method_of(self._settings.environment) is not clipboard.CopyMethod.TERMINAL:
            folder = self._settings.data

            async def put_on_clipboard() -> None:
                where = await clipboard.put_on_clipboard(text, environment=self._settings.environment, folder=folder)
                self.notify(where, markup=False)

            in_background(self, put_on_clipboard, group="copy")

    def diagnose(self) -> AsyncIterator[tuple[str, ...]]:
        """Facts of this machine, as printed by `kgtui doctor`."""
        return self._services.diagnose((self.size.width, self.size.height), self.appearance.preferences)

    # Messages and actions

    def on_file_saved(self, message: FileSaved) -> None:
        """A file was saved: the one that is open, or one that it imports."""
        workbench, saved = self.workbench, message.saved
        if workbench is not None and message.watch == self.file_watch.number:
            workbench.file.saved(saved.content, siblings_changed=saved.changed != saved.path)

    def on_store_moved(self, message: StoreMoved) -> None:
        """The file of the store was deleted or replaced, and another one is used from now on."""
        self.notify(message.sentence, severity="warning", timeout=NOTICE_S, markup=False)
        if self.workbench is not None:
            self.workbench.runs.renumbered(message.numbers)
            self.workbench.history.read()
        self._refresh_history()

    def on_watch_troubled(self, message: WatchTroubled) -> None:
        """Show that the watched file is missing, or that it is back."""
        workbench, trouble = self.workbench, message.trouble
        if workbench is not None and message.watch == self.file_watch.number:
            workbench.file.watch_troubled(trouble)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Show an error of a background task, so that the screen does not wait for its result."""
        if event.state is WorkerState.ERROR:
            error = event.worker.error
            self._troubles.set("worker", f"internal error: {type(error).__name__}: {error}; start kgtui again")

    def action_show(self, screen_id: str) -> None:
        """Bring a screen to the front; one without content yet reports the next step."""
        try:
            self._navigation.show(screen_id)
        except KgtuiError as error:
            self.notify(str(error), severity="error", markup=False)

    def quit(self) -> None:
        """Quit; with unsaved text ask once."""
        workbench = self.workbench
        if workbench is not None and workbench.file.has_unsaved and not workbench.file.asked_to_leave:
            self.action_show("workbench")
            workbench.file.ask_to_leave()
        else:
            self.exit()

    def action_help_quit(self) -> None:
        """Report how to quit, since ctrl+c does not."""
        leaving = next(action for action in self.actions if action.call == "app.quit")
        self.notify(f"nothing is selected, so ctrl+c copies nothing; {first_key(leaving)} quits", markup=False)

    # Inside

    def _redraw(self) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, KgtuiScreen) and screen.is_drawable:
                screen.host_changed()

    def _tick(self) -> bool:
        fronts = self.screen_stack[-1:]  # there is none while the application shuts down
        return any(screen.go_on() for screen in fronts if isinstance(screen, KgtuiScreen)) or self.runs.busy
