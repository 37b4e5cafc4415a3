"""Saves as editors make them, with their real system calls, and what the watcher says of each."""

from __future__ import annotations

import errno
import hashlib
import mmap
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers.api import BaseObserver, ObservedWatch
from watchdog.observers.inotify import InotifyObserver

from kgtui.files.watcher import Delays, DirectoryFeed, Saved, TroubleKind, Watcher, WatchTrouble
from tests.guards import PATIENCE_S

BEFORE = b"VALUE = 1\n"
AFTER = b"VALUE = 2\n"
SENTINEL = b"SENTINEL = 3\n"
# For writers that pause: on a busy machine, for longer than people would like to wait.
PATIENT = Delays(settle_s=2.0, gone_s=2.0, empty_s=2.0, second_look_s=2.0)

Writer: TypeAlias = Callable[[Path, bytes], None]
Watch: TypeAlias = "Callable[..., Ear]"


class Ear:
    """Hears everything that a watcher says, in order."""

    def __init__(self) -> None:
        self._heard: queue.Queue[Saved | WatchTrouble] = queue.Queue()

    def hear(self, word: Saved | WatchTrouble) -> None:
        self._heard.put(word)

    def next(self) -> Saved | WatchTrouble:
        return self._heard.get(timeout=PATIENCE_S)

    def next_content(self) -> bytes:
        word = self.next()
        assert isinstance(word, Saved), word
        return word.content

    def next_trouble(self) -> TroubleKind:
        word = self.next()
        assert isinstance(word, WatchTrouble), word
        return word.kind

    def hears_nothing_but(self, path: Path) -> None:
        """Save known content at `path`; it must be the next word, so that nothing else was said before."""
        by_rename(path, SENTINEL)
        assert self.next_content() == SENTINEL


def _place_outside_temp() -> Path:
    """Beside this file, unless the whole checkout lies in a temporary folder, where vim saves another way."""
    temporary = {Path("/tmp"), Path(tempfile.gettempdir())}
    places = (Path(__file__).parent, Path.home(), Path("/var/tmp"))
    return next(
        place for place in places if temporary.isdisjoint((place, *place.parents)) and os.access(place, os.W_OK)
    )


@pytest.fixture
def outside_temp() -> Iterator[Path]:
    """A folder that no editor takes for a temporary one: vim saves by renaming only there."""
    folder = Path(tempfile.mkdtemp(prefix="watched-", dir=_place_outside_temp()))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "kernel.py"
    path.write_bytes(BEFORE)
    return path


@pytest.fixture
def watch() -> Iterator[Watch]:
    """Starts watchers of files, and stops them at the end."""
    started: list[Watcher] = []

    def start(path: Path, **options: object) -> Ear:
        ear = Ear()
        watcher = Watcher(path, ear.hear, ear.hear, **options)  # type: ignore[arg-type]  # passed through
        watcher.start()
        started.append(watcher)
        return ear

    yield start
    for watcher in started:
        watcher.stop()


def run(*command: str, folder: Path) -> None:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=True)


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


def by_truncating_slowly(path: Path, content: bytes) -> None:
    """Empty for a moment, without a close in between."""
    descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC)
    time.sleep(0.05)
    os.write(descriptor, content)
    os.close(descriptor)


def by_emptying_first(path: Path, content: bytes) -> None:
    """Emptied and closed, then opened again and written: the shell's `: > file; cat >> file`."""
    path.write_bytes(b"")
    time.sleep(0.05)
    with path.open("ab") as file:
        file.write(content)


def in_chunks(path: Path, content: bytes) -> None:
    """A few bytes every 30 ms, closed at the end."""
    with path.open("wb", buffering=0) as file:
        for start in range(0, len(content), 2):
            file.write(content[start : start + 2])
            time.sleep(0.03)


def from_another_folder(path: Path, content: bytes) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        (Path(folder) / "draft").write_bytes(content)
        (Path(folder) / "draft").replace(path)


def by_two_renames(path: Path, content: bytes) -> None:
    """JetBrains' safe write: the new text aside, the old one away, the new one in, the old one deleted."""
    new, old = path.with_name(f"{path.name}___jb_tmp___"), path.with_name(f"{path.name}___jb_old___")
    new.write_bytes(content)
    path.replace(old)
    new.replace(path)
    old.unlink()


def through_a_mapping(path: Path, content: bytes) -> None:
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapping:
        mapping[: len(content)] = content


def by_sed(path: Path, content: bytes) -> None:
    run("sed", "-i", f"s/.*/{content.decode().strip()}/", path.name, folder=path.parent)


def by_vim(path: Path, content: bytes) -> None:
    change = f"%s/.*/{content.decode().strip()}/"
    run("vim", "-u", "NONE", "-i", "NONE", "-N", "-es", "-c", change, "-c", "wq", path.name, folder=path.parent)


def by_vim_with_a_copy(path: Path, content: bytes) -> None:
    change = f"%s/.*/{content.decode().strip()}/"
    options = ("-c", "set backup backupcopy=yes backupskip=", "-c", change, "-c", "wq")
    run("vim", "-u", "NONE", "-i", "NONE", "-N", "-es", *options, path.name, folder=path.parent)


def by_node(path: Path, content: bytes) -> None:
    script = f"require('fs').writeFileSync({path.name!r}, {content.decode()!r})"
    run("node", "-e", script, folder=path.parent)


def by_deleting_first(path: Path, content: bytes) -> None:
    """As git does when it changes branches."""
    path.unlink()
    path.write_bytes(content)


def by_appending(path: Path, content: bytes) -> None:
    """Ends as `content` only where the file began as its first half."""
    with path.open("ab") as file:
        file.write(content[len(content) // 2 :])


WRITERS = (
    by_rename, by_truncating, by_truncating_slowly, by_emptying_first, in_chunks, from_another_folder, by_two_renames,
    through_a_mapping, by_sed, by_vim, by_vim_with_a_copy, by_node, by_deleting_first,
)  # fmt: skip


def needs(writer: Writer) -> None:
    tool = {by_vim: "vim", by_vim_with_a_copy: "vim", by_node: "node", by_sed: "sed"}.get(writer)
    if tool and shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")


@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.__name__)
def test_each_kind_of_save_is_reported_once(kernel: Path, watch: Watch, writer: Writer) -> None:
    needs(writer)
    ear = watch(kernel, delays=replace(PATIENT, poll_s=3600))
    writer(kernel, AFTER)
    word = ear.next()
    assert isinstance(word, Saved)
    digest = hashlib.sha256(AFTER).hexdigest()
    assert (word.path, word.changed, word.content, word.digest) == (kernel, kernel, AFTER, digest)
    ear.hears_nothing_but(kernel)


@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.__name__)
def test_each_kind_of_save_outside_temporary_folders_is_reported(
    outside_temp: Path, watch: Watch, writer: Writer
) -> None:
    needs(writer)
    kernel = outside_temp / "kernel.py"
    kernel.write_bytes(BEFORE)
    ear = watch(kernel, delays=PATIENT)
    writer(kernel, AFTER)
    assert ear.next_content() == AFTER
    ear.hears_nothing_but(kernel)


def test_vim_really_renames_outside_temporary_folders(outside_temp: Path, kernel: Path) -> None:
    """Why the test above has a folder of its own; if vim stops doing this, that test proves nothing."""
    needs(by_vim)
    elsewhere = outside_temp / "kernel.py"
    elsewhere.write_bytes(BEFORE)
    inodes = [elsewhere.stat().st_ino, kernel.stat().st_ino]
    by_vim(elsewhere, AFTER)
    by_vim(kernel, AFTER)
    assert [elsewhere.stat().st_ino != inodes[0], kernel.stat().st_ino != inodes[1]] == [True, False]


def test_appending_is_a_save(tmp_path: Path, watch: Watch) -> None:
    kernel = tmp_path / "kernel.py"
    kernel.write_bytes(AFTER[: len(AFTER) // 2])
    ear = watch(kernel)
    by_appending(kernel, AFTER)
    assert ear.next_content() == AFTER
    ear.hears_nothing_but(kernel)


def test_a_git_checkout_is_a_save(tmp_path: Path, watch: Watch) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    kernel = tmp_path / "kernel.py"
    kernel.write_bytes(AFTER)
    author = ("-c", "user.name=nobody", "-c", "user.email=nobody@localhost")
    run("git", "init", "--quiet", "--initial-branch", "fast", folder=tmp_path)
    run("git", "add", "kernel.py", folder=tmp_path)
    run("git", *author, "commit", "--quiet", "-m", "fast", folder=tmp_path)
    run("git", "checkout", "--quiet", "-b", "slow", folder=tmp_path)
    kernel.write_bytes(BEFORE)
    run("git", *author, "commit", "--quiet", "-am", "slow", folder=tmp_path)
    ear = watch(kernel)
    run("git", "checkout", "--quiet", "fast", folder=tmp_path)
    assert ear.next_content() == AFTER
    ear.hears_nothing_but(kernel)


def test_touch_chmod_read_and_unchanged_save_start_no_run(kernel: Path, watch: Watch) -> None:
    ear = watch(kernel)
    kernel.touch()
    kernel.chmod(0o600)
    kernel.read_bytes()
    by_truncating(kernel, BEFORE)
    by_rename(kernel, BEFORE)
    by_two_renames(kernel, BEFORE)
    ear.hears_nothing_but(kernel)


def test_other_files_of_the_folder_start_no_run(kernel: Path, watch: Watch) -> None:
    ear = watch(kernel)
    for name in ("4913", "kernel.py~", ".#kernel.py", ".kernel.py.swp", "kernel.py.tmp.12.ab", "other.py"):
        kernel.with_name(name).write_bytes(AFTER)
    ear.hears_nothing_but(kernel)


def test_two_saves_are_two_reports_with_last_content(kernel: Path, watch: Watch) -> None:
    ear = watch(kernel)
    by_rename(kernel, AFTER)
    assert ear.next_content() == AFTER
    by_rename(kernel, BEFORE)
    assert ear.next_content() == BEFORE


def test_a_broken_file_is_reported_too(kernel: Path, watch: Watch) -> None:
    ear = watch(kernel)
    by_rename(kernel, b"def broken(:\n")
    assert ear.next_content() == b"def broken(:\n"
    ear.hears_nothing_but(kernel)


def test_an_emptied_file_is_reported_too(kernel: Path, watch: Watch) -> None:
    ear = watch(kernel)
    kernel.write_bytes(b"")
    assert ear.next_content() == b""
    ear.hears_nothing_but(kernel)


def test_deleted_file_is_gone_and_same_file_returns(kernel: Path, watch: Watch) -> None:
    ear = watch(kernel)
    kernel.unlink()
    assert ear.next_trouble() is TroubleKind.GONE
    by_rename(kernel, BEFORE)
    assert ear.next_trouble() is TroubleKind.BACK
    ear.hears_nothing_but(kernel)


def test_file_returning_different_is_a_save(kernel: Path, watch: Watch) -> None:
    ear = watch(kernel)
    kernel.unlink()
    assert ear.next_trouble() is TroubleKind.GONE
    by_rename(kernel, AFTER)
    assert (ear.next_trouble(), ear.next_content()) == (TroubleKind.BACK, AFTER)
    ear.hears_nothing_but(kernel)


def test_file_missing_at_start_is_gone_until_made(tmp_path: Path, watch: Watch) -> None:
    ear = watch(tmp_path / "later" / "kernel.py")
    assert ear.next_trouble() is TroubleKind.GONE
    (tmp_path / "later").mkdir()
    by_rename(tmp_path / "later" / "kernel.py", AFTER)
    assert (ear.next_trouble(), ear.next_content()) == (TroubleKind.BACK, AFTER)


def test_folder_instead_of_file_is_unreadable(kernel: Path, watch: Watch) -> None:
    ear = watch(kernel)
    kernel.unlink()
    kernel.mkdir()
    word = ear.next()
    assert isinstance(word, WatchTrouble)
    assert (word.kind, word.kind.is_notice) == (TroubleKind.UNREADABLE, False)
    assert word.message == f"{kernel.name} cannot be read: it is a folder; it is tried again when it changes"


def test_changed_read_error_is_reported_again(kernel: Path, watch: Watch) -> None:
    ear = watch(kernel)
    kernel.unlink()
    kernel.mkdir()
    assert ear.next_trouble() is TroubleKind.UNREADABLE
    kernel.rmdir()
    assert ear.next_trouble() is TroubleKind.GONE
    kernel.mkdir()
    assert ear.next_trouble() is TroubleKind.UNREADABLE
    kernel.rmdir()
    assert ear.next_trouble() is TroubleKind.GONE
    by_rename(kernel, BEFORE)
    assert ear.next_trouble() is TroubleKind.BACK
    ear.hears_nothing_but(kernel)


def test_saves_are_seen_after_folder_was_replaced(tmp_path: Path, watch: Watch) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir()
    kernel = folder / "kernel.py"
    kernel.write_bytes(BEFORE)
    ear = watch(kernel)
    shutil.rmtree(folder)
    assert ear.next_trouble() is TroubleKind.GONE
    folder.mkdir()
    kernel.write_bytes(AFTER)
    assert (ear.next_trouble(), ear.next_content()) == (TroubleKind.BACK, AFTER)
    ear.hears_nothing_but(kernel)


def test_unknown_content_is_reported_at_start(kernel: Path, watch: Watch) -> None:
    ear = watch(kernel, known_digest=hashlib.sha256(b"read before").hexdigest())
    assert ear.next_content() == BEFORE
    ear.hears_nothing_but(kernel)


def test_known_content_is_not_reported_at_start(kernel: Path, watch: Watch) -> None:
    watch(kernel, known_digest=hashlib.sha256(BEFORE).hexdigest()).hears_nothing_but(kernel)


def test_save_of_link_target_is_a_save(tmp_path: Path, watch: Watch) -> None:
    for name in ("there", "here", "between"):
        (tmp_path / name).mkdir()
    target, link = tmp_path / "there" / "real.py", tmp_path / "here" / "kernel.py"
    target.write_bytes(BEFORE)
    (tmp_path / "between" / "link.py").symlink_to(target)
    link.symlink_to("../between/link.py")
    ear = watch(link, delays=Delays(poll_s=3600))
    by_rename(target, AFTER)
    assert ear.next_content() == AFTER
    by_truncating(link, SENTINEL)
    assert ear.next_content() == SENTINEL


def test_redirected_link_is_a_save(tmp_path: Path, watch: Watch) -> None:
    for name, content in (("one.py", BEFORE), ("two.py", AFTER)):
        (tmp_path / name).write_bytes(content)
    link = tmp_path / "kernel.py"
    link.symlink_to("one.py")
    ear = watch(link)
    (tmp_path / "link.new").symlink_to("two.py")
    (tmp_path / "link.new").replace(link)
    assert ear.next_content() == AFTER
    by_truncating(tmp_path / "two.py", SENTINEL)
    assert ear.next_content() == SENTINEL


def test_a_kernel_in_a_linked_folder_is_watched(tmp_path: Path, watch: Watch) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "kernel.py").write_bytes(BEFORE)
    (tmp_path / "linked").symlink_to("real")
    ear = watch(tmp_path / "linked" / "kernel.py", delays=Delays(poll_s=3600))
    by_rename(tmp_path / "real" / "kernel.py", AFTER)
    assert ear.next_content() == AFTER


def test_change_of_imported_file_is_save_of_kernel(kernel: Path, watch: Watch) -> None:
    helper = kernel.with_name("helper.py")
    helper.write_bytes(BEFORE)
    ear = watch(kernel, siblings=[helper])
    by_two_renames(helper, AFTER)
    word = ear.next()
    assert isinstance(word, Saved)
    assert (word.path, word.changed, word.content) == (kernel, helper, BEFORE)
    ear.hears_nothing_but(kernel)


def test_imported_files_can_be_named_while_watching(kernel: Path) -> None:
    old, new = kernel.with_name("old.py"), kernel.with_name("new.py")
    for path in (old, new):
        path.write_bytes(BEFORE)
    ear = Ear()
    watcher = Watcher(kernel, ear.hear, ear.hear, siblings=[old])
    watcher.start()
    try:
        watcher.follow([new])
        ear.hears_nothing_but(kernel)  # signals are taken in order: the new list is in force
        by_rename(old, AFTER)
        by_rename(new, AFTER)
        word = ear.next()
        assert isinstance(word, Saved)
        assert word.changed == new
    finally:
        watcher.stop()


class Overheard(FileSystemEventHandler):
    """Keeps the names of the files that events were about."""

    def __init__(self) -> None:
        self.names: queue.Queue[str] = queue.Queue()

    def on_closed(self, event: FileSystemEvent) -> None:
        self.names.put(Path(os.fsdecode(event.src_path)).name)


def test_feed_reports_replaced_folder_again(tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir()
    feed, handler = DirectoryFeed(), Overheard()
    feed.subscribe(str(folder), handler)
    shutil.rmtree(folder)
    feed.repair()
    folder.mkdir()
    feed.repair()
    (folder / "kernel.py").write_bytes(BEFORE)
    assert handler.names.get(timeout=PATIENCE_S) == "kernel.py"
    feed.close()


class Exhausted(InotifyObserver):
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
    ("make_observer", "limit"), [(Exhausted, "max_user_watches"), (no_instances, "max_user_instances")]
)
def test_polling_without_watches_is_reported_once(
    kernel: Path, watch: Watch, make_observer: Callable[[], BaseObserver], limit: str
) -> None:
    feed = DirectoryFeed(make_observer)
    ear = watch(kernel, feed=feed)
    word = ear.next()
    assert isinstance(word, WatchTrouble)
    assert (word.kind, word.kind.is_notice, limit in word.message) == (TroubleKind.POLLING, True, True)
    for writer in (by_rename, by_truncating):
        writer(kernel, AFTER)
        assert ear.next_content() == AFTER
        ear.hears_nothing_but(kernel)
    feed.close()


class Deaf(InotifyObserver):
    """A network folder: watching succeeds, and no event ever comes."""

    def dispatch_events(self, event_queue: object) -> None:
        self.stopped_event.wait()


def test_save_without_event_is_still_seen(kernel: Path, watch: Watch) -> None:
    feed = DirectoryFeed(Deaf)
    ear = watch(kernel, feed=feed)
    by_truncating(kernel, AFTER)
    assert ear.next_content() == AFTER
    ear.hears_nothing_but(kernel)
    feed.close()


def test_watchers_of_several_files_share_one_feed(kernel: Path, watch: Watch) -> None:
    other = kernel.with_name("other.py")
    other.write_bytes(BEFORE)
    feed = DirectoryFeed()
    ears = [watch(path, feed=feed, delays=Delays(poll_s=3600)) for path in (kernel, other)]
    by_rename(other, AFTER)
    assert ears[1].next_content() == AFTER
    for ear, path in zip(ears, (kernel, other), strict=True):
        ear.hears_nothing_but(path)
    feed.close()


def test_stopping_one_watcher_leaves_the_other_working(kernel: Path, watch: Watch) -> None:
    feed = DirectoryFeed()
    leaver = Watcher(kernel, Ear().hear, Ear().hear, feed=feed)
    leaver.start()
    stayer = watch(kernel, feed=feed, delays=Delays(poll_s=3600))
    leaver.stop()
    stayer.hears_nothing_but(kernel)
    feed.close()


def test_stop_leaves_no_thread_and_no_descriptor(kernel: Path) -> None:
    def open_descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    before = set(threading.enumerate()), open_descriptors()
    for _ in range(20):
        ear = Ear()
        watcher = Watcher(kernel, ear.hear, ear.hear)
        watcher.start()
        ear.hears_nothing_but(kernel)
        by_rename(kernel, BEFORE)
        watcher.stop()
        watcher.stop()
    assert (set(threading.enumerate()), open_descriptors()) == before


def test_a_callback_may_stop_the_watcher(kernel: Path) -> None:
    stopped = threading.Event()

    def stop(_: Saved) -> None:
        watcher.stop()
        stopped.set()

    watcher = Watcher(kernel, stop, Ear().hear)
    watcher.start()
    by_rename(kernel, AFTER)
    assert stopped.wait(PATIENCE_S)


def test_a_watcher_is_started_once(kernel: Path, watch: Watch) -> None:
    watcher = Watcher(kernel, Ear().hear, Ear().hear)
    watcher.start()
    with pytest.raises(RuntimeError, match="make a new one"):
        watcher.start()
    watcher.stop()


@pytest.mark.parametrize(("local", "every_s"), [(True, 2.0), (False, 0.5)])
def test_file_is_compared_rarely_with_reliable_events(
    kernel: Path, monkeypatch: pytest.MonkeyPatch, local: bool, every_s: float
) -> None:
    monkeypatch.setattr("kgtui.files.watcher.is_local", lambda directory: local)
    ear = Ear()
    watcher = Watcher(kernel, ear.hear, ear.hear)
    watcher.start()
    try:
        assert watcher._poll_interval_s == every_s
    finally:
        watcher.stop()
