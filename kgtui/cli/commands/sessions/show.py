"""`kgtui sessions show`: a saved run, as `kgtui check` printed it."""

from __future__ import annotations

import argparse

from engine.errors import UsageError
from engine.reports.text import as_plain
from kgtui.cli.argument_groups import positive_integer
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.runs.saved_runs import file_of
from kgtui.settings.paths import find_paths
from sessions import Reader, RunRow, open_store

SUMMARY = "Show a run as `kgtui check` printed it."


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui sessions show`."""
    parser.usage = f"{parser.prog} [RUN]"
    parser.add_argument(
        "run", metavar="RUN", nargs="?", type=positive_integer, help="the number of the run (default: the newest)"
    )


def run(options: argparse.Namespace, console: Console) -> int:
    """Print the run.

    Raises:
        UsageError: there is no such run.
        StoreError: there is no store, or it cannot be read.
    """
    with open_store(find_paths(console.environment).sessions, read_only=True) as store:
        shown = store.run(options.run) if options.run is not None else _newest_run(store)
        events = tuple(store.events(shown.id))
    console.say(as_plain(events, file=file_of(shown), number=shown.id).removesuffix("\n"))
    return Exit.PASSED


def _newest_run(store: Reader) -> RunRow:
    newest = store.runs(limit=1)
    if not newest:
        raise UsageError("the session store holds no run yet; `kgtui check --sample` makes the first")
    return newest[0]
