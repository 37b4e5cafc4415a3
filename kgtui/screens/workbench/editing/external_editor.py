"""The user's own editor, started on the open file; saving there runs the kernel as usual."""

from __future__ import annotations

import asyncio
from functools import partial

from textual.app import SuspendNotSupported

from engine.errors import UsageError
from kgtui.background import in_background
from kgtui.files.external_editor import EditorCommand
from kgtui.screens.workbench.context import WorkbenchContext

_COMPLAINT_LINES = 4  # last lines of an editor's error stream that are shown


class ExternalEditor:
    """Opens the file in the user's editor, and returns to the screen."""

    def __init__(self, context: WorkbenchContext) -> None:
        self._context = context

    def action_editor(self) -> None:
        """Start the user's own editor; saving there runs the kernel as usual."""
        context = self._context
        try:
            command = context.host.editor_command(context.bench.path, line=context.source.line)
        except UsageError as error:
            context.notify(str(error), severity="error")
            return
        in_background(context.screen.app, partial(self._run_editor, command), group="editor")

    async def _run_editor(self, command: EditorCommand) -> None:
        context = self._context
        try:
            if command.takes_terminal:
                failure = await self._in_this_terminal(command)
            else:
                failure = await _run(command)
        except SuspendNotSupported:
            failure = "this terminal cannot run an editor; open the file in another one"
        if failure:
            context.notify(failure, severity="error")
        context.screen.refresh(layout=True)

    async def _in_this_terminal(self, command: EditorCommand) -> str:
        # Without batch_update the screen fills the queue of the suspended terminal until it blocks. `_run` must not
        # raise: an exception would leave the screen suspended.
        with self._context.screen.app.batch_update(), self._context.screen.app.suspend():
            return await _run(command)


async def _run(command: EditorCommand) -> str:
    """Run the editor until it exits; returns the error, or ""."""
    program = command.command[0]
    try:
        process = await asyncio.create_subprocess_exec(*command.command, stderr=asyncio.subprocess.PIPE)
        _, complaint = await process.communicate()
    except OSError as error:
        return f"{program} did not start: {error.strerror}; set EDITOR to a program that is installed"
    words = "; ".join(complaint.decode("utf-8", errors="replace").split("\n")[-_COMPLAINT_LINES:]).strip("; ")
    if not process.returncode:
        return ""
    return f"{program} exited with status {process.returncode}{f': {words}' if words else ''}"
