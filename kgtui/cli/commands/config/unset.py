"""`kgtui config unset`: remove one line of the settings file, so that the default applies."""

from __future__ import annotations

import argparse

from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.resolved_settings import load_quietly
from kgtui.cli.setting_names import require_known, write_changed
from kgtui.settings.file_edit import without

SUMMARY = "Remove a setting from the settings file."


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui config unset`."""
    parser.usage = f"{parser.prog} NAME"
    parser.add_argument("name", metavar="NAME", help="a setting, such as theme, or a binding: keys.workbench.run")


def run(options: argparse.Namespace, console: Console) -> int:
    """Write the file without the line.

    Raises:
        UsageError: there is no such setting, or the file does not set it.
    """
    name = require_known(options.name)
    preferences = load_quietly(options, console)
    write_changed(without(preferences.config, name), before=preferences)
    console.say(f"{preferences.config.path}: {name} removed")
    return Exit.PASSED
