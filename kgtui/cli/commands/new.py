"""`kgtui new`: a kernel file for an operator, from its signature.  Never overwrites a file."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine.errors import UsageError
from kgtui.cli.argument_groups import add_problems
from kgtui.cli.choices import FILES_OF_CANDIDATES
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.operators.index import problem_index
from kgtui.cli.registry import Group
from kgtui.cli.resolved_settings import kernels_of, settled
from kgtui.files.kernel_folder import kernel_path, shown_from
from kgtui.files.new_file import create
from kgtui.files.templates import scaffold
from kgtui.settings.paths import absolute

SUMMARY = "Create a kernel file for an operator; never overwrites a file."
GROUP = Group.KERNELS


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui new`."""
    parser.usage = f"{parser.prog} OP [FILE]"
    parser.add_argument("op", metavar="OP", help="the operator")
    add_problems(parser)
    parser.add_argument("file", metavar="FILE", nargs="?", help="the file to create (default: kernels/ENTRY.py)")


def run(options: argparse.Namespace, console: Console) -> int:
    """Create the file and print the next step.

    Raises:
        UsageError: there is no such operator, or the file exists, cannot be created or would be no Python file.
    """
    problem = problem_index(options, console).find(options.op)
    kernels = kernels_of(settled(options, console), console.folder)
    if options.file and options.file.endswith(FILES_OF_CANDIDATES):
        name = Path(options.file).with_suffix(".py")
        raise UsageError(f"FILE must be a Python file, such as {name}; got {options.file}")
    path = absolute(options.file, console.folder) if options.file else kernel_path(problem, kernels)
    shown = options.file or shown_from(path, console.folder)
    create(path, scaffold(problem), shown=shown)
    console.say(f"created {shown} for {problem.name}")
    console.say(f"next: kgtui open {shown}   or   kgtui check {shown}")
    return Exit.PASSED
