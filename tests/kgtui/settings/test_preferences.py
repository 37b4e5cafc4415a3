"""The source of a setting: an option, the environment, the file, or the default."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgtui.settings.preferences import CommandLineSettings, preferences_of
from kgtui.settings.schema import parse_config

FILE = Path("config.toml")
COLOURS = {"TERM": "xterm-256color"}


@pytest.mark.parametrize(
    ("key", "text", "environment", "typed", "value", "source"),
    [
        ("theme", "", COLOURS, {}, "dark", "default"),
        ("theme", "", {"TERM": "xterm"}, {}, "ansi-dark", "TERM=xterm, 16 colours"),
        ("theme", "", {"TERM": "xterm", "COLORTERM": "truecolor"}, {}, "dark", "default"),
        ("theme", "theme = 'light'", {"TERM": "xterm"}, {}, "light", "config.toml"),
        ("theme", "theme = 'light'", {"TEXTUAL_THEME": "nord"}, {}, "light", "config.toml"),
        ("theme", "", {"TEXTUAL_THEME": "nord"}, {}, "nord", "TEXTUAL_THEME"),
        ("theme", "theme = 'light'", {"NO_COLOR": "1"}, {}, "ansi-dark", "NO_COLOR"),
        ("ascii", "", {}, {}, False, "default"),
        ("ascii", "", {"TERM": "linux"}, {}, True, "TERM=linux"),
        ("ascii", "ascii = false", {"TERM": "linux"}, {}, False, "config.toml"),
        ("ascii", "ascii = false", {}, {"ascii": True}, True, "--ascii"),
        ("device", "", {}, {}, None, "detected"),
        ("problems", "", {}, {}, None, "default"),
        ("suites", "", {}, {}, None, "default"),
        ("device", "device = 'cpu'", {}, {}, "cpu", "config.toml"),
        ("device", "device = 'cpu'", {}, {"device": "cuda"}, "cuda", "--device"),
        ("target", "target = 'gfx942'", {}, {"target": "sm_80"}, "sm_80", "--target"),
        ("target", "target = 'none'", {}, {}, "none", "config.toml"),
        ("folder", "", {}, {}, "kernels", "default"),
        ("editor", "", {}, {}, "vi", "default"),
        ("editor", "", {"EDITOR": "nano", "VISUAL": "emacs"}, {}, "emacs", "VISUAL"),
        ("editor", "editor = 'hx'", {"VISUAL": "emacs"}, {}, "hx", "config.toml"),
        ("notify", "", {}, {}, "off", "default"),
        ("notify_after_s", "notify_after_s = 0", {}, {}, 0.0, "config.toml"),
    ],
)
def test_first_source_with_value_decides(
    key: str, text: str, environment: dict[str, str], typed: dict[str, str], value: object, source: str
) -> None:
    found = preferences_of(
        parse_config(text, path=FILE), environment=environment, command_line=CommandLineSettings(**typed)
    ).of(key)  # type: ignore[arg-type]  # a table
    assert (found.value, found.source) == (value, source)


@pytest.mark.parametrize(
    ("encoding", "text", "value", "source"),
    [
        ("utf-8", "", False, "default"),
        (None, "", False, "default"),
        ("ascii", "", True, "encoding ascii"),
        ("iso-8859-1", "", True, "encoding iso-8859-1"),
        ("ascii", "ascii = false", False, "config.toml"),
    ],
)
def test_encoding_without_symbols_selects_others(encoding: str | None, text: str, value: bool, source: str) -> None:
    preferences = preferences_of(parse_config(text, path=FILE), environment={}, encoding=encoding)
    assert (preferences.is_ascii, preferences.of("ascii").source) == (value, source)
    assert preferences.under(preferences.config).is_ascii is value


def test_rejected_file_settings_are_known() -> None:
    config = parse_config("theme = 'light'\nascii = true\n", path=FILE)
    preferences = preferences_of(config, environment={"NO_COLOR": "1"})
    assert [(one.key, one.overridden) for one in preferences.settings if one.overridden is not None] == [
        ("theme", "light")
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("device = 'tpu'", "config.toml, device: unknown device 'tpu': use one of"),
        ("device = 'rocm'", "config.toml, device: "),
        ("target = 'sm_9'", "config.toml, target: "),
        ("target = 'sm_999'", "config.toml, target: unsupported target 'sm_999'; use one of sm_75"),
    ],
)
def test_unknown_device_or_target_falls_back(text: str, problem: str) -> None:
    preferences = preferences_of(parse_config(text, path=FILE), environment={})
    assert len(preferences.problems) == 1
    assert preferences.problems[0].startswith(problem)
    assert preferences.of(text.split(" ")[0]).source == "detected"
