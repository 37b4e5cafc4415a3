"""Command of the user's own editor."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from engine.errors import UsageError
from kgtui.files.external_editor import EditorCommand, editor_command
from kgtui.screens.workbench.editing import external_editor
from tests.guards import PATIENCE_S

KERNEL = Path("/k/my kernel.py")


@pytest.mark.parametrize(
    ("editor", "command"),
    [
        ("nvim", ("nvim", "+12", "/k/my kernel.py")),
        ("/usr/bin/vim -u NONE", ("/usr/bin/vim", "-u", "NONE", "+12", "/k/my kernel.py")),
        ("nano", ("nano", "+12", "/k/my kernel.py")),
        ("emacsclient -t", ("emacsclient", "-t", "+12", "/k/my kernel.py")),
        ("hx", ("hx", "/k/my kernel.py:12")),
        ("code --wait", ("code", "--wait", "--goto", "/k/my kernel.py:12")),
        ("mystery", ("mystery", "/k/my kernel.py")),
    ],
)
def test_editor_opens_at_line_where_supported(editor: str, command: tuple[str, ...]) -> None:
    found = editor_command(KERNEL, line=12, columns=200, rows=50, environment={"EDITOR": editor})
    assert found == EditorCommand(command=command, takes_terminal=True)


@pytest.mark.parametrize(
    ("editor", "message"),
    [
        ("vim '", 'the editor "vim \'" is not a valid command: No closing quotation; set EDITOR to a command'),
        (" ", "the editor ' ' is not a valid command; set EDITOR to a command"),
    ],
)
def test_invalid_editor_command_is_refused(editor: str, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        editor_command(KERNEL, line=1, columns=80, rows=24, environment={"EDITOR": editor})


async def test_missing_editor_command_is_reported(make_bench: Any) -> None:
    bench = make_bench(config='editor = "vim \'"')
    async with bench.app.run_test(notifications=True) as pilot:
        await bench.settled(pilot)
        await pilot.press("E")
        assert [note.message for note in bench.app._notifications] == [
            'the editor "vim \'" is not a valid command: No closing quotation; set EDITOR to a command'
        ]


def test_visual_precedes_editor_then_vi() -> None:
    both = {"EDITOR": "nano", "VISUAL": "emacs"}
    assert editor_command(KERNEL, line=1, columns=80, rows=24, environment=both).command[0] == "emacs"
    assert editor_command(KERNEL, line=1, columns=80, rows=24, environment={}).command[0] == "vi"


@pytest.mark.parametrize(
    ("columns", "rows", "place"),
    [
        (200, 24, ("split-window", "-h")),
        (120, 36, ("split-window", "-v")),
        (80, 24, ("new-window",)),  # half of it is too small for the workbench
    ],
)
def test_tmux_opens_editor_beside_if_space_allows(columns: int, rows: int, place: tuple[str, ...]) -> None:
    environment = {"EDITOR": "vim", "TMUX": "/tmp/tmux-0/default,1,0"}
    found = editor_command(KERNEL, line=12, columns=columns, rows=rows, environment=environment)
    assert found.command[: len(place) + 1] == ("tmux", *place)
    assert found.command[-3:] == ("vim", "+12", "/k/my kernel.py")
    assert not found.takes_terminal


def test_tmux_keeps_pane_of_failed_editor(tmp_path: Path) -> None:
    editor = tmp_path / "my editor"
    editor.write_text("#!/bin/sh\necho no such theme >&2\nexit 3\n")
    editor.chmod(0o755)
    environment = {"EDITOR": f"'{editor}'", "TMUX": "/tmp/tmux-0/default,1,0"}
    command = editor_command(KERNEL, line=1, columns=200, rows=50, environment=environment).command
    in_pane = command[command.index("sh") :]
    ended = subprocess.run(in_pane, input="\n", capture_output=True, text=True, timeout=PATIENCE_S)
    assert ended.stdout == f"\n{editor} exited with status 3; enter closes this pane "
    assert ended.stderr == "no such theme\n"


async def test_an_editor_that_fails_is_quoted(tmp_path: Path) -> None:
    editor = tmp_path / "tmux"
    editor.write_text("#!/bin/sh\necho no space for new pane >&2\nexit 1\n")
    editor.chmod(0o755)
    assert await external_editor._run(EditorCommand(command=(str(editor),), takes_terminal=False)) == (
        f"{editor} exited with status 1: no space for new pane"
    )
