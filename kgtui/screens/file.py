"""The file on the workbench: editing it, writing it, and never losing either side of a conflict."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from engine.errors import UsageError
from engine.model import Problem
from kgtui import disk
from kgtui.background import in_background
from kgtui.external import Opening
from kgtui.state.status import Mode
from kgtui.watching.records import TroubleKind, WatchTrouble
from kgtui.widgets.ask import Answer, Ask

if TYPE_CHECKING:
    from kgtui.screens.workbench import WorkbenchScreen

_OVERTAKEN = "overtaken"
_LEAVE = "leave"
_SWITCH = "switch"
_UNSAVED = (Answer(key="s", label="save first"), Answer(key="d", label="discard the text"))


class FileKeeper:
    """The part of the workbench that changes files; one for each workbench screen."""

    def __init__(self, screen: WorkbenchScreen) -> None:
        self._screen = screen
        self._next_problem: Problem | None = None

    def saved(self, content: bytes, *, siblings_changed: bool) -> None:
        """The file has new content, or one that it imports has: show it and judge it.

        While the editor holds unsaved text both are kept: the file's new content is judged, and the user chooses.
        """
        screen = self._screen
        if content == screen.bench.saved and not siblings_changed:
            return
        screen.bench = replace(screen.bench, saved=content, notice="")
        if screen.bench.unsaved:
            screen.bench = replace(screen.bench, overtaking=content)
            answers = (Answer(key="r", label="take the file's text"), Answer(key="k", label="keep mine"))
            screen.query_one(Ask).ask(_OVERTAKEN, f"{screen.bench.path.name} also changed on disk.", answers)
        elif screen.bench.old is None:
            screen.source.load(content)
        if screen.bench.paused:
            screen.draw()
        else:
            screen.judge(again=siblings_changed)

    def watch_troubled(self, trouble: WatchTrouble) -> None:
        """Say what keeps the watcher from the file for as long as it does: a run of its last text changes nothing."""
        screen = self._screen
        if trouble.kind is TroubleKind.POLLING:
            screen.bench = replace(screen.bench, notice=trouble.message)
        else:
            message = "" if trouble.kind is TroubleKind.BACK else trouble.message
            screen.bench = replace(screen.bench, trouble=message)
        screen.draw()

    def edit(self) -> None:
        """Let letters be text."""
        screen = self._screen
        if screen.bench.old is not None:
            screen.notify("this is a past run; esc returns to the file", markup=False)
        elif why := screen.bench.why_not_editable:
            screen.notify(f"{screen.bench.path.name} {why}", markup=False)
        else:
            screen.set_mode(Mode.EDIT)

    def save(self) -> bool:
        """Write the text, then judge it; False when it could not be written, and the text stays."""
        screen = self._screen
        if not screen.bench.unsaved:
            screen.notify("nothing to save: the file holds this text already", markup=False)
            return True
        content = screen.source.content
        try:
            disk.write(screen.bench.path, content)
        except UsageError as error:
            screen.notify(str(error), severity="error", markup=False)
            screen.bench = replace(screen.bench, notice=str(error))
            screen.draw()
            return False
        screen.bench = replace(screen.bench, saved=content, unsaved=False, overtaking=None, notice="")
        screen.source.accept()
        if (ask := screen.query_one(Ask)).subject:  # the text that it asks about is saved
            ask.close()
            screen.set_focus(screen.source.editor)
        if screen.bench.paused:
            screen.draw()
        else:
            screen.judge()
        return True

    def open_in_editor(self) -> None:
        """Start the user's own editor; saving there runs the loop as ever."""
        screen = self._screen
        try:
            opening = screen.host.editor_command(screen.bench.path, line=screen.source.line)
        except UsageError as error:
            screen.notify(str(error), severity="error", markup=False)
            return
        in_background(screen.app, partial(self._run_editor, opening), group="editor")

    def ask_to_leave(self) -> None:
        """There is unsaved text: ask what becomes of it before the program ends."""
        question = f"{self._screen.bench.path.name} has unsaved text."
        self._screen.query_one(Ask).ask(_LEAVE, question, _UNSAVED)

    @property
    def asked_to_leave(self) -> bool:
        """Whether that question stands."""
        return self._screen.query_one(Ask).subject == _LEAVE

    def leave_for(self, problem: Problem) -> None:
        """Open another operator's file, once what is unsaved here is settled."""
        self._next_problem = problem
        if self._screen.bench.unsaved:
            question = f"{self._screen.bench.path.name} has unsaved text."
            self._screen.query_one(Ask).ask(_SWITCH, question, _UNSAVED)
        else:
            self._switch()

    def answered(self, key: str, *, subject: str = "") -> None:
        """Do what the user chose; escape changes nothing."""
        screen = self._screen
        screen.query_one(Ask).close()
        screen.set_focus(screen.source.editor)
        match subject, key:
            case _, "escape":
                pass
            case "overtaken", "r":
                screen.bench = replace(screen.bench, overtaking=None, unsaved=False)
                screen.source.load(screen.bench.saved)
            case "overtaken", "k":
                screen.bench = replace(screen.bench, overtaking=None)
            case "leave" | "switch", "s":
                if self.save():
                    self._go(subject)
            case "leave" | "switch", "d":
                screen.source.load(screen.bench.saved)
                screen.bench = replace(screen.bench, unsaved=False)
                self._go(subject)
        screen.draw()

    def _go(self, subject: str) -> None:
        if subject == _LEAVE:
            self._screen.app.exit()
        else:
            self._switch()

    def _switch(self) -> None:
        screen, problem = self._screen, self._next_problem
        if problem is None:
            return
        path = screen.host.kernels.path_of(problem)
        if not path.exists() and screen.host.kernels.has_sample(problem):
            try:
                path = screen.host.kernels.copy_sample(problem)
            except UsageError as error:
                screen.notify(str(error), severity="error", markup=False)
                return
        if path.exists():
            screen.host.open_file(problem, path)
        else:
            screen.notify(
                f"{screen.host.kernels.shown(path)} does not exist yet; ctrl+o, then n makes it from a template",
                markup=False,
            )

    async def _run_editor(self, opening: Opening) -> None:
        screen = self._screen
        try:
            if opening.takes_terminal:
                failure = await self._in_this_terminal(opening)
            else:
                failure = await _run(opening)
        except SuspendNotSupported:
            failure = "this terminal cannot be lent to an editor; open the file in another one"
        if failure:
            screen.notify(failure, severity="error", markup=False)
        screen.refresh(layout=True)

    async def _in_this_terminal(self, opening: Opening) -> str:
        # batch_update: without it the screen writes into the suspended terminal's queue until that blocks.  And
        # nothing may escape the block: an exception would leave the screen suspended for good.
        with self._screen.app.batch_update(), self._screen.app.suspend():
            return await _run(opening)


async def _run(opening: Opening) -> str:
    """Run the editor to its end; what went wrong, or nothing."""
    program = opening.command[0]
    try:
        process = await asyncio.create_subprocess_exec(*opening.command)
        status = await process.wait()
    except OSError as error:
        return f"{program} did not start: {error.strerror}; set EDITOR to a program that is installed"
    return f"{program} ended with status {status}" if status else ""
