"""`kgtui sessions export`: a session, or a run, as one document."""

from __future__ import annotations

import argparse

from engine.errors import UsageError
from kgtui.cli.argument_groups import positive_integer
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.files.new_file import create
from kgtui.settings.paths import absolute, find_paths
from sessions import Reader, RunRow, SessionRow, open_store
from sessions.export import as_csv, as_json, as_jsonl, as_markdown

SUMMARY = "Export a session or a run as JSON, JSON lines, Markdown or CSV."

_FORMATS = {"json": as_json, "jsonl": as_jsonl, "markdown": as_markdown, "csv": as_csv}


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui sessions export`."""
    parser.usage = f"{parser.prog} [SESSION | --run RUN] [--format FORMAT] [--output FILE]"
    parser.add_argument(
        "session", metavar="SESSION", nargs="?", type=positive_integer, help="the session (default: the newest)"
    )
    parser.add_argument("--run", metavar="RUN", type=positive_integer, help="export this run instead of a session")
    parser.add_argument("--format", choices=tuple(_FORMATS), default="json", help="default: json")
    parser.add_argument("--output", metavar="FILE", help="write to a new file instead of the output")


def run(options: argparse.Namespace, console: Console) -> int:
    """Print or write the document.

    Raises:
        UsageError: there is no such session or run, or the file exists or cannot be created.
        StoreError: there is no store, or it cannot be read.
    """
    with open_store(find_paths(console.environment).sessions, read_only=True) as store:
        pieces = _FORMATS[options.format](store, _subject(store, session=options.session, run=options.run))
        if options.output is None:
            console.write_pieces(pieces)
        else:
            create(absolute(options.output, console.folder), pieces, shown=options.output)
            console.say(f"wrote {options.output}")
    return Exit.PASSED


def _subject(store: Reader, *, session: int | None, run: int | None) -> RunRow | SessionRow:
    if run is not None and session is not None:
        raise UsageError("export either a session or, with --run, a run; not both")
    if run is not None:
        return store.run(run)
    if session is not None:
        return store.session(session)
    newest = store.sessions(limit=1)
    if not newest:
        raise UsageError("the session store is empty; `kgtui check --sample` adds the first session")
    return newest[0]
