"""Report each save of a file exactly once, however its editor saves.

watchdog's events only wake a thread, which reads the file, compares its content with the last reported one, and passes
on the bytes.  An independent comparison of the file's status catches what the system does not report: network folders,
a full event queue, a replaced directory. Names are matched exactly, so an editor's temporary and backup files never
count.  The watcher never writes, and never reports a content twice.
"""

from __future__ import annotations

import errno
import os
import queue
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from watchdog.events import FileClosedEvent, FileMovedEvent, FileSystemEvent, FileSystemEventHandler

from kgtui.files.watching.directories import DirectoryFeed
from kgtui.files.watching.file_systems import is_local
from kgtui.files.watching.reading import places_of
from kgtui.files.watching.tracked import Report, Sight, TrackedFile
from kgtui.ports.file_events import Delays, Saved, TroubleKind, WatchTrouble

__all__ = ["Delays", "DirectoryFeed", "Saved", "TroubleKind", "WatchTrouble", "Watcher"]


class Watcher:
    """Watches one kernel file, and the files that it imports, in a separate thread.

    `on_save` and `on_trouble` are called from that thread and must return soon; an application posts a message in them.
    `known_digest` is the content that the caller already has: if the file differs, that is reported at once.  Watchers
    of several files may share one `feed`, which its maker closes.
    """

    def __init__(
        self,
        path: Path,
        on_save: Callable[[Saved], None],
        on_trouble: Callable[[WatchTrouble], None],
        *,
        siblings: Iterable[Path] = (),
        known_digest: str | None = None,
        delays: Delays | None = None,
        feed: DirectoryFeed | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path = _absolute(path)
        self._on_save = on_save
        self._on_trouble = on_trouble
        self._delays = delays or Delays()
        self._clock = clock
        self._owns_feed = feed is None
        self._feed = feed or DirectoryFeed()
        self._kernel = TrackedFile(self.path, delays=self._delays, known_digest=known_digest)
        self._siblings = self._track(siblings)
        self._file_by_place: dict[str, TrackedFile] = {}
        self._directories: set[str] = set()
        self._polls_only = False
        self._is_local = False
        self._handler = _Forward(self._on_event)
        self._signals: queue.SimpleQueue[_Signal] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start watching; saves after this call returns are reported."""
        if self._thread is not None:
            raise RuntimeError(f"the watcher of {self.path} was started before; make a new one")
        self._subscribe()
        now_s = self._clock()
        for file in self._files:
            file.begin(now_s)
        self._thread = threading.Thread(target=self._run, name=f"watch {self.path.name}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop watching and wait for the thread.  Safe to call twice, and from a callback."""
        thread = self._thread
        if thread is None:
            return
        self._signals.put(_Stop())
        if thread is not threading.current_thread():
            thread.join()
        for directory in self._directories:
            self._feed.unsubscribe(directory, self._handler)
        self._directories = set()
        if self._owns_feed:
            self._feed.close()

    def follow(self, siblings: Iterable[Path]) -> None:
        """Watch these imported files from now on, instead of the previous ones."""
        self._signals.put(_Follow(paths=tuple(siblings)))

    @property
    def _files(self) -> tuple[TrackedFile, ...]:
        return (self._kernel, *self._siblings.values())

    def _track(self, siblings: Iterable[Path]) -> dict[Path, TrackedFile]:
        paths = {_absolute(path) for path in siblings} - {self.path}
        return {path: TrackedFile(path, delays=self._delays) for path in sorted(paths)}

    def _subscribe(self) -> None:
        """Watch exactly the directories that can have relevant events."""
        self._file_by_place = {place: file for file in self._files for place in places_of(file.path)}
        wanted = {str(Path(place).parent) for place in self._file_by_place}
        known = set(self._directories)
        for directory in self._directories - wanted:
            self._feed.unsubscribe(directory, self._handler)
        self._directories &= wanted
        for directory in sorted(wanted - self._directories):
            try:
                self._feed.subscribe(directory, self._handler)
                self._directories.add(directory)
            except FileNotFoundError:
                continue  # reported as a missing file; retried at every poll
            except OSError as error:
                self._poll_only(directory, error)
        if wanted <= self._directories:
            self._polls_only = False
        if self._directories != known:
            self._is_local = all(map(is_local, self._directories))

    def _poll_only(self, directory: str, error: OSError) -> None:
        if self._polls_only:
            return
        self._polls_only = True
        message = _polling_message(directory, error, self._delays.poll_only_s)
        self._report_trouble(TroubleKind.POLLING, self.path, message)

    def _on_event(self, event: FileSystemEvent) -> None:
        """Note an event; runs in watchdog's thread and never reads a file."""
        named = [(event.src_path, isinstance(event, FileClosedEvent))]
        if isinstance(event, FileMovedEvent):
            named.append((event.dest_path, True))
        for place, final in named:
            file = self._file_by_place.get(os.fsdecode(place))
            if file is not None:
                self._signals.put(_FileEvent(file=file, at_s=self._clock(), final=final))

    def _run(self) -> None:
        poll_due_s = self._clock() + self._poll_interval_s
        while True:
            dues_s = [file.due_s for file in self._files if file.due_s is not None]
            if not self._take_signals(min(poll_due_s, *dues_s) if dues_s else poll_due_s):
                return
            now_s = self._clock()
            if now_s >= poll_due_s:
                self._poll(now_s)
                poll_due_s = now_s + self._poll_interval_s
            for file in self._files:
                if file.due_s is not None and file.due_s <= now_s:
                    self._look(file)

    def _take_signals(self, until_s: float) -> bool:
        """Wait for a signal until `until_s`, and consume all pending ones; False if one is the stop."""
        try:
            signal = self._signals.get(timeout=max(0.0, until_s - self._clock()))
            while True:
                if isinstance(signal, _Stop):
                    return False
                if isinstance(signal, _FileEvent):
                    signal.file.notice(signal.at_s, final=signal.final)
                else:
                    self._follow(signal.paths)
                signal = self._signals.get_nowait()
        except queue.Empty:
            return True

    def _follow(self, paths: tuple[Path, ...]) -> None:
        tracked = self._track(paths)
        now_s = self._clock()
        for path, file in tracked.items():
            if path not in self._siblings:
                file.begin(now_s)
        self._siblings = {path: self._siblings.get(path, file) for path, file in tracked.items()}
        self._subscribe()

    def _poll(self, now_s: float) -> None:
        try:
            self._feed.repair()
        except OSError as error:
            self._poll_only(str(self.path.parent), error)
        self._subscribe()
        for file in self._files:
            file.poll(now_s)

    def _look(self, file: TrackedFile) -> None:
        reports = file.look(self._clock())
        if file is self._kernel:
            for report in reports:
                self._report_kernel(report)
        elif reports and self._kernel.content is not None:
            # Like an edited one: an imported file that is missing, cannot be read, or is there again as before.
            self._report_save(file.path, reports[-1].at_s)

    def _report_kernel(self, report: Report) -> None:
        path = self.path
        if report.sight is Sight.CHANGED:
            self._report_save(path, report.at_s)
        elif report.sight is Sight.GONE:
            self._report_trouble(
                TroubleKind.GONE, path, f"{path.name} no longer exists in {path.parent}; it is still watched"
            )
        elif report.sight is Sight.UNREADABLE:
            message = f"{path.name} cannot be read: {report.reason}; it is read again when it changes"
            self._report_trouble(TroubleKind.UNREADABLE, path, message)
        else:
            self._report_trouble(TroubleKind.BACK, path, f"{path.name} exists again")

    def _report_save(self, changed: Path, at_s: float) -> None:
        content, digest = self._kernel.content, self._kernel.digest
        assert content is not None and digest is not None
        self._on_save(Saved(path=self.path, changed=changed, content=content, digest=digest, at_s=at_s))

    def _report_trouble(self, kind: TroubleKind, path: Path, message: str) -> None:
        self._on_trouble(WatchTrouble(kind=kind, path=path, message=message))

    @property
    def _poll_interval_s(self) -> float:
        if self._polls_only:
            return self._delays.poll_only_s
        is_complete = self._is_local and self._directories
        return max(self._delays.poll_s, self._delays.poll_local_s) if is_complete else self._delays.poll_s


class _Forward(FileSystemEventHandler):
    """Handler object for watchdog that passes each file event to one function."""

    def __init__(self, on_event: Callable[[FileSystemEvent], None]) -> None:
        self._on_event = on_event

    def on_any_event(self, event: FileSystemEvent) -> None:
        if not event.is_directory:
            self._on_event(event)


@dataclass(frozen=True, kw_only=True)
class _FileEvent:
    file: TrackedFile
    at_s: float
    final: bool


@dataclass(frozen=True, kw_only=True)
class _Follow:
    paths: tuple[Path, ...]


@dataclass(frozen=True, kw_only=True)
class _Stop:
    pass


_Signal: TypeAlias = _FileEvent | _Follow | _Stop


def _absolute(path: Path) -> Path:
    """The absolute path with its links: a link may be redirected while it is watched."""
    return path.absolute()


def _polling_message(directory: str, error: OSError, every_s: float) -> str:
    """Message on missing events, and how to raise the system's limit if that is the reason."""
    reasons = {
        errno.ENOSPC: "the system has no file watches left; raise the limit with sysctl fs.inotify.max_user_watches",
        errno.EMFILE: "the system has no watch instances left; "
        "raise the limit with sysctl fs.inotify.max_user_instances",
    }
    reason = reasons.get(error.errno or 0, error.strerror or str(error))
    return f"{directory} is polled every {every_s:g} s instead of watched: {reason}"
