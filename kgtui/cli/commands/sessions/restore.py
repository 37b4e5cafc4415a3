"""`kgtui sessions restore`: put the source of a run into a new file."""

from __future__ import annotations

import argparse
import shlex

from kgtui.cli.argument_groups import add_former, positive_integer
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.resolved_settings import kernels_of, settled
from kgtui.cli.runs.saved_runs import named_run
from kgtui.files.kernel_folder import KernelFolder
from kgtui.files.new_file import create
from kgtui.files.templates import scaffold
from kgtui.settings.paths import absolute, find_paths
from sessions import open_store

SUMMARY = "Write the source of a run into a new file."


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui sessions restore`."""
    parser.usage = f"{parser.prog} RUN [--output FILE]"
    parser.add_argument("run", metavar="RUN", nargs="?", type=positive_integer, help="the number of the run")
    parser.add_argument("--output", metavar="FILE", help="the file to create (default: in kernels, named for the run)")
    add_former(
        parser,
        lambda options, words: (
            f"FILE is an option: `kgtui sessions restore {options.run} --output {shlex.quote(words[0])}`"
        ),
    )


def run(options: argparse.Namespace, console: Console) -> int:
    """Write the file; never overwrites one.

    Raises:
        UsageError: there is no such run, or the file exists or cannot be created.
        StoreError: there is no store, or it cannot be read.
    """
    with open_store(find_paths(console.environment).sessions, read_only=True) as store:
        restored = named_run(store, options.run, "restore")
        source = store.source(restored.digest)
    if options.output is None:
        kernels = kernels_of(settled(options, console), console.folder)
        folder = KernelFolder(console.folder, scaffold=scaffold, kernels=kernels)
        name = restored.path.name if restored.path else f"{restored.problem.rpartition('::')[2]}.py"
        console.say(f"wrote {folder.shown(folder.restore(source, name=name, number=restored.id))}")
        return Exit.PASSED
    create(absolute(options.output, console.folder), source, shown=options.output)
    console.say(f"wrote {options.output}")
    return Exit.PASSED
