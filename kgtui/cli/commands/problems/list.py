"""`kgtui problems list`: a line for each operator."""

from __future__ import annotations

import argparse

from engine.errors import UsageError
from kgtui.cli.argument_groups import add_json, add_problems
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.operators.index import problem_index
from kgtui.cli.operators.listing import document_text, list_text
from kgtui.cli.operators.suites import task_list_text, typed_suite
from problems.index import ProblemIndex

SUMMARY = "List the operators."


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui problems list`."""
    parser.usage = f"{parser.prog} [--json]"
    add_problems(parser)
    add_json(parser)
    parser.add_argument("operators", nargs="*", help=argparse.SUPPRESS)  # only to name the right command


def run(options: argparse.Namespace, console: Console) -> int:
    """Print the list, with --suite only its tasks, and warn of invalid problem files.

    Raises:
        UsageError: an operator is named; the message suggests one that exists.
    """
    suite = typed_suite(options, console)
    index = problem_index(options, console)
    if options.operators:
        raise UsageError(f"a list takes no operator; {_hint(index, options.operators[0])}")
    described, broken = index.descriptions()
    if suite is not None:
        described = tuple(one for one in described if one.source == suite.id)
        broken = (*suite.complaints, *broken)
    for sentence in broken:
        console.warn(sentence)
    if options.json:
        console.write_document(document_text([index.find(one.name) for one in described]))
    else:
        weak = {one.name for one in described if one.weakness}
        console.say(
            list_text(described, cut="~" if console.is_ascii else "…")
            if suite is None
            else task_list_text(suite, weak=weak)
        )
        if weak:
            console.say(f"! {len(weak)} accept some wrong candidates; `kgtui problems show` says why")
    return Exit.PASSED


def _hint(index: ProblemIndex, name: str) -> str:
    """The command that shows this operator; why there is none if it does not exist."""
    try:
        index.resolve(name)
    except UsageError as error:
        return str(error)
    return f"did you mean `kgtui problems show {name}`?"
