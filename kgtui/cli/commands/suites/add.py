"""`kgtui suites add`: add a suite to the setting `suites`, for every command."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from pathlib import Path

from engine.errors import UsageError
from engine.model.counts import counted
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.operators.suites import known_suites
from kgtui.cli.resolved_settings import load_quietly
from kgtui.cli.setting_names import write_changed
from kgtui.settings.file_edit import edited
from kgtui.settings.paths import absolute, with_home
from problems.suites.source import SuiteSource, suite_at

SUMMARY = "Add a checkout, a file or an export of a suite."


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui suites add`."""
    parser.usage = f"{parser.prog} PATH"
    parser.add_argument("path", metavar="PATH", help="a checkout, a file or an export of a foreign suite")


def run(options: argparse.Namespace, console: Console) -> int:
    """Read the suite, write the setting, and print the tasks that were left out.

    Raises:
        UsageError: the path is not a suite, has problems of a known one, or the settings file cannot be changed.
    """
    path = absolute(with_home(options.path, said_by="PATH"), console.folder)
    if os.pathsep in str(path):
        raise UsageError(f"{path} contains {os.pathsep!r}, which separates suites in the setting; rename the folder")
    source = suite_at(path)
    for sentence in source.complaints:
        console.warn(sentence)
    known = known_suites(options, console)
    if path not in known:
        _require_other_problems(source, known)
        preferences = load_quietly(options, console)
        text = os.pathsep.join(map(str, (*known, path)))
        write_changed(edited(preferences.config, {"suites": text}), before=preferences)
    console.say(f"{path}: {source.format.title}, {counted(len(source.names()), 'problem')}")
    return Exit.PASSED


def _require_other_problems(source: SuiteSource, known: Iterable[Path]) -> None:
    """Raise if a known suite has problems of this one: it is the same folder under another path, or is nested in it.

    Raises:
        UsageError: a known suite has some of its problems.
    """
    places = _places(source)
    for path in known:
        try:
            common = places & _places(suite_at(path))
        except UsageError:
            continue  # it no longer exists; every command reports that
        if common:
            raise UsageError(
                f"{source.choice.path}: {len(common)} of its {len(places)} problems are those of {path}, which is "
                f"already added; to replace it, first run `kgtui suites remove {path}`"
            )


def _places(source: SuiteSource) -> set[tuple[Path, str]]:
    """The real file of each problem, with the name of the problem for exports, whose problems share a file."""
    return {(source.file(name).resolve(), name.rpartition("/")[2]) for name in source.names()}
