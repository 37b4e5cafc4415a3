"""Events of folders that watchers share: replaced folders, missing watches, threads and descriptors."""

from __future__ import annotations

import errno
import os
import queue
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers.api import BaseObserver, ObservedWatch
from watchdog.observers.inotify import InotifyObserver

from kgtui.files.watcher import Delays, DirectoryFeed, Saved, TroubleKind, Watcher, WatchTrouble
from tests.descriptors import open_files
from tests.guards import PATIENCE_S
from tests.kgtui.files.watched import AFTER, BEFORE, Reports, Watch, by_rename, by_truncating


class RecordingHandler(FileSystemEventHandler):
    """Keeps the names of the files that events were about."""

    def __init__(self) -> None:
        self.names: queue.Queue[str] = queue.Queue()

    def on_closed(self, event: FileSystemEvent) -> None:
        self.names.put(Path(os.fsdecode(event.src_path)).name)


def test_feed_reports_replaced_folder_again(tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir()
    feed, handler = DirectoryFeed(), RecordingHandler()
    feed.subscribe(str(folder), handler)
    shutil.rmtree(folder)
    feed.repair()
    folder.mkdir()
    feed.repair()
    (folder / "kernel.py").write_bytes(BEFORE)
    assert handler.names.get(timeout=PATIENCE_S) == "kernel.py"
    feed.close()


class ExhaustedObserver(InotifyObserver):
    """The system's refusal of one more watch, which cannot be had without hurting other programs."""

    def schedule(
        self,
        event_handler: FileSystemEventHandler,
        path: str | Path,
        *,
        recursive: bool = False,
        event_filter: list[type[FileSystemEvent]] | None = None,
        follow_symlink: bool = False,
    ) -> ObservedWatch:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def no_instances() -> BaseObserver:
    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


@pytest.mark.parametrize(
    ("make_observer", "limit"), [(ExhaustedObserver, "max_user_watches"), (no_instances, "max_user_instances")]
)
def test_polling_without_watches_is_reported_once(
    kernel: Path, watch: Watch, make_observer: Callable[[], BaseObserver], limit: str
) -> None:
    feed = DirectoryFeed(make_observer)
    reports = watch(kernel, feed=feed)
    word = reports.next()
    assert isinstance(word, WatchTrouble)
    assert (word.kind, limit in word.message) == (TroubleKind.POLLING, True)
    for writer in (by_rename, by_truncating):
        writer(kernel, AFTER)
        assert reports.next_content() == AFTER
        reports.assert_no_more(kernel)
    feed.close()


class SilentObserver(InotifyObserver):
    """A network folder: watching succeeds, and no event ever comes."""

    def dispatch_events(self, event_queue: object) -> None:
        self.stopped_event.wait()


def test_save_without_event_is_still_seen(kernel: Path, watch: Watch) -> None:
    feed = DirectoryFeed(SilentObserver)
    reports = watch(kernel, feed=feed)
    by_truncating(kernel, AFTER)
    assert reports.next_content() == AFTER
    reports.assert_no_more(kernel)
    feed.close()


def test_watchers_of_several_files_share_one_feed(kernel: Path, watch: Watch) -> None:
    other = kernel.with_name("other.py")
    other.write_bytes(BEFORE)
    feed = DirectoryFeed()
    ears = [watch(path, feed=feed, delays=Delays(poll_s=3600)) for path in (kernel, other)]
    by_rename(other, AFTER)
    assert ears[1].next_content() == AFTER
    for reports, path in zip(ears, (kernel, other), strict=True):
        reports.assert_no_more(path)
    feed.close()


def test_stopping_one_watcher_leaves_the_other_working(kernel: Path, watch: Watch) -> None:
    feed = DirectoryFeed()
    leaver = Watcher(kernel, Reports().add, Reports().add, feed=feed)
    leaver.start()
    stayer = watch(kernel, feed=feed, delays=Delays(poll_s=3600))
    leaver.stop()
    stayer.assert_no_more(kernel)
    feed.close()


def test_stop_leaves_no_thread_and_no_descriptor(kernel: Path) -> None:
    threads, files = set(threading.enumerate()), open_files()
    for _ in range(20):
        reports = Reports()
        watcher = Watcher(kernel, reports.add, reports.add)
        watcher.start()
        reports.assert_no_more(kernel)
        by_rename(kernel, BEFORE)
        watcher.stop()
        watcher.stop()
    assert not set(threading.enumerate()) - threads
    assert not open_files() - files


def test_a_callback_may_stop_the_watcher(kernel: Path) -> None:
    stopped = threading.Event()

    def stop(_: Saved) -> None:
        watcher.stop()
        stopped.set()

    watcher = Watcher(kernel, stop, Reports().add)
    watcher.start()
    by_rename(kernel, AFTER)
    assert stopped.wait(PATIENCE_S)


def test_a_watcher_is_started_once(kernel: Path, watch: Watch) -> None:
    watcher = Watcher(kernel, Reports().add, Reports().add)
    watcher.start()
    with pytest.raises(RuntimeError, match="make a new one"):
        watcher.start()
    watcher.stop()


@pytest.mark.parametrize(("local", "every_s"), [(True, 2.0), (False, 0.5)])
def test_file_is_compared_rarely_with_reliable_events(
    kernel: Path, monkeypatch: pytest.MonkeyPatch, local: bool, every_s: float
) -> None:
    monkeypatch.setattr("kgtui.files.watcher.is_local", lambda directory: local)
    reports = Reports()
    watcher = Watcher(kernel, reports.add, reports.add)
    watcher.start()
    try:
        assert watcher._poll_interval_s == every_s
    finally:
        watcher.stop()
