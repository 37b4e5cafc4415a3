"""`kgtui problems show`: one operator in full."""

from __future__ import annotations

import argparse

from engine.errors import UsageError
from kgtui.cli.argument_groups import add_json
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.operators import document_text, page_text
from problems.index import open_index

SUMMARY = "Show an operator: its signature, contract, cases and tolerances."


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui problems show`."""
    parser.usage = f"{parser.prog} OP [--json]"
    parser.add_argument("op", metavar="OP", nargs="?", help="the operator")
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    """Print the operator.

    Raises:
        UsageError: no operator was named, or there is none of that name.
    """
    if options.op is None:
        raise UsageError("which operator? `kgtui problems show OP`; `kgtui problems list` names them")
    index = open_index()
    problem = index.find(options.op)
    if options.json:
        console.hand_out(document_text([problem]))
    else:
        console.say(page_text(problem, index.describe(problem.name)))
    return Exit.PASSED
