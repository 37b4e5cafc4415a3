"""One benchmark at a time on a device, across all kgtui processes and users of a machine.

The lock is an advisory flock on a file that every user may open.  The kernel releases it when its holder exits in any
way, so no lock is ever stale and no process id has to be trusted.  Waiting processes poll: a thread that is blocked in
flock cannot be cancelled, and would keep the program from ending.  They queue by byte-range locks on a second file,
which vanish with their owners too; a stopped process keeps its place.  Nothing here may follow a link, or write to a
file that is not a lock.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import functools
import os
import re
import stat
import struct
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from engine.errors import UnsupportedError
from engine.model.benchmark import Holder

FOLDER_NAME = "kgtui-locks"
POLL_S = 0.03

# Not the temporary folder of the environment: that may differ from user to user, and so would the lock.
_PLACES = (Path("/run/lock"), Path("/tmp"))
# Polls until an unreadable holder name counts as absent: a new holder has the lock before it writes its name, and a new
# file has its owner's mode before it is made writable by all.
_PATIENCE = 10
_OPEN_TO_ALL, _WRITABLE_BY_ALL = 0o1777, 0o666
_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_MOST_HOLDER_BYTES, _MOST_COMMAND_CHARACTERS = 4096, 300
_MOST_PLACES = 1000
_RANGE = struct.Struct("hhqqi4x")  # struct flock of 64-bit Linux: type, whence, start, length, pid
_NO_RANGES = (errno.EINVAL, errno.ENOSYS, errno.ENOLCK)

_held: set[int] = set()


@dataclass(frozen=True, kw_only=True)
class LockState:
    """Whether a device is held; `holder` is None when it is free, or has no readable name."""

    is_held: bool
    holder: Holder | None = None


class DeviceLock:
    """The lock of the device that `device_id` names for every process; `command` is displayed to the others."""

    def __init__(
        self,
        folder: Path,
        *,
        device_id: str,
        command: str,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        poll_s: float = POLL_S,
    ) -> None:
        if not re.fullmatch(r"\w[\w.-]*", device_id):
            raise ValueError(f"a device id becomes a file name: expected letters, digits, - and _, got {device_id!r}")
        self._folder = folder
        self._device_id = device_id
        self._command = command[:_MOST_COMMAND_CHARACTERS]
        self._clock = clock
        self._poll_s = poll_s

    @contextlib.asynccontextmanager
    async def hold(self, *, on_wait: Callable[[Holder | None], None]) -> AsyncIterator[None]:
        """Hold the device for the block, first come, first served.

        `on_wait` gets the holder during the wait, and again whenever it changes; None is a holder whose name cannot be
        read.  It is not called without a wait.

        Raises:
            UnsupportedError: no lock is available here, so that exclusive use of the device cannot be ensured.
        """
        descriptor = await self._acquire(_Announcer(on_wait))
        try:
            _write_holder(descriptor, self._own_entry())
            yield
        finally:
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, 0)
            # Closing is not enough: a child between fork and exec shares the lock.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            _close(descriptor)

    async def _acquire(self, announcer: _Announcer) -> int:
        """The descriptor of the locked file."""
        line = await self._open("line")
        try:
            place = _join_queue(line)
            while True:
                # Reopened each time: a lock on a removed file excludes no other process.
                descriptor = await self._open("lock")
                if _is_first(line, place) and _try_lock(descriptor) and os.fstat(descriptor).st_nlink:
                    return descriptor
                try:
                    announcer.hear(_read_holder(descriptor))
                finally:
                    _close(descriptor)
                await asyncio.sleep(self._poll_s)
        finally:
            _leave_queue(line)
            _close(line)

    async def _open(self, kind: str) -> int:
        name = f"{self._device_id}.{kind}"
        for _ in range(_PATIENCE):
            try:
                return _open_shared(self._folder, name)
            except UnsupportedError:
                await asyncio.sleep(self._poll_s)
        return _open_shared(self._folder, name)

    def _own_entry(self) -> Holder:
        since = self._clock().astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        return Holder(pid=os.getpid(), command=self._command, since=since)


def shared_folder(places: tuple[Path, ...] = _PLACES) -> Path:
    """Folder of this machine's locks, the same for all of its users: the first place that all can write to."""
    for place in places:
        with contextlib.suppress(OSError):
            if _mode(place.stat()) & _OPEN_TO_ALL == _OPEN_TO_ALL:
                return place / FOLDER_NAME
    return places[-1] / FOLDER_NAME


def lock_state(folder: Path, device_id: str) -> LockState:
    """The current holder of the device.  Creates no file, and never waits.

    Raises:
        UnsupportedError: the lock exists and cannot be read.
    """
    path = folder / f"{device_id}.lock"
    try:
        descriptor = os.open(path, os.O_RDONLY | _FLAGS)
    except FileNotFoundError:
        return LockState(is_held=False)
    except OSError as error:
        raise _unusable(path, error) from error
    try:
        if _try_lock(descriptor, how=fcntl.LOCK_SH):
            return LockState(is_held=False)
        return LockState(is_held=True, holder=_read_holder(descriptor))
    finally:
        os.close(descriptor)


class _Announcer:
    """Reports the current holder once, and again when it changes."""

    def __init__(self, on_wait: Callable[[Holder | None], None]) -> None:
        self._on_wait = on_wait
        self._reported: tuple[Holder | None, ...] = ()
        self._unreadable = 0

    def hear(self, holder: Holder | None) -> None:
        self._unreadable = 0 if holder else self._unreadable + 1
        if self._reported == (holder,) or 0 < self._unreadable < _PATIENCE:
            return
        self._reported = (holder,)
        self._on_wait(holder)


def _open_shared(folder: Path, name: str) -> int:
    """A descriptor of the file, created if missing, that no forked child keeps."""
    path = folder / name
    try:
        place = _open_folder(folder)
        try:
            descriptor = _open_in(place, name)
        finally:
            os.close(place)
    except OSError as error:
        raise _unusable(path, error) from error
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        os.close(descriptor)
        raise UnsupportedError(
            f"{path}: expected a regular lock file without other names, found something else; remove it, then try again"
        )
    _close_in_children()
    _held.add(descriptor)
    return descriptor


def _open_folder(folder: Path) -> int:
    with contextlib.suppress(FileExistsError):
        folder.mkdir()
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | _FLAGS)
    found = os.fstat(descriptor)
    if _mode(found) & _OPEN_TO_ALL == _OPEN_TO_ALL:
        return descriptor
    try:
        if found.st_uid != os.geteuid():
            raise UnsupportedError(
                f"{folder}: expected a folder with mode 1777, where all users lock and none removes another's lock; "
                f"found mode {_mode(found):o} of user {found.st_uid}; its owner or root can chmod 1777 it"
            )
        os.fchmod(descriptor, _OPEN_TO_ALL)  # mkdir's mode is reduced by the umask
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _open_in(place: int, name: str) -> int:
    while True:
        # First without O_CREAT, with which the kernel may refuse another user's file in a sticky folder.
        with contextlib.suppress(FileNotFoundError):
            return os.open(name, os.O_RDWR | _FLAGS, dir_fd=place)
        with contextlib.suppress(FileExistsError):
            descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | _FLAGS, dir_fd=place)
            os.fchmod(descriptor, _WRITABLE_BY_ALL)  # independent of the umask
            return descriptor


def _try_lock(descriptor: int, *, how: int = fcntl.LOCK_EX) -> bool:
    """Whether the lock was free, and is ours now."""
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _join_queue(line: int) -> int:
    """Our position in the queue, the last; 0 if queues are unavailable, so that chance decides."""
    place = 0
    try:
        for _ in range(_MOST_PLACES):
            if (taken := _range_taken(line, start=place, length=0)) is not None:
                place = taken.stop
                continue
            with contextlib.suppress(BlockingIOError, PermissionError):  # another process took it in between
                fcntl.fcntl(line, fcntl.F_OFD_SETLK, _RANGE.pack(fcntl.F_WRLCK, os.SEEK_SET, place, 1, 0))
                return place
    except OSError as error:
        if error.errno not in _NO_RANGES:
            raise
    return 0


def _is_first(line: int, place: int) -> bool:
    return place == 0 or _range_taken(line, start=0, length=place) is None


def _leave_queue(line: int) -> None:
    with contextlib.suppress(OSError):  # where there are no such locks
        fcntl.fcntl(line, fcntl.F_OFD_SETLK, _RANGE.pack(fcntl.F_UNLCK, os.SEEK_SET, 0, 0, 0))


def _range_taken(line: int, *, start: int, length: int) -> range | None:
    """A locked range of other processes within these bytes, None if there is none; a length of 0 has no end."""
    asked = _RANGE.pack(fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)
    kind, _, first, count, _ = _RANGE.unpack(fcntl.fcntl(line, fcntl.F_OFD_GETLK, asked))
    return None if kind == fcntl.F_UNLCK else range(first, first + count)


def _write_holder(descriptor: int, holder: Holder) -> None:
    """Write our name to the locked file; if it cannot be written, the holder is unknown."""
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, msgspec.json.encode(holder) + b"\n", 0)


def _read_holder(descriptor: int) -> Holder | None:
    """Name of the holder; None when it is missing, damaged, or unfit for a terminal."""
    line, newline, _ = os.pread(descriptor, _MOST_HOLDER_BYTES, 0).partition(b"\n")
    if not newline:
        return None
    try:
        holder = msgspec.json.decode(line, type=Holder)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return holder if holder.pid > 0 and (holder.command + holder.since).isprintable() else None


def _close(descriptor: int) -> None:
    _held.discard(descriptor)
    os.close(descriptor)


@functools.cache
def _close_in_children() -> None:
    """Have children that are forked without exec close our lock descriptors, which would prolong a lock."""

    def close_all() -> None:
        while _held:
            os.close(_held.pop())

    os.register_at_fork(after_in_child=close_all)


def _mode(found: os.stat_result) -> int:
    return stat.S_IMODE(found.st_mode)


def _unusable(path: Path, error: OSError) -> UnsupportedError:
    return UnsupportedError(
        f"{path}: cannot be locked: {error.strerror}; expected a file that every user may write, in a folder of mode "
        "1777. Its owner or root can remove it"
    )
