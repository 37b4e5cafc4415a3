"""The file on the workbench: editing it, writing it, and never losing either side of a conflict."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported
from textual.timer import Timer

from engine.errors import UsageError
from engine.model import Problem
from kgtui.background import in_background
from kgtui.files import disk
from kgtui.files.external_editor import Opening
from kgtui.files.unsaved import Leftover
from kgtui.ports.file_events import TroubleKind, WatchTrouble
from kgtui.state.workbench.status import Mode
from kgtui.widgets.controls.ask import Answer, Ask

if TYPE_CHECKING:
    from kgtui.screens.workbench.screen import WorkbenchScreen

_OVERTAKEN = "overtaken"
_LEAVE = "leave"
_SWITCH = "switch"
_OVERWRITE = "overwrite"
_LEFTOVER = "leftover"
_KEEP_EVERY_S = 0.5  # what is typed meanwhile is what a kill loses
_CHANGED = (Answer(key="w", label="write, keep both"), Answer(key="r", label="take the file's"))
_LEFT = (Answer(key="r", label="take it up"), Answer(key="d", label="discard it"))
_COMPLAINT_LINES = 4  # of what an editor wrote on its error stream, the last ones
_UNSAVED = (Answer(key="s", label="save first"), Answer(key="d", label="discard the text"))


class FileKeeper:
    """The part of the workbench that changes files; one for each workbench screen."""

    def __init__(self, screen: WorkbenchScreen) -> None:
        self._screen = screen
        self._next_problem: Problem | None = None
        self._settled: bytes | None = None
        self._timer: Timer | None = None
        self._leftover: Leftover | None = None

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
        """Write the text, then judge it; False when it could not be written, and the text stays.

        Where another program wrote the file since it was read, the user is asked first, and both texts are kept.
        """
        screen = self._screen
        if not screen.bench.unsaved:
            screen.notify("nothing to save: the file holds this text already", markup=False)
            return True
        content, path = screen.source.content, screen.bench.path
        rival = self._rival(content)
        if rival is not None and rival != self._settled:
            screen.bench = replace(screen.bench, overtaking=rival)
            screen.query_one(Ask).ask(_OVERWRITE, f"{path.name} changed on disk.", _CHANGED)
            return False
        try:
            beside = _kept_beside(path, rival) if rival is not None else None
            disk.write(path, content)
        except UsageError as error:
            screen.notify(str(error), severity="error", markup=False)
            screen.bench = replace(screen.bench, notice=str(error))
            screen.draw()
            return False
        screen.bench = replace(screen.bench, saved=content, unsaved=False, overtaking=None, notice="")
        screen.source.accept()
        self._forget()
        if beside is not None:
            shown = screen.host.kernels.shown(beside)
            screen.notify(f"what {path.name} held on disk is now in {shown}", markup=False)
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
            case "overtaken" | "overwrite", "r":
                self._take(screen.bench.overtaking or screen.bench.saved)
            case "overtaken", "k":
                self._settled = screen.bench.overtaking
                screen.bench = replace(screen.bench, overtaking=None)
            case "overwrite", "w":
                self._settled = screen.bench.overtaking
                self.save()
            case "leftover", "r":
                self._take_up()
            case "leftover", "d":
                self._discard_leftover()
            case "leave" | "switch", "s":
                if self.save():
                    self._go(subject)
            case "leave" | "switch", "d":
                screen.source.load(screen.bench.saved)
                screen.bench = replace(screen.bench, unsaved=False)
                self._forget()
                self._go(subject)
        screen.draw()

    def typed(self) -> None:
        """The text is another: keep it against a kill soon, or forget what was kept once the file holds it."""
        screen = self._screen
        if screen.source.content == screen.source.read:
            self._forget()
        elif self._timer is None and screen.bench.mode is Mode.EDIT:
            self._timer = screen.set_timer(_KEEP_EVERY_S, self._keep)

    def offer_leftover(self) -> None:
        """Ask what becomes of the text of this file that a program left unsaved when it ended."""
        screen = self._screen
        self._settled = None
        found = screen.host.unsaved_texts.left_over(screen.bench.path)
        if found is None or screen.bench.why_not_editable:
            return
        self._leftover = found
        if found.text == screen.source.editor.text:
            self._discard_leftover()
            return
        question = f"{screen.bench.path.name} has unsaved text from before."
        screen.query_one(Ask).ask(_LEFTOVER, question, _LEFT)

    def _take_up(self) -> None:
        screen, found = self._screen, self._leftover
        if found is not None:
            screen.set_mode(Mode.EDIT)
            screen.source.editor.rewrite(found.text)
            self._keep()
            self._discard_leftover()

    def _discard_leftover(self) -> None:
        if self._leftover is not None:
            self._screen.host.unsaved_texts.discard(self._leftover)
        self._leftover = None

    def _keep(self) -> None:
        self._timer = None
        screen = self._screen
        try:
            screen.host.unsaved_texts.keep(screen.bench.path, screen.source.editor.text)
        except OSError as error:
            words = f"unsaved text is not kept against a crash: {error.strerror}; ctrl+s saves it"
            screen.bench = replace(screen.bench, notice=words)
            screen.draw()

    def _forget(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self._screen.host.unsaved_texts.forget(self._screen.bench.path)

    def _rival(self, content: bytes) -> bytes | None:
        """What the file holds by now, where that is neither what was read nor what is to be written."""
        try:
            held = disk.read(self._screen.bench.path)
        except UsageError:
            return None  # gone: it is made again; or not readable: writing it says why
        return held if held not in (self._screen.source.read, content) else None

    def _take(self, content: bytes) -> None:
        """Show what the file holds instead, and judge that where it was not yet."""
        screen = self._screen
        is_new = content != screen.bench.saved
        screen.bench = replace(screen.bench, saved=content, overtaking=None, unsaved=False)
        screen.source.load(content)
        self._forget()
        if is_new and not screen.bench.paused:
            screen.judge()

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


def _kept_beside(path: Path, content: bytes) -> Path:
    """The new file beside `path` that holds this content now.

    Raises:
        UsageError: it cannot be written.
    """
    place, again = path.with_name(f"{path.stem}_on_disk{path.suffix}"), 2
    try:
        while not disk.write_new(place, content):
            place, again = path.with_name(f"{path.stem}_on_disk_{again}{path.suffix}"), again + 1
    except OSError as error:
        raise UsageError(f"{path} was not saved: {place.name} beside it cannot be written: {error.strerror}") from error
    return place


async def _run(opening: Opening) -> str:
    """Run the editor to its end; what went wrong, or nothing."""
    program = opening.command[0]
    try:
        process = await asyncio.create_subprocess_exec(*opening.command, stderr=asyncio.subprocess.PIPE)
        _, complaint = await process.communicate()
    except OSError as error:
        return f"{program} did not start: {error.strerror}; set EDITOR to a program that is installed"
    words = "; ".join(complaint.decode("utf-8", errors="replace").split("\n")[-_COMPLAINT_LINES:]).strip("; ")
    if not process.returncode:
        return ""
    return f"{program} ended with status {process.returncode}{f': {words}' if words else ''}"
