"""The settings file: what it may hold, and that every mistake in it is told with its key and the next step."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kgtui.settings.schema import (
    MOST_BYTES,
    OPTIONS,
    Config,
    FileSettings,
    Notify,
    Theme,
    parse_config,
    read_config,
    template,
    toml,
)

FILE = Path("config.toml")


def test_every_setting_and_binding_can_be_set() -> None:
    text = """
theme = "ansi-light"
ascii = true
device = "cpu"
target = "gfx942"
folder = "mine"
editor = "nvim -u NONE"
notify = "osc9"
notify_after_s = 3

[keys]
"workbench.run" = ["f11", "r"]
everywhere.help = "f1"
"""
    settings = FileSettings(
        theme=Theme.ANSI_LIGHT,
        ascii=True,
        device="cpu",
        target="gfx942",
        folder="mine",
        editor="nvim -u NONE",
        notify=Notify.OSC9,
        notify_after_s=3.0,
        keys={"workbench.run": ("f11", "r"), "everywhere.help": ("f1",)},
    )
    assert parse_config(text, path=FILE) == Config(path=FILE, text=text, settings=settings)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("themes = 'dark'", "config.toml, themes: unknown setting; did you mean theme?"),
        ("xyz = 1", "config.toml, xyz: unknown setting; known are theme, ascii, device, target, folder, "
                    "problems, suites, editor, notify, notify_after_s, keys"),
        ("theme = 'pink'", "config.toml, theme: expected one of dark, light, ansi-dark, ansi-light, got 'pink'"),
        ("theme = 1", "config.toml, theme: expected a text in quotes, got 1; write theme = \"dark\""),
        ("ascii = 'yes'", "config.toml, ascii: expected true or false, got 'yes'; write ascii = true"),
        ("ascii = 1", "config.toml, ascii: expected true or false, got 1; write ascii = true"),
        ("notify_after_s = true", "config.toml, notify_after_s: expected a number, got True; "
                                  "write notify_after_s = 10"),
        ("notify_after_s = -1", "config.toml, notify_after_s: expected a number from 0 on, got -1"),
        ("notify_after_s = nan", "config.toml, notify_after_s: expected a number from 0 on, got nan"),
        ("editor = ' '", "config.toml, editor: expected a text of one line, got ' '; "
                         "leave the line out for the default"),
        ("keys = 1", "config.toml, keys: expected a table, got 1; write [keys] above the bindings"),
        ("[keys]\n'workbench.run' = 6", "config.toml, keys.workbench.run: expected a key or a list of keys, got 6; "
                                        'write "workbench.run" = ["f11"]'),
        ("[keys]\n'workbench.run' = []", "config.toml, keys.workbench.run: expected a key or a list of keys, got []; "
                                         'write "workbench.run" = ["f11"]'),
        ("theme = ", "config.toml is not TOML: Invalid value (at end of document); correct that line"),
    ],
)  # fmt: skip
def test_invalid_setting_line_is_reported_and_ignored(line: str, problem: str) -> None:
    config = parse_config(line, path=FILE)
    assert config.problems == (problem,)
    assert config.settings == FileSettings()


def test_valid_settings_apply_beside_invalid_ones() -> None:
    config = parse_config("theme = 'pink'\nascii = true\n", path=FILE)
    assert (config.settings, len(config.problems)) == (FileSettings(ascii=True), 1)


def test_missing_settings_file_is_accepted(tmp_path: Path) -> None:
    assert read_config(tmp_path / "config.toml") == Config(path=tmp_path / "config.toml", text=None)


def test_binary_settings_file_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"theme = '\xff'")
    assert read_config(path).problems == (f"{path} is not UTF-8 text (byte 9); save it as UTF-8",)


def test_a_folder_in_its_place_is_reported(tmp_path: Path) -> None:
    assert read_config(tmp_path).problems == (f"{tmp_path} cannot be read: it is a folder; check it",)


def test_template_sets_nothing_initially() -> None:
    assert parse_config(template(), path=FILE) == Config(path=FILE, text=template())


def test_the_template_is_right_without_its_comment_signs() -> None:
    bare = "\n".join(line.removeprefix("# ") for line in template().splitlines() if "=" in line or line == "# [keys]")
    config = parse_config(bare, path=FILE)
    assert config.problems == ()
    assert [option.key for option in OPTIONS if config.settings.value(option.key) != option.example] == []
    assert config.settings.keys == {"workbench.run": ("f11", "r")}


@pytest.mark.parametrize(
    "value", ["dark", 'a "quoted" \\ path', True, False, 10.0, 0.5, 1234567.5, 1e300, ("f11", '"')]
)
def test_written_value_is_read_unchanged(value: object) -> None:
    import tomllib

    read = tomllib.loads(f"x = {toml(value)}")["x"]  # type: ignore[arg-type]  # each of the kinds in turn
    assert (tuple(read) if isinstance(read, list) else read) == value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("notify_after_s = 1" + "0" * 400, "expected a number from 0 on"),
        ("notify_after_s = 0x" + "f" * 9_000, "got a number that is too large"),
        ("notify_after_s = 1" + "0" * 9_000, "is not TOML"),
        ("theme = " + "[" * 50_000, "nested too deep"),
        ("theme = " + "[" * 80 + "]" * 80, "expected a text in quotes"),
        ("theme." + ".".join(["a"] * 3_000) + " = 1", "expected a text in quotes"),
        ("keys." + ".".join(["a"] * 3_000) + " = 1", "expected a key or a list of keys"),
        ("keys = '" + "a" * 100_000 + "'", "expected a table"),
    ],
)
def test_hostile_settings_file_has_one_short_error(tmp_path: Path, text: str, words: str) -> None:
    (problem,) = parse_config(text, path=tmp_path / "c").problems
    assert words in problem
    assert len(problem) < 1_000


def test_pipe_or_huge_file_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    os.mkfifo(path)
    assert read_config(path).problems == (f"{path} cannot be read: it is a named pipe; check it",)
    path.unlink()
    path.write_bytes(b"#" * (MOST_BYTES + 1))
    (problem,) = read_config(path).problems
    assert "it has 1,048,577 bytes, and at most 1,048,576 are read" in problem
