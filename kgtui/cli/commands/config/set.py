"""`kgtui config set`: change one line of the settings file, or create the file; comments and layout stay."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from engine.errors import UsageError
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.resolved_settings import load_quietly
from kgtui.cli.setting_names import BINDING, require_known, write_changed
from kgtui.settings.file_edit import Change, edited, line_of
from kgtui.settings.schema import OPTION_BY_KEY

SUMMARY = "Change a setting in the settings file."

_WORDS = {"true": True, "false": False}


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui config set`."""
    parser.usage = f"{parser.prog} NAME VALUE [KEY ...]"
    parser.add_argument("name", metavar="NAME", help="a setting, such as theme, or a binding: keys.workbench.run")
    parser.add_argument("values", metavar="VALUE", nargs="+", help="its value; for a binding, all of its keys")


def run(options: argparse.Namespace, console: Console) -> int:
    """Write the file and print its new line.

    Raises:
        UsageError: there is no such setting, the value is invalid, or the file cannot be changed.
    """
    name = require_known(options.name)
    value = _value(name, options.values)
    preferences = load_quietly(options, console)
    config = preferences.config
    if config.text is None and config.problems:
        raise UsageError(config.problems[0])
    write_changed(edited(config, {name: value}), before=preferences)
    console.say(f"{config.path}: {line_of(name, value)}")
    return Exit.PASSED


def _value(name: str, values: Sequence[str]) -> Change:
    if name.startswith(BINDING):
        return tuple(values)
    if len(values) > 1:
        raise UsageError(f"{name} has one value, got {len(values)}; put a value with spaces in quotes")
    (text,), kind = values, OPTION_BY_KEY[name].kind
    if kind is bool:
        if text not in _WORDS:
            raise UsageError(f"{name} is true or false, got {text!r}")
        return _WORDS[text]
    if kind is float:
        try:
            return float(text)
        except ValueError:
            raise UsageError(f"{name} is a number, got {text!r}") from None
    return text
