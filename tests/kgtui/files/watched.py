"""A watched kernel file, the reports on it, and two ways to save it."""

from __future__ import annotations

import os
import queue
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from kgtui.files.watcher import Saved, TroubleKind, WatchTrouble
from tests.guards import PATIENCE_S

BEFORE = b"VALUE = 1\n"
AFTER = b"VALUE = 2\n"
SENTINEL = b"SENTINEL = 3\n"
Watch: TypeAlias = "Callable[..., Reports]"


class Reports:
    """The reports of a watcher in their order."""

    def __init__(self) -> None:
        self._queue: queue.Queue[Saved | WatchTrouble] = queue.Queue()

    def add(self, word: Saved | WatchTrouble) -> None:
        self._queue.put(word)

    def next(self) -> Saved | WatchTrouble:
        return self._queue.get(timeout=PATIENCE_S)

    def next_content(self) -> bytes:
        word = self.next()
        assert isinstance(word, Saved), word
        return word.content

    def next_changed(self) -> Path:
        word = self.next()
        assert isinstance(word, Saved), word
        return word.changed

    def next_trouble(self) -> TroubleKind:
        word = self.next()
        assert isinstance(word, WatchTrouble), word
        return word.kind

    def assert_no_more(self, path: Path) -> None:
        """Save known content at `path` and expect it as the next report, so that there was no other before it."""
        by_rename(path, SENTINEL)
        assert self.next_content() == SENTINEL


def by_rename(path: Path, content: bytes) -> None:
    """A temporary file beside it, then a rename over it."""
    draft = path.with_name(f"{path.name}.tmp.{os.getpid()}.1a2b3c")
    draft.write_bytes(content)
    draft.replace(path)


def by_truncating(path: Path, content: bytes) -> None:
    """Cut to nothing, written, closed: VS Code, and every plain open for writing."""
    descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC)
    os.write(descriptor, content)
    os.close(descriptor)


def by_two_renames(path: Path, content: bytes) -> None:
    """JetBrains' safe write: the new text aside, the old one away, the new one in, the old one deleted."""
    new, old = path.with_name(f"{path.name}___jb_tmp___"), path.with_name(f"{path.name}___jb_old___")
    new.write_bytes(content)
    path.replace(old)
    new.replace(path)
    old.unlink()
