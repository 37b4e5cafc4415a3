"""`kgtui export-proof`: the proof of a saved run as one file, for `kgtui replay` on any machine.

Only reads the store, and never overwrites a file.
"""

from __future__ import annotations

import argparse

from engine.artefacts import ArtefactStore
from engine.errors import UsageError
from engine.protocol.proof.proof_file import read_proof, unpacked
from kgtui.cli.argument_groups import positive_integer
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.registry import Group
from kgtui.files.new_file import create
from kgtui.settings.paths import absolute, find_paths
from sessions import open_store

SUMMARY = "Write the proof of a saved run as a file that `kgtui replay` verifies anywhere."
GROUP = Group.HISTORY


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui export-proof`."""
    parser.usage = f"{parser.prog} RUN FILE"
    parser.add_argument(
        "run", metavar="RUN", type=positive_integer, help="the run; `kgtui sessions list --runs` lists them"
    )
    parser.add_argument("file", metavar="FILE", help="the file to create")


def run(options: argparse.Namespace, console: Console) -> int:
    """Write the file and print how to replay it.

    Raises:
        UsageError: there is no such run, it has no proof, or the file exists or cannot be created.
        StoreError: there is no store, or it cannot be read.
    """
    paths = find_paths(console.environment)
    with open_store(paths.sessions, read_only=True) as store:
        digest = store.proof_digest(options.run)
    try:
        content = unpacked(ArtefactStore(folder=paths.artefacts).read(digest))
    except OSError as error:
        missing = f"the proof of run #{options.run} cannot be read ({error.strerror}: {error.filename})"
        raise UsageError(f"{missing}; verify the kernel again") from error
    proof = read_proof(content)
    create(absolute(options.file, console.folder), content, shown=options.file)
    size = f"proven cases: {len(proof.cases)}, kernels: {len(proof.kernels)}"
    console.say(f"wrote {options.file}: run #{options.run}, {size}")
    console.say(f"next: kgtui replay {options.file}")
    return Exit.PASSED
