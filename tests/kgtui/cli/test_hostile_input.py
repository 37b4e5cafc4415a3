"""Hostile arguments, settings and environments: an exit code of 2 or 3 and a sentence, never 1.

1 means that the kernel failed.  No control character of any of them reaches the terminal.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from kgtui.cli import main
from kgtui.cli.console import Console, without_control_characters

HUGE = "9" * 20
ENDLESS = "9" * 5_000
ESC = "\x1b[31m"
STEERING = "x\x1b[2J\x1b]0;title\x07\x9b1m\u202e\x00y"
UNDECODABLE = os.fsdecode(b"\xff\xfe")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (("sessions", "show", HUGE), "expected a number up to 9223372036854775807"),
        (("sessions", "show", ENDLESS), "expected a number up to 9223372036854775807"),
        (("sessions", "--limit", HUGE), "expected a number up to"),
        (("sessions", "delete", "--session", HUGE, "--yes"), "expected a number up to"),
        (("sessions", "--find", f"session:{HUGE}"), ""),
        (("compare", "1", HUGE), "expected a number up to"),
        (("export-case", HUGE), "expected a number up to"),
        (("export-proof", HUGE, "x"), "expected a number up to"),
        (("replay", "k\0"), "null character"),
        (("replay", "/dev/zero"), "is a device"),
        (("bench", "silu.py", "--seconds", "1e400"), "above 0"),
        (("bench", "silu.py", "--seconds", ENDLESS), "above 0"),
        (("tune", "silu.py", "--set", f"num_warps={HUGE}"), "at most 64 bits"),
        (("tune", "silu.py", "--set", f"num_warps={ENDLESS}"), "at most 64 bits"),
        (("inspect", "silu.py", "--claim", f"{ENDLESS}x"), ""),
        (("check", UNDECODABLE), "does not exist"),
        (("check", "silu.py", "--op", UNDECODABLE), "there is no operator"),
        (("check", "silu.py", "--target", UNDECODABLE), ""),
        (("sessions", "--find", UNDECODABLE), ""),
        (("problems", "show", UNDECODABLE), "there is no operator"),
        (("check", "k" * 300 + ".py"), "its name is too long"),
        (("check", "k\0.py"), "null character"),
        (("check", "/dev/zero"), "is a device"),
        (("check", "/dev/tty"), "is a device"),
        (("new", "silu", "k" * 300 + ".py"), "was not created"),
        (("new", "silu", "k\0.py"), ""),
    ],
)
def test_hostile_argument_is_usage(typed, kernel, line, words):
    ended = typed(*line)

    assert ended.exit_code in (2, 3)
    assert ended.err.startswith("kgtui: ")
    assert words in ended.err
    assert len(ended.err) < 1_000


@pytest.mark.parametrize(
    "line",
    [
        (STEERING,), ("check", f"{STEERING}.py"), ("check", "silu.py", "--op", STEERING), ("open", STEERING, STEERING),
        ("check", "silu.py", "--cases", STEERING), ("check", "silu.py", "--device", STEERING),
        ("check", "silu.py", "--target", STEERING), ("check", "silu.py", "--policy", STEERING),
        ("check", "silu.py", f"--{STEERING}"), ("bench", "silu.py", "--seconds", STEERING),
        ("bench", "silu.py", "--baseline", STEERING), ("bench", "silu.py", "--cases", STEERING),
        ("inspect", "silu.py", "--claim", STEERING), ("tune", "silu.py", "--set", STEERING),
        ("targets", "silu.py", "--to", STEERING), ("problems", "show", STEERING), ("problems", STEERING),
        ("new", STEERING), ("sessions", STEERING), ("sessions", "show", STEERING), ("sessions", "--find", STEERING),
        ("sessions", "export", "1", "--output", STEERING), ("compare", STEERING, "1"),
        ("export-case", STEERING), ("export-proof", "1", STEERING), ("replay", STEERING),
        ("config", STEERING), ("--debug", "check", STEERING), ("paths", STEERING),
    ],
)  # fmt: skip
def test_arguments_are_printed_without_control_characters(typed, kernel, line):
    ended = typed(*line)

    assert ended.exit_code in (2, 3)
    assert [char for char in ended.out + ended.err if is_steering(char)] == []


def test_settings_are_printed_without_control_characters(typed, home):
    home.mkdir()
    (home / "config.toml").write_text(f'"{STEERING.encode("unicode_escape").decode().replace(chr(92), chr(92) * 2)}"=1')
    (home / "config.toml").write_text('"\\u001b[2J\\u009b" = 1\ntheme = "\\u001b[2J"\n')
    ended = typed("config", "show")

    assert ended.exit_code == 2
    assert [char for char in ended.out + ended.err if is_steering(char)] == []


def test_document_on_terminal_has_no_control_characters(folder, home, terminal):
    out = terminal()
    console = Console(out=out, err=out, stdin=out, environment={"KGTUI_HOME": str(home)}, folder=folder)
    console.write_document(f'{{\n\t"name": "{STEERING}"}}')

    assert [char for char in out.getvalue() if is_steering(char)] == []


def test_escaping_keeps_lines_and_letters():
    assert (
        without_control_characters("gr\u00fcn\n\tx\N{NO-BREAK SPACE}\u4e2d") == "gr\u00fcn\n\tx\N{NO-BREAK SPACE}\u4e2d"
    )
    assert without_control_characters(ESC) == "\\x1b[31m"


@pytest.mark.parametrize("home_of", ["~nouser-of-this-name", "~nouser-of-this-name/below"])
@pytest.mark.parametrize("command", [("paths",), ("config",), ("check", "silu.py"), ("sessions",)])
def test_home_of_an_unknown_user_is_usage(console, folder, kernel, home_of, command):
    from dataclasses import replace

    lost = replace(console, environment={"KGTUI_HOME": home_of})

    assert main.run(command, lost) == 2
    said = console.err.getvalue()
    assert said.startswith(f"kgtui: KGTUI_HOME={home_of}: no home folder is known for ~nouser-of-this-name")


def test_endless_columns_are_the_default_width(console):
    from dataclasses import replace

    assert replace(console, environment={"COLUMNS": ENDLESS}).width == 80


def test_deleted_working_folder_is_usage(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"cd {gone} && rmdir {gone} && exec {sys.executable} -m kgtui paths"
    ended = subprocess.run(["sh", "-c", script], capture_output=True, text=True, env=os.environ)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("kgtui: the working folder cannot be used: ")


def test_no_descriptor_left_is_an_engine_error(tmp_path):
    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))

    ended = subprocess.run(
        [sys.executable, "-m", "kgtui", "check", "--sample", "--cases", "smoke", "--device", "cpu", "--no-store"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        preexec_fn=few,
        env={**os.environ, "KGTUI_HOME": str(tmp_path / "home")},
    )

    assert ended.returncode == 3
    words = "only 20 files may be open at once, and the engine needs 128; raise the limit with `ulimit -n 1024`"
    assert ended.stderr == f"kgtui: {words}\n"


def test_full_error_stream_keeps_the_exit_code(tmp_path):
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "kgtui", "check", "none.py"], cwd=tmp_path, stderr=full, stdout=subprocess.PIPE
        )

    assert ended.returncode == 2


def is_steering(char: str) -> bool:
    return char not in "\n\t" and unicodedata.category(char) in ("Cc", "Cf", "Cs")
