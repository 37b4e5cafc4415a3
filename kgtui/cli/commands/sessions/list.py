"""`kgtui sessions list`: sessions or runs, newest first."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from engine.reports.printable import printable
from kgtui.cli.argument_groups import add_former, add_json, positive_integer
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.runs.saved_runs import file_of
from kgtui.settings.paths import find_paths
from kgtui.state.history.run_filter import read_filter
from sessions import RunRow, SessionRow, open_store
from sessions.export import rows_as_json

SUMMARY = "List sessions, or runs."

_DEFAULT_LIMIT = 20


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui sessions list`."""
    parser.usage = f"{parser.prog} [--runs | --find FILTER] [--limit COUNT] [--json]"
    parser.add_argument("--runs", action="store_true", help="list runs instead of sessions")
    parser.add_argument("--find", metavar="FILTER", help="list the runs that match, such as 'op:softmax is:failed'")
    parser.add_argument(
        "--limit", metavar="COUNT", type=positive_integer, default=_DEFAULT_LIMIT, help="how many (default: 20)"
    )
    add_json(parser)
    add_former(parser, lambda *_: "a list takes no number; `kgtui sessions show RUN` shows a run")


def run(options: argparse.Namespace, console: Console) -> int:
    """Print the list.

    Raises:
        UsageError: the filter is wrong.
        StoreError: there is no store, or it cannot be read.
    """
    with open_store(find_paths(console.environment).sessions, read_only=True) as store:
        if options.runs or options.find is not None:
            runs = store.runs(read_filter(options.find or ""), limit=options.limit)
            console.say(rows_as_json("runs", runs) if options.json else _runs(runs))
        else:
            sessions = store.sessions(limit=options.limit)
            console.say(rows_as_json("sessions", sessions) if options.json else _sessions(sessions))
    return Exit.PASSED


def _sessions(sessions: Sequence[SessionRow]) -> str:
    rows = [
        (
            f"{row.id}",
            f"{row.started_at:%Y-%m-%d %H:%M}",
            printable(row.label),
            f"{row.runs}",
            f"{row.passed}",
            f"{row.flagged}",
        )
        for row in sessions
    ]
    return _aligned(("session", "started (UTC)", "what", "runs", "passed", "flagged"), rows)


def _runs(runs: Sequence[RunRow]) -> str:
    rows = [
        (
            f"#{row.id}",
            f"{row.started_at:%Y-%m-%d %H:%M}",
            row.problem,
            _state(row),
            f"{row.passed}/{row.total}",
            file_of(row),
            printable(row.tag or ""),
            printable(row.note or ""),
        )
        for row in runs
    ]
    header = ("run", "started (UTC)", "operator", "state", "passed", "file", "tag", "note")
    marked = max((place for row in rows for place in (6, 7) if row[place]), default=5)
    return _aligned(header[: marked + 1], [row[: marked + 1] for row in rows])


def _state(row: RunRow) -> str:
    if row.flagged:
        return "flagged"
    return row.outcome or row.state


def _aligned(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Columns as wide as their widest cell; the last is not padded."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
        for cells in (header, *rows)
    )
