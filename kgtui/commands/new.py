"""`kgtui new`: a kernel file for an operator, from its signature.  Never overwrites a file."""

from __future__ import annotations

import argparse

import problems
from kgtui.commands.choices import absolute, kernel_path
from kgtui.commands.console import Console, Exit
from kgtui.commands.files import write_new
from kgtui.scaffold import scaffold


def run(options: argparse.Namespace, console: Console) -> int:
    """Make the file and say how to go on.

    Raises:
        UsageError: there is no such operator, or the file is there or cannot be made.
    """
    problem = problems.find(options.op)
    path = absolute(options.file, console.folder) if options.file else kernel_path(problem, console.folder)
    shown = options.file or path.relative_to(console.folder)
    write_new(path, scaffold(problem), shown=str(shown))
    console.say(f"made {shown} for {problem.name}")
    console.say(f"next: kgtui open {problem.name} {shown}   or   kgtui check {shown}")
    return Exit.PASSED
