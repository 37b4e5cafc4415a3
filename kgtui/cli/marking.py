"""The part of `kgtui sessions` that changes something: tags, notes, a restored source, and what is deleted for good."""

from __future__ import annotations

import argparse

from engine.artefacts import ArtefactStore
from engine.errors import UsageError
from kgtui.cli.choices import absolute
from kgtui.cli.console import Console
from kgtui.files import disk
from kgtui.files.kernel_folder import KernelFolder
from kgtui.files.templates import scaffold
from kgtui.history.store_admin import StoreAdmin
from kgtui.settings.paths import Paths
from kgtui.state.format.numbers import bytes_of
from sessions import Reader, RunRow, open_store


def mark(options: argparse.Namespace, console: Console, *, paths: Paths) -> None:
    """Tag, note or delete a run, or delete a session.

    Raises:
        UsageError: what is named is not there, or deleting was not confirmed.
        StoreError: the store cannot be written.
    """
    number, text, session = options.number, options.text, options.session
    with open_store(paths.sessions, read_only=True) as known:  # a store that is not there is not made
        if session is None:
            _run(known, number, options.action)
        else:
            known.session(session)
    if options.action == "delete" and not options.yes:
        what = f"run #{number} with its events, times and source" if session is None else f"session {session}"
        raise UsageError(f"this deletes {what} for good; with --yes it is done")
    with open_store(paths.sessions) as store:
        archive = StoreAdmin(store, remove_artefact=ArtefactStore(folder=paths.artefacts).remove)
        match options.action:
            case "tag":
                archive.set_tag(number, text or None)
                console.say(f"run #{number} is under the tag {text}" if text else f"run #{number} has no tag")
            case "note":
                archive.set_note(number, text or None)
                console.say(f"run #{number} has a note" if text else f"run #{number} has no note")
            case "delete" if session is not None:
                runs = archive.delete_session(session).runs
                room = "what they took up is used again, or given back to the disk by `kgtui sessions compact`"
                console.say(f"deleted session {session} with {runs} runs; {room}")
            case _:
                archive.delete_run(number)
                console.say(f"deleted run #{number}")


def compact(console: Console, *, paths: Paths) -> None:
    """Make the file as short as what is kept in it.

    Raises:
        StoreError: there is no store, somebody writes to it, or the disk has no room for the copy that this takes.
    """
    open_store(paths.sessions, read_only=True).close()  # a store that is not there is not made
    with open_store(paths.sessions) as store:
        before_bytes = _size_bytes(paths)
        is_done = store.compact()
        after_bytes = _size_bytes(paths)
    sizes = f"{bytes_of(before_bytes)} before, {bytes_of(after_bytes)} now"
    rest = "" if is_done else "; it gets shorter when the other program that has it open ends"
    console.say(f"{paths.sessions}: {sizes}{rest}")


def _size_bytes(paths: Paths) -> int:
    """What the store takes up, with what was written last: that waits in a file of its own until it is moved over."""
    waiting = paths.sessions.with_name(f"{paths.sessions.name}-wal")
    return sum(file.stat().st_size for file in (paths.sessions, waiting) if file.exists())


def restore(options: argparse.Namespace, console: Console, *, store: Reader) -> None:
    """Put the source of a run into a new file.

    Raises:
        UsageError: there is no such run, or the file cannot be made or is there already.
    """
    run = _run(store, options.number, "restore")
    source = store.source(run.digest)
    if options.text is None:
        folder = KernelFolder(console.folder, scaffold=scaffold)
        name = run.path.name if run.path else f"{run.problem.rpartition('::')[2]}.py"
        console.say(f"wrote {folder.shown(folder.restore(source, name=name, number=run.id))}")
        return
    path = absolute(options.text, console.folder)
    try:
        made = disk.write_new(path, source)
    except OSError as error:
        raise UsageError(f"{options.text} was not made: {error.strerror}; name another FILE") from error
    if not made:
        raise UsageError(f"{options.text} is there already and is not overwritten; name another FILE")
    console.say(f"wrote {options.text}")


def _run(store: Reader, number: int | None, action: str) -> RunRow:
    if number is None:
        raise UsageError(f"which run? `kgtui sessions {action} RUN`; `kgtui sessions list --runs` lists them")
    return store.run(number)
