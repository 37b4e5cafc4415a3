"""`kgtui sessions compact`: return the space of deleted runs to the disk."""

from __future__ import annotations

import argparse

from kgtui.cli.argument_groups import add_former
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.settings.paths import Paths, find_paths
from kgtui.state.format.numbers import bytes_of
from sessions import open_store

SUMMARY = "Return the space of deleted runs to the disk."


def add_arguments(parser: CommandParser) -> None:
    """None but those of every command."""
    parser.usage = parser.prog
    add_former(parser, lambda *_: "`kgtui sessions compact` takes no number: it shrinks the whole file")


def run(options: argparse.Namespace, console: Console) -> int:
    """Shrink the file to its content.

    Raises:
        StoreError: there is no store, another program writes to it, or the disk has no room for the temporary copy.
    """
    paths = find_paths(console.environment)
    open_store(paths.sessions, read_only=True).close()  # a store that does not exist is not created
    with open_store(paths.sessions) as store:
        before_bytes = _size_bytes(paths)
        is_done = store.compact()
        after_bytes = _size_bytes(paths)
    sizes = f"{bytes_of(before_bytes)} before, {bytes_of(after_bytes)} now"
    rest = "" if is_done else "; it shrinks when the other program that has it open exits"
    console.say(f"{paths.sessions}: {sizes}{rest}")
    return Exit.PASSED


def _size_bytes(paths: Paths) -> int:
    """The size of the store with its write-ahead log."""
    log = paths.sessions.with_name(f"{paths.sessions.name}-wal")
    return sum(file.stat().st_size for file in (paths.sessions, log) if file.exists())
