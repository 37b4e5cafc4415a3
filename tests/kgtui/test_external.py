"""How the user's own editor is started."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from engine.errors import UsageError
from kgtui.external import Opening, opening

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
def test_the_editor_opens_at_the_line_where_it_can(editor: str, command: tuple[str, ...]) -> None:
    found = opening(KERNEL, line=12, columns=200, environment={"EDITOR": editor})
    assert found == Opening(command=command, takes_terminal=True)


@pytest.mark.parametrize(
    ("editor", "message"),
    [
        ("vim '", 'the editor is "vim \'", which is no command: No closing quotation; set EDITOR to one'),
        (" ", "the editor is ' ', which is no command; set EDITOR to one"),
    ],
)
def test_what_is_no_command_is_refused(editor: str, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        opening(KERNEL, line=1, columns=80, environment={"EDITOR": editor})


async def test_an_editor_that_is_no_command_is_told_and_ends_nothing(make_bench: Any) -> None:
    bench = make_bench(config='editor = "vim \'"')
    async with bench.app.run_test(notifications=True) as pilot:
        await bench.settled(pilot)
        await pilot.press("E")
        assert [note.message for note in bench.app._notifications] == [
            'the editor is "vim \'", which is no command: No closing quotation; set EDITOR to one'
        ]


def test_visual_goes_before_editor_and_vi_is_the_last_resort() -> None:
    assert opening(KERNEL, line=1, columns=80, environment={"EDITOR": "nano", "VISUAL": "emacs"}).command[0] == "emacs"
    assert opening(KERNEL, line=1, columns=80, environment={}).command[0] == "vi"


def test_inside_a_narrow_tmux_the_editor_gets_a_window_of_its_own() -> None:
    found = opening(KERNEL, line=12, columns=80, environment={"EDITOR": "vim", "TMUX": "/tmp/tmux-0/default,1,0"})
    assert found == Opening(command=("tmux", "new-window", "vim +12 '/k/my kernel.py'"), takes_terminal=False)


def test_inside_a_wide_tmux_the_editor_gets_a_pane_beside_this_one() -> None:
    found = opening(KERNEL, line=12, columns=200, environment={"EDITOR": "vim", "TMUX": "/tmp/tmux-0/default,1,0"})
    assert found == Opening(
        command=("tmux", "split-window", "-h", "vim +12 '/k/my kernel.py'"), takes_terminal=False
    )  # fmt: skip
