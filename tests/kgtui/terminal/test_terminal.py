"""The application as a terminal meets it: what is painted, that nothing else is written, and how it is left."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SIZES = [(80, 24), (120, 36)]
Starter = Callable[..., Any]
JUDGED = "right on 8 of 8 cases"
QUIT = "\x11"  # ctrl+q
SUSPEND = "\x1a"  # ctrl+z
NOISY = """
import os, sys, warnings

print("STRAY print")
print("STRAY error", file=sys.stderr)
os.write(1, b"STRAY of descriptor one\\n")
os.write(2, b"STRAY of descriptor two\\n")
os.system("echo STRAY of a child; echo STRAY of a child >&2")
warnings.warn("STRAY warning")
"""


def is_settled(screen: Any) -> bool:
    """Whether all that the run of the doubles says is drawn."""
    return JUDGED in screen.text and "IR(1)" in screen.text and "128x127 f16  ✔ pass" in screen.text


def as_before(program: Any) -> bool:
    """Whether the terminal is as it was before the program was started; says what is not."""
    screen = program.screen
    assert (screen.outside, screen.title, program.keeps_settings) == ("", "a shell", True)
    return bool(screen.restored)


@pytest.mark.parametrize(("columns", "rows"), SIZES)
def test_the_first_paint_fills_the_terminal(start_application: Starter, columns: int, rows: int) -> None:
    program = start_application(columns=columns, rows=rows)
    program.until_text(JUDGED)
    lines = program.screen.lines
    assert [line for line in lines if "def softmax_kernel" in line] != []
    assert lines[0].endswith("WATCH")
    assert lines[-1].startswith(" r run")
    assert max(map(len, lines)) <= columns


@pytest.mark.parametrize(("columns", "rows"), SIZES)
def test_a_key_changes_the_screen(start_application: Starter, columns: int, rows: int) -> None:
    program = start_application(columns=columns, rows=rows)
    program.until_text(JUDGED)
    program.press("6")
    program.until_text("loaded [BLOCK] with 形状 🚀")


def test_only_known_sequences_are_written_without_scrolling(start_application: Starter) -> None:
    program = start_application()
    program.until_text(JUDGED)
    program.press("6\t12345?")
    program.until_text("run the saved file again")
    program.press("\x1b")
    program.until_text(JUDGED)
    program.press(QUIT)
    assert program.exit_status() == 0
    assert (program.screen.unknown, program.screen.scrolled) == ([], 0)


def test_own_process_output_does_not_reach_terminal(start_application: Starter) -> None:
    program = start_application()
    program.until_text(JUDGED)
    program.press(QUIT)
    program.exit_status()
    assert b"STRAY" not in program.screen.raw
    assert as_before(program)


@pytest.mark.slow
def test_candidate_and_library_output_is_only_in_log(run_on_terminal: Starter, tmp_path: Path) -> None:
    sample = Path(__file__).parents[3] / "kgtui" / "samples" / "softmax.py"
    (tmp_path / "noisy.py").write_text(sample.read_text() + NOISY)
    program = run_on_terminal("-m", "kgtui", "open", "noisy.py", "--op", "softmax", columns=120, rows=36)
    program.until_text("flagged")
    assert b"STRAY" not in program.screen.raw
    program.press("6")
    program.until_text("STRAY print")
    program.press(QUIT)
    assert program.exit_status() == 0
    assert (program.screen.unknown, program.screen.scrolled) == ([], 0)
    assert as_before(program)


# How the terminal is left


def test_quitting_restores_the_terminal(start_application: Starter) -> None:
    program = start_application()
    program.until_text(JUDGED)
    assert not program.screen.restored
    program.press(QUIT)
    assert program.exit_status() == 0
    assert as_before(program)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signal_ends_app_and_restores_terminal(start_application: Starter, number: signal.Signals) -> None:
    program = start_application()
    program.until_text(JUDGED)
    program.signal(number)
    assert program.exit_status() == 128 + number
    assert as_before(program)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signal_before_first_paint_restores_terminal(start_application: Starter, number: signal.Signals) -> None:
    program = start_application()
    program.until(lambda screen: 1049 in screen.modes)
    program.signal(number)
    assert program.exit_status() == 128 + number
    assert as_before(program)


def test_quit_key_before_first_paint_restores_terminal(start_application: Starter) -> None:
    program = start_application()
    # Only then it gets the key: before, the terminal itself takes ctrl+q for a sign to go on writing.
    program.until(lambda screen: 1049 in screen.modes and not program.keeps_settings)
    program.press(QUIT)
    assert program.exit_status() == 0
    assert as_before(program)


def test_app_ends_when_terminal_is_removed(start_application: Starter) -> None:
    program = start_application()
    program.until_text(JUDGED)
    program.hang_up()
    assert program.exit_status() > 0


def test_title_states_verdict_while_running(start_application: Starter) -> None:
    program = start_application()
    program.until(lambda screen: screen.title == "✔ passed aten::softmax")
    program.press(QUIT)
    assert program.exit_status() == 0
    assert as_before(program)


@pytest.mark.parametrize("seam", ["catalogue", "watcher"])
def test_internal_error_is_reported_on_restored_terminal(start_application: Starter, seam: str) -> None:
    program = start_application(seam)
    assert program.exit_status() == 3
    assert (program.screen.restored, program.keeps_settings) == (True, True)
    assert f"RuntimeError: broken [on] purpose: {seam}" in program.screen.outside


def edited(program: Any) -> None:
    """Type what is not saved."""
    program.until_text(JUDGED)
    program.press("e")
    program.until_text("EDIT")
    program.press("# mine ")
    program.until_text("# mine import torch")


def test_internal_error_has_five_lines_and_rescues_text(start_application: Starter, tmp_path: Path) -> None:
    program = start_application(columns=200)
    edited(program)
    (tmp_path / "break").touch()
    assert program.exit_status() == 3
    assert (program.screen.restored, program.keeps_settings) == (True, True)
    home = tmp_path / "kept"
    first, *reported = [line.strip() for line in program.screen.outside.splitlines() if line.strip()]
    assert first.startswith(
        "kgtui: the workbench failed: RuntimeError: broken [on] purpose: 31 signs (application.py, "
    )
    assert reported == [
        f"runs   finished runs are saved in {home}/sessions.db",
        f"text   the unsaved text of {tmp_path}/softmax.py is in {home}/rescued/softmax.py",
        f"trace  {home}/rescued/fault.txt",
        "next   start kgtui again; if it fails again, include the trace in a report",
    ]
    source = (tmp_path / "softmax.py").read_bytes()
    assert (home / "rescued" / "softmax.py").read_bytes() == b"# mine " + source
    trace = (home / "rescued" / "fault.txt").read_text()
    assert "RuntimeError: broken [on] purpose: 31 signs" in trace
    assert "# mine" not in trace


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signal_rescues_unsaved_text_to_file(
    start_application: Starter, tmp_path: Path, number: signal.Signals
) -> None:
    program = start_application(columns=200)
    edited(program)
    program.signal(number)
    assert program.exit_status() == 128 + number
    rescued = tmp_path / "kept" / "rescued" / "softmax.py"
    assert rescued.read_bytes().startswith(b"# mine import torch")
    assert f"kgtui: the unsaved text of {tmp_path}/softmax.py is in {rescued}" in program.screen.outside


def test_removed_terminal_loses_no_unsaved_text(start_application: Starter, tmp_path: Path) -> None:
    program = start_application()
    edited(program)
    program.hang_up()
    assert program.exit_status() > 0
    assert (tmp_path / "kept" / "rescued" / "softmax.py").read_bytes().startswith(b"# mine import torch")


def test_quitting_by_key_rescues_nothing(start_application: Starter, tmp_path: Path) -> None:
    program = start_application()
    program.until_text(JUDGED)
    program.press(QUIT)
    assert program.exit_status() == 0
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("seam", ["engine", "store"])
def test_background_error_is_reported_on_screen(start_application: Starter, seam: str) -> None:
    program = start_application(seam)
    program.until_text(f"RuntimeError: broken [on] purpose: {seam}")
    program.press(QUIT)
    assert program.exit_status() == 0
    assert as_before(program)


def test_stopped_by_shell_restores_and_redraws_terminal(
    start_application: Starter,
) -> None:
    program = start_application()
    program.until(is_settled)
    shown = program.screen.text
    program.signal(signal.SIGTSTP)
    program.until_stopped()
    assert (program.screen.restored, program.keeps_settings) == (True, True)
    program.signal(signal.SIGCONT)
    program.until(lambda screen: screen.text == shown)
    program.press(QUIT)
    assert program.exit_status() == 0
    assert as_before(program)


def test_continued_program_restores_terminal_settings(
    start_application: Starter,
) -> None:
    program = start_application()
    program.until(is_settled)
    shown = program.screen.text
    program.signal(signal.SIGSTOP)
    program.until_stopped()
    program.take_settings_back()
    program.signal(signal.SIGCONT)
    program.until(lambda screen: not program.keeps_settings)
    program.press("6")
    program.until_text("loaded [BLOCK] with 形状 🚀")
    program.press("1")
    program.until(lambda screen: screen.text == shown)
    program.press(QUIT)
    assert program.exit_status() == 0
    assert as_before(program)


def test_suspend_key_returns_terminal_without_lost_keys(
    start_application: Starter,
) -> None:
    program = start_application(job=True)
    program.until(is_settled)
    shown = program.screen.text
    program.press(SUSPEND)
    program.until(lambda screen: "stopped; a line brings it back" in screen.outside)
    assert (program.screen.restored, program.keeps_settings) == (True, True)
    program.press("\n")
    program.until(lambda screen: screen.text == shown)
    program.press(QUIT)
    assert program.exit_status() == 0


def test_suspend_key_without_shell_is_reported(start_application: Starter) -> None:
    program = start_application()
    program.until(is_settled)
    program.press(SUSPEND)
    program.until_text("not suspended: no shell")
    program.press(QUIT)
    assert program.exit_status() == 0
    assert as_before(program)


def test_continue_without_stop_reads_keys_once(start_application: Starter) -> None:
    program = start_application()
    program.until(is_settled)
    program.signal(signal.SIGCONT)
    program.press("6")
    program.until_text("loaded [BLOCK] with 形状 🚀")
    program.press(QUIT)
    assert program.exit_status() == 0
    assert as_before(program)


def test_ending_shell_ends_the_app(start_application: Starter) -> None:
    program = start_application()
    program.until(is_settled)
    program.signal(signal.SIGHUP)
    program.signal(signal.SIGCONT)
    assert program.exit_status() == 128 + signal.SIGHUP
    assert as_before(program)


# Sizes


def test_many_resizes_restore_the_screen(start_application: Starter) -> None:
    program = start_application()
    program.until(is_settled)
    shown = program.screen.text
    for columns, rows in [(20, 5), (300, 100), (79, 23), (60, 15), (200, 60), (1, 1)] * 5:
        program.resize(columns, rows)
    program.resize(80, 24)
    program.until(lambda screen: screen.text == shown)


def test_too_small_size_is_reported_until_enlarged(start_application: Starter) -> None:
    program = start_application()
    program.until(is_settled)
    shown = program.screen.text
    program.resize(59, 14)
    program.until_text("too small")
    program.resize(80, 24)
    program.until(lambda screen: screen.text == shown)
