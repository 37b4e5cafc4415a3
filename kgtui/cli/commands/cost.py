"""`kgtui cost`: what generated kernels cost, by model, operator, day or session.  Only reads the store."""

from __future__ import annotations

import argparse

from kgtui.cli.argument_groups import add_json, positive_integer
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.registry import Group
from kgtui.settings.paths import find_paths
from sessions import open_store
from sessions.candidates.generation_rows import CostBy

SUMMARY = "Show tokens and money by model, operator, day or session."
GROUP = Group.MODELS


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui cost`."""
    parser.usage = f"{parser.prog} [--by model|operator|day|session] [--session N] [--json]"
    parser.add_argument("--by", choices=tuple(CostBy), default=CostBy.MODEL, help="default: model")
    parser.add_argument("--session", metavar="N", type=positive_integer, help="only this session")
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    """Print the sums.

    Raises:
        UsageError: there is no such session.
        StoreError: there is no store, or it cannot be read.
    """
    from kgtui.generation.reports.costs import costs_json, costs_text

    by = CostBy(options.by)
    with open_store(find_paths(console.environment).sessions, read_only=True) as store:
        if options.session is not None:
            store.session(options.session)
        rows = store.generations.costs(by, session=options.session)
    if options.json:
        console.write_document(costs_json(rows, by))
    else:
        console.say(costs_text(rows, by))
    return Exit.PASSED
