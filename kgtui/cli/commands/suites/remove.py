"""`kgtui suites remove`: remove a suite from the setting; its files stay."""

from __future__ import annotations

import argparse
import os

from engine.errors import UsageError
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.operators.suites import known_suites
from kgtui.cli.resolved_settings import load_quietly
from kgtui.cli.setting_names import write_changed
from kgtui.settings.file_edit import edited, without
from kgtui.settings.paths import absolute, with_home

SUMMARY = "Remove a suite from the settings; its files are kept."


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui suites remove`."""
    parser.usage = f"{parser.prog} PATH"
    parser.add_argument("path", metavar="PATH", help="the path as `kgtui suites list` shows it")


def run(options: argparse.Namespace, console: Console) -> int:
    """Write the setting without the path.

    Raises:
        UsageError: the suite is not known, or the settings file cannot be changed.
    """
    path = absolute(with_home(options.path, said_by="PATH"), console.folder)
    known = known_suites(options, console)
    if path not in known:
        raise UsageError(f"unknown suite {path}; `kgtui suites list` lists the known ones")
    preferences = load_quietly(options, console)
    rest = os.pathsep.join(str(one) for one in known if one != path)
    config = preferences.config
    write_changed(edited(config, {"suites": rest}) if rest else without(config, "suites"), before=preferences)
    console.say(f"removed {path} from the setting suites; its files are kept")
    return Exit.PASSED
