"""`kgtui sessions delete`: permanently delete a run, or a session with its runs."""

from __future__ import annotations

import argparse

from engine.artefacts import ArtefactStore
from engine.errors import UsageError
from engine.model.counts import counted
from kgtui.cli.argument_groups import positive_integer
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.runs.saved_runs import named_run
from kgtui.history.store_admin import StoreAdmin
from kgtui.settings.paths import find_paths
from sessions import open_store

SUMMARY = "Delete a run, or a session with all its runs."


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui sessions delete`."""
    parser.usage = f"{parser.prog} (RUN | --session SESSION) --yes"
    parser.add_argument("run", metavar="RUN", nargs="?", type=positive_integer, help="the number of the run")
    parser.add_argument(
        "--session", metavar="SESSION", type=positive_integer, help="delete this session with all its runs"
    )
    parser.add_argument("--yes", action="store_true", help="confirm deletion")


def run(options: argparse.Namespace, console: Console) -> int:
    """Delete the given run or session.

    Raises:
        UsageError: there is no such run or session, or deletion was not confirmed.
        StoreError: there is no store, or it cannot be written.
    """
    number, session = options.run, options.session
    if session is not None and number is not None:
        raise UsageError("delete either a run or, with --session, a session; not both")
    paths = find_paths(console.environment)
    with open_store(paths.sessions, read_only=True) as known:  # a store that does not exist is not created
        if session is None:
            named_run(known, number, "delete")
        else:
            known.session(session)
    if not options.yes:
        what = f"run #{number} with its events, times and source" if session is None else f"session {session}"
        raise UsageError(f"this permanently deletes {what}; add --yes to confirm")
    with open_store(paths.sessions) as store:
        admin = StoreAdmin(store, remove_artefact=ArtefactStore(folder=paths.artefacts).remove)
        if session is None:
            admin.delete_run(number)
            console.say(f"deleted run #{number}")
        else:
            runs = counted(admin.delete_session(session).runs, "run")
            console.say(f"deleted session {session} with {runs}; `kgtui sessions compact` shrinks the file")
    return Exit.PASSED
