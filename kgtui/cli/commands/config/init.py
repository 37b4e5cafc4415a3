"""`kgtui config init`: a settings file in which every line is a comment.  Never overwrites a file."""

from __future__ import annotations

import argparse

from engine.errors import UsageError
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.files.new_file import create
from kgtui.settings.paths import find_paths
from kgtui.settings.schema import template

SUMMARY = "Create a settings file in which every line is a comment."


def add_arguments(parser: CommandParser) -> None:
    """No arguments besides those of every command."""
    parser.usage = parser.prog


def run(options: argparse.Namespace, console: Console) -> int:
    """Create the file.

    Raises:
        UsageError: the file exists or cannot be created.
    """
    path = find_paths(console.environment).config
    if path.exists():
        raise UsageError(f"{path} exists and is not overwritten; edit it, or move it away first")
    create(path, template(), shown=str(path), otherwise="set KGTUI_HOME to another folder")
    console.say(f"created {path}; every line is a comment until you remove its #")
    return Exit.PASSED
