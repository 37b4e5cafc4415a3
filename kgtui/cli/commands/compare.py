"""`kgtui compare`: runs of one operator side by side, or models over operators.  Only reads the store."""

from __future__ import annotations

import argparse

from engine.errors import UsageError
from kgtui.cli.argument_groups import add_problems, positive_integer
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.operators.index import problem_index
from kgtui.cli.operators.patterns import suite_or_typed
from kgtui.cli.registry import Group
from kgtui.history.comparison_source import read_side
from kgtui.settings.paths import find_paths
from kgtui.state.compare.alignment import aligned
from kgtui.state.compare.report import as_json, as_markdown, as_plain
from kgtui.state.compare.sides import FEWEST, MOST, require_one_operator
from kgtui.state.compare.speedup_comparison import versus
from kgtui.state.format.glyphs import ASCII, UNICODE
from sessions import open_store

SUMMARY = "Compare runs of one operator, or models over operators."
GROUP = Group.HISTORY


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui compare`."""
    parser.usage = (
        f"{parser.prog} RUN RUN [RUN [RUN]] [--json | --markdown]\n"
        f"       {parser.prog} [OP ...] [--suite PATH] --models A,B [--json | --markdown]"
    )
    parser.add_argument(
        "runs", metavar="RUN", nargs="*", help="the numbers of two to four saved runs; with --models, operators"
    )
    parser.add_argument(
        "--models", metavar="A,B", help="compare what these models generated (PROVIDER:MODEL, or all), not runs"
    )
    add_problems(parser)
    formats = parser.add_mutually_exclusive_group()
    formats.add_argument("--json", action="store_true", help="one JSON document")
    formats.add_argument("--markdown", "--md", action="store_true", help="one Markdown page")


def run(options: argparse.Namespace, console: Console) -> int:
    """Compare the given runs with the first of them.

    Raises:
        UsageError: they are not two to four different runs of one operator.
        StoreError: there is no store, or it cannot be read.
    """
    if options.models is not None:
        return _models(options, console)
    numbers = tuple(dict.fromkeys(map(_number, options.runs)))
    if not FEWEST <= len(numbers) <= MOST:
        raise UsageError(
            f"expected {FEWEST} to {MOST} different runs, got {len(numbers)}; `kgtui sessions list --runs` lists them"
        )
    with open_store(find_paths(console.environment).sessions, read_only=True) as store:
        sides = [read_side(store, number) for number in numbers]
    require_one_operator(sides)
    comparisons = [versus(sides[0], side) for side in sides[1:]]
    alignment = aligned([side.lines for side in sides])
    glyphs = UNICODE if console.can_write("±×✔▸") else ASCII
    if options.json:
        text = as_json(sides, comparisons, alignment)
    elif options.markdown:
        text = as_markdown(sides, comparisons, alignment, glyphs=glyphs)
    else:
        text = as_plain(sides, comparisons, alignment, glyphs=glyphs)
    (console.write_document if options.json or options.markdown else console.say)(text.removesuffix("\n"))
    return Exit.PASSED


def _number(text: str) -> int:
    try:
        return positive_integer(text)
    except argparse.ArgumentTypeError as error:
        raise UsageError(f"{error}; to compare models on an operator, add --models A,B") from error


def _models(options: argparse.Namespace, console: Console) -> int:
    """The matrix and metrics of models, from every stored answer."""
    from kgtui.generation.comparing.comparison import comparison_of
    from kgtui.generation.comparing.groups import groups_from
    from kgtui.generation.reports import documents

    index = problem_index(options, console)
    operators = suite_or_typed(options.runs, options, console, index=index)
    with open_store(find_paths(console.environment).sessions, read_only=True) as store:
        rows = store.generations.of_every_session()
    known = tuple(dict.fromkeys(row.model_name for row in rows))
    models = known if options.models == "all" else tuple(options.models.split(","))
    if unknown := [model for model in models if model not in known]:
        stored = ", ".join(known) or "none; `kgtui generate OP --model PROVIDER:MODEL` generates some"
        raise UsageError(f"no answers of {unknown[0][:60]!r} are stored; models with stored answers: {stored}")
    found = comparison_of(
        [row for row in rows if row.model_name in models and (operators is None or row.problem in operators)],
        groups_of=groups_from(index.descriptions()[0]),
    )
    if options.json:
        console.write_document(documents.as_json(found))
    elif options.markdown:
        console.write_document(documents.as_markdown(found, title="Models compared"))
    else:
        console.say(documents.as_text(found))
    return Exit.PASSED
