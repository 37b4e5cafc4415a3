"""One watchdog observer for all directories of interest.

Several watchers may share it.  It only forwards events: it never reads a file or decides what a save is.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path

from watchdog.events import (
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch

# Without open and read events, which the watcher's own reading would cause.
EVENTS: list[type[FileSystemEvent]] = [
    FileCreatedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileClosedEvent,
    FileDeletedEvent,
]


class DirectoryFeed:
    """Events of directories, without their subdirectories, for any number of handlers."""

    def __init__(self, make_observer: Callable[[], BaseObserver] = Observer) -> None:
        self._make_observer = make_observer
        self._observer: BaseObserver | None = None
        self._watches: dict[str, ObservedWatch] = {}
        self._handlers: dict[str, list[FileSystemEventHandler]] = {}
        self._inodes: dict[str, tuple[int, int] | None] = {}
        self._lock = threading.Lock()

    def subscribe(self, directory: str, handler: FileSystemEventHandler) -> None:
        """Pass events of `directory` to `handler` from now on.

        Raises:
            OSError: the directory is missing, or the system's watch limit is reached.
        """
        with self._lock:
            self._schedule(directory, handler)
            self._handlers.setdefault(directory, []).append(handler)

    def unsubscribe(self, directory: str, handler: FileSystemEventHandler) -> None:
        """Stop passing events of `directory` to `handler`; no effect if it was not subscribed."""
        with self._lock:
            handlers = self._handlers.get(directory, [])
            if handler not in handlers:
                return
            handlers.remove(handler)
            if not handlers:
                del self._handlers[directory]
                self._unschedule(directory)
            elif self._observer is not None and directory in self._watches:
                self._observer.remove_handler_for_watch(handler, self._watches[directory])

    def repair(self) -> None:
        """Watch again the directories that were removed, moved or replaced since they were subscribed.

        The system drops the watch of a removed directory without an error, and git removes and creates directories when
        it switches branches.
        """
        with self._lock:
            for directory, handlers in self._handlers.items():
                inode = _inode(directory)
                if inode is None:
                    self._unschedule(directory)
                elif inode != self._inodes.get(directory) or self._has_ended(directory):
                    self._unschedule(directory)
                    for handler in handlers:
                        self._schedule(directory, handler)

    def close(self) -> None:
        """Stop the observer and wait for its threads.  Safe to call twice."""
        with self._lock:
            observer, self._observer = self._observer, None
            for known in (self._watches, self._handlers, self._inodes):
                known.clear()
        if observer is not None:
            observer.stop()
            observer.join()

    def _schedule(self, directory: str, handler: FileSystemEventHandler) -> None:
        if self._observer is None:
            # Without a handler watchdog's messages would be printed over the screen.
            logging.getLogger("watchdog").addHandler(logging.NullHandler())
            self._observer = self._make_observer()
            self._observer.start()
        self._watches[directory] = self._observer.schedule(handler, directory, event_filter=EVENTS)
        self._inodes[directory] = _inode(directory)

    def _unschedule(self, directory: str) -> None:
        watch = self._watches.pop(directory, None)
        self._inodes.pop(directory, None)
        if watch is not None and self._observer is not None:
            self._observer.unschedule(watch)

    def _has_ended(self, directory: str) -> bool:
        """True after the directory was removed, even if a new one has its inode number."""
        emitters = self._observer.emitters if self._observer is not None else set()
        watch = self._watches.get(directory)
        return any(emitter.watch == watch and not emitter.is_alive() for emitter in emitters)


def _inode(directory: str) -> tuple[int, int] | None:
    try:
        status = Path(directory).stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
