"""`kgtui sessions tag`: tag a run, or remove its tag."""

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

SUMMARY = "Tag a run with a word, or remove its tag."


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui sessions tag`."""
    parser.usage = f"{parser.prog} RUN WORD | RUN --remove"
    parser.add_argument("run", metavar="RUN", nargs="?", type=positive_integer, help="the number of the run")
    parser.add_argument("word", metavar="WORD", nargs="?", help="the tag")
    parser.add_argument("--remove", action="store_true", help="remove the tag")


def run(options: argparse.Namespace, console: Console) -> int:
    """Write or remove the tag.

    Raises:
        UsageError: there is no such run, or the tag is not one word.
        StoreError: there is no store, or it cannot be written.
    """
    number, word = options.run, options.word
    paths = find_paths(console.environment)
    if word and len(word.split()) != 1:
        raise UsageError(f"a tag is one word, {word!r} is not; `kgtui sessions note` takes many")
    if number is not None and bool(word) is options.remove:
        command = f"kgtui sessions tag {number}"
        raise UsageError(f"give a tag or --remove: `{command} WORD` or `{command} --remove`")
    with open_store(paths.sessions, read_only=True) as known:  # a store that does not exist is not created
        named_run(known, number, "tag")
    with open_store(paths.sessions) as store:
        StoreAdmin(store, remove_artefact=ArtefactStore(folder=paths.artefacts).remove).set_tag(number, word or None)
    console.say(f"run #{number}: tag {word}" if word else f"run #{number}: tag removed")
    return Exit.PASSED
