"""The user's own editor: the command that opens a file at a line, and where it runs.

Inside tmux a new pane, so that both are visible; elsewhere the same terminal.  The environment is an argument; nothing
here starts a process.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.errors import UsageError

_PLUS_LINE = frozenset(
    {"vi", "vim", "nvim", "gvim", "view", "nano", "emacs", "emacsclient", "kak", "joe", "micro", "ne"}
)
_COLON_LINE = frozenset({"hx", "helix", "subl", "zed"})
_COLUMNS_FOR_TWO = 140
_ROWS_FOR_TWO = 32
_IN_PANE = (
    '"$@"; status=$?; [ "$status" -eq 0 ] || '
    '{ printf "\\n%s exited with status %s; enter closes this pane " "$1" "$status"; read -r _; }'
)
_GOTO_LINE = frozenset({"code", "codium", "cursor", "windsurf"})


@dataclass(frozen=True, kw_only=True)
class EditorCommand:
    """The command to run; `takes_terminal` says whether the screen must be suspended until it ends."""

    command: tuple[str, ...]
    takes_terminal: bool


def editor_command(path: Path, *, line: int, columns: int, rows: int, environment: Mapping[str, str]) -> EditorCommand:
    """The command that opens `path` at `line` (from 1) in the editor of VISUAL or EDITOR, else vi.

    Inside tmux it gets a pane: beside the workbench if half of the `columns` suffices, below it if half of the `rows`
    does, else a window.  If the editor exits with an error, the pane stays until the user closes it.

    Raises:
        UsageError: the editor is not a valid command.
    """
    editor = environment.get("VISUAL") or environment.get("EDITOR") or "vi"
    words = _words(editor)
    command = (*words, *_at_line(Path(words[0]).name, path, line))
    if environment.get("TMUX"):
        place: tuple[str, ...] = ("new-window",)
        if columns >= _COLUMNS_FOR_TWO or rows >= _ROWS_FOR_TWO:
            place = ("split-window", "-h" if columns >= _COLUMNS_FOR_TWO else "-v")
        return EditorCommand(command=("tmux", *place, "sh", "-c", _IN_PANE, "sh", *command), takes_terminal=False)
    return EditorCommand(command=command, takes_terminal=True)


def _words(editor: str) -> list[str]:
    try:
        words = shlex.split(editor)
    except ValueError as error:
        raise UsageError(f"the editor {editor!r} is not a valid command: {error}; set EDITOR to a command") from error
    if not words:
        raise UsageError(f"the editor {editor!r} is not a valid command; set EDITOR to a command")
    return words


def _at_line(program: str, path: Path, line: int) -> tuple[str, ...]:
    if program in _PLUS_LINE:
        return (f"+{line}", str(path))
    if program in _COLON_LINE:
        return (f"{path}:{line}",)
    if program in _GOTO_LINE:
        return ("--goto", f"{path}:{line}")
    return (str(path),)
