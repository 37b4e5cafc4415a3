"""`kgtui sessions show`: a saved run, as `kgtui check` printed it."""

from __future__ import annotations

import argparse

from engine.errors import UsageError
from engine.reports.reducer import record_of
from engine.reports.text import as_json, as_plain
from kgtui.cli.argument_groups import add_json, positive_integer
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.runs.saved_runs import file_of
from kgtui.settings.paths import find_paths
from sessions import Reader, RunRow, open_store

SUMMARY = "Show a run as `kgtui check` printed it."


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui sessions show`."""
    parser.usage = f"{parser.prog} [RUN] [--json]"
    parser.add_argument(
        "run", metavar="RUN", nargs="?", type=positive_integer, help="the number of the run (default: the newest)"
    )
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    """Print the run.

    Raises:
        UsageError: there is no such run, or --json of a run without a verdict.
        StoreError: there is no store, or it cannot be read.
    """
    with open_store(find_paths(console.environment).sessions, read_only=True) as store:
        shown = store.run(options.run) if options.run is not None else _newest_run(store)
        events = tuple(store.events(shown.id))
    if not options.json:
        console.say(as_plain(events, file=file_of(shown), number=shown.id).removesuffix("\n"))
        return Exit.PASSED
    record = record_of(events, file=file_of(shown), number=shown.id)
    if record.verdict is None:
        raise UsageError(f"run {shown.id} has no verdict, so it has no document; leave out --json to see its events")
    console.say(as_json(record).removesuffix("\n"))
    return Exit.PASSED


def _newest_run(store: Reader) -> RunRow:
    newest = store.runs(limit=1)
    if not newest:
        raise UsageError("the session store is empty; `kgtui check --sample` adds the first run")
    return newest[0]
