"""`kgtui export-case`: a failed case of a stored run as a script that needs only torch and Triton.

Only reads the store, and never overwrites a file.
"""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Sequence

from engine.errors import UsageError
from engine.model import CaseResult
from engine.reports.printable import printable
from kgtui.cli.argument_groups import add_former, add_problems, positive_integer
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.operators.index import problem_index
from kgtui.cli.registry import Group
from kgtui.files.new_file import create
from kgtui.settings.paths import absolute, find_paths
from kgtui.standalone.script import FailedCase, script_name, standalone_script
from sessions import open_store

SUMMARY = "Write a failed case of a saved run as a script without kgtui."
GROUP = Group.HISTORY

_MOST_NAMED = 6


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui export-case`."""
    parser.usage = f"{parser.prog} RUN [--case CASE] [--output FILE]"
    parser.add_argument(
        "run", metavar="RUN", type=positive_integer, help="the run; `kgtui sessions list --runs` lists them"
    )
    parser.add_argument("--case", metavar="CASE", help="the name of the case (default: the first that failed)")
    parser.add_argument("--output", metavar="FILE", help="the file to create (default: named for kernel and case)")
    add_problems(parser)
    add_former(parser, _new_form)


def run(options: argparse.Namespace, console: Console) -> int:
    """Write the script and print how to run it.

    Raises:
        UsageError: there is no such run or failed case, or the file exists or cannot be created.
        StoreError: there is no store, or it cannot be read.
    """
    with open_store(find_paths(console.environment).sessions, read_only=True) as store:
        kept = store.run(options.run)
        index = problem_index(options, console)
        failed = FailedCase(
            problem=index.find(kept.problem),
            described=index.describe(kept.problem),
            result=_failed_case(store.run_record(kept.id).failed, options.case, run=kept.id),
            source=store.source(kept.digest),
            filename=printable(kept.path.name) if kept.path else "kernel.py",
            device=kept.device,
        )
    shown = options.output or script_name(failed.filename, failed.result.case)
    path = absolute(shown, console.folder)
    create(path, standalone_script(failed, name=path.name), shown=shown)
    console.say(f"wrote {shown}: {failed.result.case} of run #{kept.id}")
    console.say(f"next: python {os.path.relpath(path, console.folder)}")
    return Exit.PASSED


def _new_form(options: argparse.Namespace, words: Sequence[str]) -> str:
    case, *file = words
    output = f" --output {shlex.quote(file[0])}" if file else ""
    return f"CASE and FILE are options: `kgtui export-case {options.run} --case {shlex.quote(case)}{output}`"


def _failed_case(failed: Sequence[CaseResult], name: str | None, *, run: int) -> CaseResult:
    """The failed case of that name; the first failed one if none is named."""
    if not failed:
        raise UsageError(f"no case of run #{run} failed; there is nothing to reproduce")
    if name is None:
        return failed[0]
    for result in failed:
        if result.case == name:
            return result
    known = ", ".join(repr(result.case) for result in failed[:_MOST_NAMED])
    more = f" and {len(failed) - _MOST_NAMED} more" if len(failed) > _MOST_NAMED else ""
    raise UsageError(f"no case {printable(name)!r} failed in run #{run}; those that did: {known}{more}")
