"""The terminal by the variables of its environment."""

from __future__ import annotations

import pytest

from kgtui.cli.doctor.terminal import terminal_of


@pytest.mark.parametrize(
    ("environment", "colours"),
    [
        ({"TERM": "xterm"}, "16"),
        ({"TERM": "xterm-256color"}, "256"),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, "16 million"),
        ({"COLORTERM": "truecolor", "NO_COLOR": "1"}, "none (NO_COLOR is set)"),
    ],
)
def test_colours_are_read_from_environment(environment: dict[str, str], colours: str) -> None:
    assert terminal_of(environment, encoding="utf-8", size=(80, 24)).colours == colours


def test_terminal_inside_of_others_names_them() -> None:
    terminal = terminal_of({"TMUX": "/tmp/tmux", "SSH_CONNECTION": "1"}, encoding="utf-8", size=None)
    assert (terminal.inside, terminal.is_terminal, terminal.columns) == (("tmux", "ssh"), False, None)
