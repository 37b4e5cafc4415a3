"""`kgtui sessions note`: write a note on a run, or remove it."""

from __future__ import annotations

import argparse

from engine.artefacts import ArtefactStore
from engine.errors import UsageError
from kgtui.cli.argument_groups import positive_integer
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.runs.saved_runs import named_run
from kgtui.history.store_admin import StoreAdmin
from kgtui.settings.paths import find_paths
from sessions import open_store

SUMMARY = "Write a note on a run, or remove it."


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui sessions note`."""
    parser.usage = f"{parser.prog} RUN TEXT | RUN --remove"
    parser.add_argument("run", metavar="RUN", nargs="?", type=positive_integer, help="the number of the run")
    parser.add_argument("words", metavar="TEXT", nargs="*", help="the note")
    parser.add_argument("--remove", action="store_true", help="remove the note")


def run(options: argparse.Namespace, console: Console) -> int:
    """Write or remove the note.

    Raises:
        UsageError: there is no such run, or no note was given.
        StoreError: there is no store, or it cannot be written.
    """
    number, text = options.run, " ".join(options.words)
    paths = find_paths(console.environment)
    if number is not None and bool(text) is options.remove:
        raise UsageError(
            f"give a note or --remove: `kgtui sessions note {number} TEXT` or `kgtui sessions note {number} --remove`"
        )
    with open_store(paths.sessions, read_only=True) as known:  # a store that does not exist is not created
        named_run(known, number, "note")
    with open_store(paths.sessions) as store:
        StoreAdmin(store, remove_artefact=ArtefactStore(folder=paths.artefacts).remove).set_note(number, text or None)
    console.say(f"run #{number}: note saved" if text else f"run #{number}: note removed")
    return Exit.PASSED
