"""What the terminal is told beside the picture, and where a copied text goes."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest
from textual.events import AppBlur

from kgtui.app.clipboard import CopyMethod, method_of, put_on_clipboard
from kgtui.app.notifications import notice, preserved_title, title_sequence
from kgtui.settings.schema import Notify


@pytest.mark.parametrize(
    ("how", "in_tmux", "sequence"),
    [
        (Notify.OFF, False, ""),
        (Notify.BELL, False, "\a"),
        (Notify.BELL, True, "\a"),
        (Notify.OSC9, False, "\x1b]9;passed, softmax\a"),
        (Notify.OSC777, False, "\x1b]777;notify;kgtui;passed, softmax\a"),
        (Notify.OSC9, True, "\x1bPtmux;\x1b\x1b]9;passed, softmax\a\x1b\\"),
    ],
)
def test_notification_has_terminal_sequence(how: Notify, in_tmux: bool, sequence: str) -> None:
    assert notice(how, "passed; soft\x1bmax", in_tmux=in_tmux) == sequence


def test_title_holds_no_control_sequence() -> None:
    assert title_sequence("a\x1b]52;c;x\ab\n") == "\x1b]2;a]52;c;xb\a"


def test_title_is_restored_after_error() -> None:
    terminal = io.StringIO()
    with pytest.raises(ValueError, match="a fault"), preserved_title(terminal):
        raise ValueError("a fault")
    assert terminal.getvalue() == "\x1b[22;2t\x1b[23;2t"


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What an application without a terminal would have written to one."""
    reported: list[str] = []

    def write(notifications: Any, sequence: str) -> bool:
        reported.append(sequence)
        return True

    monkeypatch.setattr("kgtui.app.notifications.Notifications._write", write)
    return reported


@pytest.mark.parametrize(
    ("config", "is_watched", "reported"),
    [
        ("notify = 'bell'\nnotify_after_s = 0", False, 1),
        ("notify = 'bell'\nnotify_after_s = 0", True, 0),
        ("notify = 'bell'\nnotify_after_s = 5", False, 0),
    ],
)
async def test_only_long_run_notifies_unfocused_terminal(
    make_bench: Any, written: list[str], config: str, is_watched: bool, reported: int
) -> None:
    bench = make_bench(config=config)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        written.clear()
        if not is_watched:
            bench.app.post_message(AppBlur())
            await bench.until(pilot, lambda: not bench.app.app_focus)
        bench.watcher.save(b"another\n")
        await bench.until(pilot, lambda: len(bench.engine.evaluated) == 2)
        await bench.settled(pilot)
        assert written.count("\a") == reported


async def test_title_states_state_and_operator(make_bench: Any, written: list[str]) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        assert written[-1] == "\x1b]2;✔ passed aten::softmax\a"


@pytest.mark.parametrize(
    ("environment", "method"),
    [
        ({"TERM": "xterm"}, CopyMethod.TERMINAL),
        ({"TMUX": "/tmp/tmux,1,0", "TERM": "screen"}, CopyMethod.TMUX),
        ({"STY": "1.pts"}, CopyMethod.FILE),
        ({"TERM": "linux"}, CopyMethod.FILE),
        ({"TERM_PROGRAM": "Apple_Terminal"}, CopyMethod.FILE),
    ],
)
def test_copy_method_follows_environment(environment: dict[str, str], method: CopyMethod) -> None:
    assert method_of(environment) is method


async def test_text_is_written_to_file_without_clipboard(tmp_path: Path) -> None:
    said = await put_on_clipboard("x = 1\n", environment={"STY": "1"}, folder=tmp_path / "data")
    file = tmp_path / "data" / "copied.txt"
    assert said == f"programs cannot write to the clipboard of this terminal; the text is in {file}"
    assert file.read_text() == "x = 1\n"


@pytest.fixture
def tmux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program called tmux that writes down what it was given."""
    program = tmp_path / "bin" / "tmux"
    program.parent.mkdir()
    program.write_text(
        f"#!{sys.executable}\nimport sys, pathlib\n"
        f"pathlib.Path({str(tmp_path / 'given')!r}).write_text(' '.join(sys.argv[1:]) + '|' + sys.stdin.read())\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    return tmp_path / "given"


async def test_tmux_gets_text_by_its_own_command(tmux: Path, tmp_path: Path) -> None:
    said = await put_on_clipboard("x = 1\n", environment={"TMUX": "/tmp/tmux,1,0"}, folder=tmp_path)
    assert said == "also in tmux's buffer: its prefix, then ] pastes it"
    assert tmux.read_text() == "load-buffer -w -|x = 1\n"


async def test_text_is_written_to_file_without_tmux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    said = await put_on_clipboard("x = 1\n", environment={"TMUX": "/tmp/tmux,1,0"}, folder=tmp_path)
    assert said == f"tmux did not start: No such file or directory; the text is in {tmp_path / 'copied.txt'}"


async def test_copied_text_that_is_not_unicode_is_replaced(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test():
        bench.app.copy_to_clipboard("a\udc80b")
        assert bench.app.clipboard == "a?b"
