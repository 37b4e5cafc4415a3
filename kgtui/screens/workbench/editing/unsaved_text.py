"""Unsaved text of the editor: stored while it is typed, and offered at the next start."""

from __future__ import annotations

from dataclasses import replace

from textual.timer import Timer

from kgtui.files.unsaved import RecoverableText
from kgtui.screens.workbench.context import WorkbenchContext
from kgtui.screens.workbench.run_history import PastRunViewer
from kgtui.state.workbench.status import Mode
from kgtui.widgets.controls.ask import Answer, Ask

_RECOVERABLE = "recoverable"
_KEEP_EVERY_S = 0.5  # text typed within this time is lost if the process is killed
_LEFT = (Answer(key="r", label="restore it"), Answer(key="d", label="discard it"))


class UnsavedText:
    """Stores unsaved text of the open file for recovery."""

    def __init__(self, context: WorkbenchContext, *, history: PastRunViewer) -> None:
        self._context = context
        self._history = history
        self._timer: Timer | None = None
        self._recoverable: RecoverableText | None = None

    def typed(self) -> None:
        """Schedule storing the changed text, or delete the note if the file has this text."""
        context = self._context
        if context.source.content == context.source.read:
            self.forget()
        elif self._timer is None and context.bench.mode is Mode.EDIT:
            self._timer = context.screen.set_timer(_KEEP_EVERY_S, self._keep)

    def offer(self) -> None:
        """Ask about unsaved text of this file from an ended process."""
        context = self._context
        found = context.host.unsaved_texts.recoverable(context.bench.path)
        if found is None or context.bench.why_not_editable:
            return
        self._recoverable = found
        if found.text == context.source.editor.text:
            self._discard()
            return
        question = f"{context.bench.path.name} has unsaved text from before."
        context.screen.query_one(Ask).ask(_RECOVERABLE, question, _LEFT, answered=self._answered, waits=True)

    def _answered(self, key: str) -> None:
        """Carry out the user's choice."""
        self._context.source.take_keys()
        if key == "r":
            self._take_up()
        else:
            self._discard()
        self._context.draw()

    def _take_up(self) -> None:
        context, found = self._context, self._recoverable
        if found is not None:
            self._history.leave()  # its text is not the file's, and would take this one along when it is left
            context.set_mode(Mode.EDIT)
            context.draw()
            context.source.editor.rewrite(found.text)
            self._keep()
            self._discard()

    def _discard(self) -> None:
        if self._recoverable is not None:
            self._context.host.unsaved_texts.discard(self._recoverable)
        self._recoverable = None

    def _keep(self) -> None:
        self._timer = None
        context = self._context
        try:
            context.host.unsaved_texts.keep(context.bench.path, context.source.editor.text)
        except OSError as error:
            words = f"unsaved text is not protected against a crash: {error.strerror}; ctrl+s saves it"
            context.bench = replace(context.bench, notice=words)
            context.draw()

    def forget(self) -> None:
        """Delete the note of this file, which has the shown text."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self._context.host.unsaved_texts.forget(self._context.bench.path)
