"""`kgtui report`: the models of one session as a page, a document or a table.  Only reads the store."""

from __future__ import annotations

import argparse

from engine.errors import UsageError
from kgtui.cli.argument_groups import add_problems, positive_integer
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.operators.index import problem_index
from kgtui.cli.registry import Group
from kgtui.settings.paths import find_paths
from sessions import open_store
from sessions.candidates.generation_rows import CostBy

SUMMARY = "Report what models generated in a session: HTML, Markdown, JSON or CSV."
GROUP = Group.MODELS


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui report`."""
    parser.usage = f"{parser.prog} SESSION [--html | --markdown | --json | --csv]"
    parser.add_argument("session", metavar="SESSION", type=positive_integer, help="its number in `kgtui sessions list`")
    add_problems(parser)
    formats = parser.add_mutually_exclusive_group()
    formats.add_argument("--html", action="store_true", help="one file with tables and plots, which loads nothing")
    formats.add_argument("--markdown", "--md", action="store_true", help="one Markdown page")
    formats.add_argument("--json", action="store_true", help="one JSON document")
    formats.add_argument("--csv", action="store_true", help="a row for each answer")


def run(options: argparse.Namespace, console: Console) -> int:
    """Print the report.

    Raises:
        UsageError: there is no such session, or nothing was generated in it.
        StoreError: there is no store, or it cannot be read.
    """
    from kgtui.generation.comparing.comparison import comparison_of
    from kgtui.generation.comparing.groups import groups_from
    from kgtui.generation.reports import documents

    with open_store(find_paths(console.environment).sessions, read_only=True) as store:
        session = store.session(options.session)
        rows = store.generations.of_session(options.session)
        costs = store.generations.costs(CostBy.MODEL, session=options.session)
    if not rows:
        raise UsageError(f"nothing was generated in session {session.id}; `kgtui cost --by session` lists those with")
    found = comparison_of(rows, groups_of=groups_from(problem_index(options, console).descriptions()[0]))
    title = f"Session {session.id}: {session.label}, {session.started_at:%Y-%m-%d}"
    if options.html:
        console.write_document(documents.as_html(found, title=title, costs=costs))
    elif options.markdown:
        console.write_document(documents.as_markdown(found, title=title, costs=costs))
    elif options.json:
        console.write_document(documents.as_json(found))
    elif options.csv:
        console.write_document(documents.as_csv(found))
    else:
        console.say(documents.as_text(found))
    return Exit.PASSED
