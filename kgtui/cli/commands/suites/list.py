"""`kgtui suites list`: the suites of the setting, and the formats that can be read."""

from __future__ import annotations

import argparse

from engine.errors import UsageError
from engine.model.counts import counted
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.operators.suites import known_suites
from problems.suites.scanning import formats
from problems.suites.source import suite_at

SUMMARY = "List the suites that are known, and the formats."


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui suites list`."""
    parser.usage = parser.prog


def run(options: argparse.Namespace, console: Console) -> int:
    """Print a line for each suite, and the error of one that cannot be read."""
    known = known_suites(options, console)
    for path in known:
        try:
            source = suite_at(path)
            count = counted(len(source.names()), "problem")
            left_out = f", {source.left_out} left out" if source.left_out else ""
            console.say(f"{path}  {source.format.title}, {count}{left_out}")
        except UsageError as error:
            console.warn(f"{error}; `kgtui suites remove {path}` removes it")
    if not known:
        console.say("no suites are known; `kgtui suites add PATH` adds one, --suite PATH uses one for a single command")
    console.say(f"formats: {', '.join(one.title for one in formats())}")
    return Exit.PASSED
