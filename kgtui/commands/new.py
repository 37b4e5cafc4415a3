"""`kgtui new`: a kernel file for an operator, from its signature.  Never overwrites a file."""

from __future__ import annotations

import argparse

import problems
from engine.errors import UsageError
from kgtui.commands.choices import absolute, kernel_path
from kgtui.commands.console import Console, Exit
from kgtui.scaffold import scaffold


def run(options: argparse.Namespace, console: Console) -> int:
    """Make the file and say how to go on.

    Raises:
        UsageError: there is no such operator, or the file is there or cannot be made.
    """
    problem = problems.find(options.op)
    path = absolute(options.file, console.folder) if options.file else kernel_path(problem, console.folder)
    shown = options.file or path.relative_to(console.folder)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(scaffold(problem))
    except FileExistsError as error:
        taken = shown if path.exists() else error.filename
        raise UsageError(f"{taken} is there already and is not overwritten; name another FILE") from error
    except OSError as error:
        raise UsageError(f"{shown} was not made: {error.strerror} ({error.filename}); name another FILE") from error
    console.say(f"made {shown} for {problem.name}")
    console.say(f"next: kgtui open {problem.name} {shown}   or   kgtui check {shown}")
    return Exit.PASSED
