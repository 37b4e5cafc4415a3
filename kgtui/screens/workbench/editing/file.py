"""The file on the workbench: editing it, writing it, and keeping both sides of a conflict."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from engine.errors import UsageError
from engine.problem_source import ProblemDescription
from kgtui.files import disk
from kgtui.files.new_file import create_numbered
from kgtui.ports.file_events import TroubleKind, WatchTrouble
from kgtui.screens.workbench.context import WorkbenchContext
from kgtui.screens.workbench.editing.unsaved_text import UnsavedText
from kgtui.screens.workbench.runs import RunController
from kgtui.state.workbench.candidate import as_file
from kgtui.state.workbench.status import Mode
from kgtui.widgets.controls.ask import Answer, Ask
from kgtui.widgets.text.typed_keys import after_typed

_OVERTAKEN = "overtaken"
_LEAVE = "leave"
_SWITCH = "switch"
_OVERWRITE = "overwrite"
_LOAD = Answer(key="l", label="load the file")  # not "r", which runs the file where letters are commands
_CHANGED = (Answer(key="w", label="write, keep both"), _LOAD)
_UNSAVED = (Answer(key="s", label="save first"), Answer(key="d", label="discard the text"))


class FileKeeper:
    """Changes files; one for each workbench screen."""

    def __init__(self, context: WorkbenchContext, *, runs: RunController, unsaved: UnsavedText) -> None:
        self._context = context
        self._runs = runs
        self._unsaved = unsaved
        self._next_problem: ProblemDescription | None = None
        self._settled: bytes | None = None

    def opened(self) -> None:
        """Reset the state of the previous file for a newly opened one."""
        self._settled = None
        self._unsaved.offer()

    @property
    def has_unsaved(self) -> bool:
        """Whether the editor has unsaved text, also a letter typed just now."""
        bench = self._context.bench
        return bench.unsaved or (bench.old is None and self._context.source.is_changed)

    def saved(self, content: bytes, *, siblings_changed: bool = False) -> None:
        """Show and run the new content of the file, or of a file that it imports.
        If the editor has unsaved text, both are kept: the file's new content is run, and the user chooses.
        """
        context = self._context
        if content == context.bench.saved and not siblings_changed:
            return
        named_before = context.bench.named
        context.bench = replace(context.bench, saved=content, notice="")
        if self.has_unsaved:
            context.bench = replace(context.bench, content_on_disk=content, unsaved=True)
            self._tell_overtaken()
        elif context.bench.old is None:
            context.source.load(content)
        self._runs.request_saved(named_before=named_before, again=siblings_changed)

    def _tell_overtaken(self) -> None:
        """Ask which text to keep, without taking the keys; a question that the user is at stays."""
        ask = self._context.screen.query_one(Ask)
        if not ask.subject or ask.waits:
            question = f"{self._context.bench.path.name} also changed on disk."
            answered = partial(self._answered, _OVERTAKEN)
            ask.ask(_OVERTAKEN, question, (_LOAD, Answer(key="k", label="keep mine")), answered=answered, waits=True)

    def watch_troubled(self, trouble: WatchTrouble) -> None:
        """Show a problem of the watcher as long as it lasts, whatever runs of the last content report."""
        context = self._context
        if trouble.kind is TroubleKind.POLLING:
            context.bench = replace(context.bench, notice=trouble.message)
        else:
            message = "" if trouble.kind is TroubleKind.BACK else trouble.message
            context.bench = replace(context.bench, trouble=message)
        context.draw()

    def action_edit(self) -> None:
        """Enter the edit mode; a generated candidate replaces the file's text in the editor."""
        context = self._context
        if context.bench.shown.candidate:
            self._take_candidate(edits=True)
        elif context.bench.old is not None:
            context.notify("this is a past run; esc returns to the file")
        elif why := context.bench.why_not_editable:
            context.notify(f"{context.bench.path.name} {why}")
        else:
            context.set_mode(Mode.EDIT)
            context.draw()

    def end_editing(self) -> None:
        """Return to the watch mode, with the letters typed before."""

        def watch() -> None:
            self._context.set_mode(Mode.WATCH)
            self._context.draw()

        after_typed(self._context.screen.focused, watch)

    def action_redo(self) -> None:
        """Redo what was undone; the editor has the same key of its own, so this is for a key that the user has set."""
        context = self._context
        if context.bench.mode is not Mode.EDIT:
            context.notify("nothing to redo: the file is not being edited")
        elif context.in_source:
            context.source.editor.action_redo()

    def action_save(self) -> None:
        """Write the file and run it."""
        after_typed(self._context.screen.focused, self._save_typed)

    def _save_typed(self) -> None:
        self.save()

    def save(self) -> bool:
        """Write the text, then run it; False if it could not be written, and the text stays.
        If another program wrote the file since it was read, a question comes first, and both texts are kept.
        """
        context = self._context
        content, path = context.source.content, context.bench.path
        if not self.has_unsaved and path.exists():
            context.notify("nothing to save: the file already has this text")
            return True
        rival = self._rival(content)
        if rival is not None and rival != self._settled:
            context.bench = replace(context.bench, content_on_disk=rival)
            self._ask(_OVERWRITE, f"{path.name} changed on disk.", _CHANGED)
            return False
        try:
            beside = _kept_beside(path, rival) if rival is not None else None
            disk.write(path, content)
        except UsageError as error:
            words = f"{error}; the text is still here"
            context.notify(words, severity="error")
            context.bench = replace(context.bench, notice=words)
            context.draw()
            return False
        named_before = context.bench.named
        context.bench = replace(context.bench, saved=content, unsaved=False, content_on_disk=None, notice="")
        context.source.accept()
        self._unsaved.forget()
        if beside is not None:
            shown = context.host.kernels.shown(beside)
            context.notify(f"the content of {path.name} on disk was saved as {shown}")
        if (ask := context.screen.query_one(Ask)).subject:  # the question was about the text now saved
            ask.close()
            context.source.take_keys()
        self._runs.request_saved(named_before=named_before)
        return True

    def action_keep(self) -> None:
        """Write the shown generated candidate to the file, and run it."""
        name = self._context.bench.shown.candidate
        if not name:
            self._context.notify("no generated candidate is shown; < and > step through them")
        elif self._take_candidate(edits=False) and self.save():
            self._context.notify(f"{name} is now in {self._context.bench.path.name}")

    def _take_candidate(self, *, edits: bool) -> bool:
        """Replace the editor's text by the shown candidate, unsaved; False if it has no code yet."""
        context = self._context
        if not context.bench.view.started and not context.bench.shown.has_code:
            context.notify("this answer has no code; R sends it back with a remark", severity="warning")
            return False
        if context.bench.why_not_editable:
            context.notify(f"{context.bench.path.name} {context.bench.why_not_editable}")
            return False
        text = as_file(context.source.editor.text, before=disk.shown_text(context.bench.saved))
        context.bench = replace(context.bench, old=None)
        context.source.load(context.bench.saved)
        context.set_mode(Mode.EDIT if edits else Mode.WATCH)
        context.source.editor.rewrite(text)
        context.bench = replace(context.bench, unsaved=context.source.content != context.bench.saved)
        context.draw()
        return True

    def ask_to_leave(self) -> None:
        """Ask about unsaved text before the program ends."""
        question = f"{self._context.bench.path.name} has unsaved text."
        self._ask(_LEAVE, question, _UNSAVED)

    @property
    def asked_to_leave(self) -> bool:
        """Whether that question is open."""
        return self._context.screen.query_one(Ask).subject == _LEAVE

    def leave_for(self, problem: ProblemDescription) -> None:
        """Open another operator's file, after the question about unsaved text."""
        self._next_problem = problem
        if self.has_unsaved:
            question = f"{self._context.bench.path.name} has unsaved text."
            self._ask(_SWITCH, question, _UNSAVED)
        else:
            self._switch()

    def step_back(self) -> None:
        """Close the question without a change."""
        self._answered("", "escape")

    def _ask(self, subject: str, question: str, answers: tuple[Answer, ...]) -> None:
        self._context.screen.query_one(Ask).ask(subject, question, answers, answered=partial(self._answered, subject))

    def _answered(self, subject: str, key: str) -> None:
        """Carry out the user's choice; escape changes nothing."""
        context = self._context
        context.screen.query_one(Ask).close()
        context.source.take_keys()
        match subject, key:
            case _, "escape":
                pass
            case "overtaken" | "overwrite", "l":
                self._take(context.bench.content_on_disk or context.bench.saved)
            case "overtaken", "k":
                self._settled = context.bench.content_on_disk
                context.bench = replace(context.bench, content_on_disk=None)
            case "overwrite", "w":
                self._settled = context.bench.content_on_disk
                self.save()
            case "leave" | "switch", "s":
                if self.save():
                    self._go(subject)
            case "leave" | "switch", "d":
                context.source.load(context.bench.saved)
                context.bench = replace(context.bench, unsaved=False)
                self._unsaved.forget()
                self._go(subject)
        context.draw()

    def _rival(self, content: bytes) -> bytes | None:
        """The file's content on disk, if it differs from the read and from the new content; else None."""
        try:
            held = disk.read(self._context.bench.path)
        except UsageError:
            return None  # missing: it is created; unreadable: writing it reports the reason
        return held if held not in (self._context.source.read, content) else None

    def _take(self, content: bytes) -> None:
        """Show the file's content instead, which undo reverts, and run it if it was not run yet."""
        context = self._context
        is_new, named_before = content != context.bench.saved, context.bench.named
        context.bench = replace(context.bench, saved=content, content_on_disk=None, unsaved=False)
        context.source.replace_text(content)
        self._unsaved.forget()
        if is_new:
            self._runs.request_saved(named_before=named_before)

    def _go(self, subject: str) -> None:
        if subject == _LEAVE:
            self._context.screen.app.exit()
        else:
            self._switch()

    def _switch(self) -> None:
        context, problem = self._context, self._next_problem
        if problem is None:
            return
        path = context.host.kernels.path_of(problem)
        if not path.exists() and context.host.kernels.has_sample(problem):
            try:
                path = context.host.kernels.copy_sample(problem)
            except UsageError as error:
                context.notify(str(error), severity="error")
                return
        if path.exists():
            context.host.open_file(problem, path)
        else:
            context.notify(
                f"{context.host.kernels.shown(path)} does not exist yet; ctrl+o, then n makes it from a template"
            )


def _kept_beside(path: Path, content: bytes) -> Path:
    """Write this content to a new file beside `path`; returns its path.

    Raises:
        UsageError: it cannot be written.
    """
    beside = path.with_name(f"{path.stem}_on_disk{path.suffix}")
    try:
        return create_numbered(beside, content)
    except OSError as error:
        words = f"{path} was not saved: {beside.name} beside it cannot be written: {error.strerror}"
        raise UsageError(words) from error
