"""One holder at a time, also after a crash or a cancellation; waiters are served in order and get the holder."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.devices.hardware.device_lock import DeviceLock, LockState, lock_state, shared_folder
from engine.errors import UnsupportedError
from engine.model.benchmark import Holder
from tests.descriptors import open_files

DEVICE = "GPU-1a20"
NOBODY = 65534
NOON = datetime(2026, 1, 2, 12, 0, 0, tzinfo=UTC)

# Holds the lock until a line comes in; says each thing that happens on a line of its own.  It ends by itself.
CLIENT = """
import asyncio, concurrent.futures.thread, os, signal, sys  # all, while their folder can still be read
from pathlib import Path
from engine.devices.hardware.device_lock import DeviceLock
from engine.errors import UnsupportedError

folder, command, user, action = sys.argv[1:]
signal.alarm(60)
os.umask(0o077)
if int(user) != os.geteuid():
    os.setegid(int(user))
    os.seteuid(int(user))

def say(*words):
    # In one piece: what another process says must not come between a line and its end.
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())

def waits(holder):
    say("waits for", holder.command if holder else "somebody")

async def main():
    lock = DeviceLock(Path(folder), device_id="GPU-1a20", command=command)
    async with lock.hold(on_wait=waits):
        if action == "fork" and os.fork() == 0:
            signal.alarm(60)
            say("forked", os.getpid())
            signal.pause()
        say("holds")
        await asyncio.to_thread(sys.stdin.readline)
    say("let go")
    if action == "fork":
        os.wait()

try:
    asyncio.run(main())
except UnsupportedError as error:
    say("refused", error)
"""


class Client:
    """Another process that wants the device."""

    def __init__(self, folder: Path, command: str, *, user: int, action: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", CLIENT, str(folder), command, str(user), action],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def says(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def let_go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


Start = Callable[..., Client]


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where the locks will be: in a place that every user can reach, unlike pytest's own."""
    with tempfile.TemporaryDirectory(prefix="kgtui-test-") as place:
        Path(place).chmod(0o755)
        yield Path(place) / "locks"


@pytest.fixture
def start(folder: Path) -> Iterator[Start]:
    """Start another process; it is ended with the test."""
    clients: list[Client] = []

    def started(command: str, *, user: int | None = None, action: str = "hold") -> Client:
        clients.append(Client(folder, command, user=os.geteuid() if user is None else user, action=action))
        return clients[-1]

    yield started
    for client in clients:
        client.end()


def lock(folder: Path, command: str = "kgtui bench mine.py", *, poll_s: float = 0.001) -> DeviceLock:
    return DeviceLock(folder, device_id=DEVICE, command=command, clock=lambda: NOON, poll_s=poll_s)


def ignore(holder: Holder | None) -> None:
    pass


def refuse(holder: Holder | None) -> None:
    raise AssertionError(f"no wait expected, but waited for {holder}")


class Ear:
    """Remembers who was waited for, and can be waited for."""

    def __init__(self) -> None:
        self.heard: list[Holder | None] = []
        self._called = asyncio.Event()

    def __call__(self, holder: Holder | None) -> None:
        self.heard.append(holder)
        self._called.set()

    async def called(self) -> None:
        await self._called.wait()
        self._called.clear()

    async def heard_of(self, command: str) -> None:
        while command not in (holder.command for holder in self.heard if holder):
            await self.called()


async def test_free_device_is_locked_at_once_and_released(folder: Path) -> None:
    async with lock(folder).hold(on_wait=refuse):
        held = Holder(pid=os.getpid(), command="kgtui bench mine.py", since="2026-01-02T12:00:00Z")
        assert lock_state(folder, DEVICE) == LockState(is_held=True, holder=held)
    assert lock_state(folder, DEVICE) == LockState(is_held=False)
    async with lock(folder).hold(on_wait=refuse):
        pass


async def test_another_device_is_another_lock(folder: Path) -> None:
    async with (
        lock(folder).hold(on_wait=refuse),
        DeviceLock(folder, device_id="cuda-1", command="x").hold(on_wait=refuse),
    ):
        assert lock_state(folder, "cuda-2") == LockState(is_held=False)


async def test_second_process_waits_and_learns_the_holder(folder: Path, start: Start) -> None:
    async with lock(folder).hold(on_wait=refuse):
        second = start("second")
        assert await asyncio.to_thread(second.says) == "waits for kgtui bench mine.py"
    assert await asyncio.to_thread(second.says) == "holds"
    found = lock_state(folder, DEVICE).holder
    assert found is not None
    assert (found.pid, found.command) == (second.process.pid, "second")
    second.let_go()
    assert await asyncio.to_thread(second.says) == "let go"


async def test_waiters_are_served_in_order_with_holders_reported(folder: Path) -> None:
    names = ("first", "second", "third")  # who came first looks least often
    ears = {name: Ear() for name in names}

    async def use(name: str) -> None:
        poll_s = 0.1 if name == "first" else 0.001
        async with lock(folder, name, poll_s=poll_s).hold(on_wait=ears[name]):
            for later in names[names.index(name) + 1 :]:
                await ears[later].heard_of(name)

    async with lock(folder, "owner").hold(on_wait=refuse):
        tasks = []
        for name in names:
            tasks.append(asyncio.create_task(use(name)))
            await ears[name].heard_of("owner")
    await asyncio.gather(*tasks)
    assert {name: [holder.command for holder in ear.heard if holder] for name, ear in ears.items()} == {
        "first": ["owner"],
        "second": ["owner", "first"],
        "third": ["owner", "first", "second"],
    }


async def test_killed_holder_releases_the_device(folder: Path, start: Start) -> None:
    holder = start("doomed")
    assert await asyncio.to_thread(holder.says) == "holds"
    ear = Ear()
    waiting = asyncio.create_task(_use(lock(folder), ear))
    await ear.called()
    assert [held.command for held in ear.heard if held] == ["doomed"]
    os.kill(holder.process.pid, signal.SIGKILL)
    await waiting


@pytest.mark.parametrize("end", ["killed", "let go"])
async def test_forked_child_of_holder_does_not_prolong_lock(folder: Path, start: Start, end: str) -> None:
    holder = start("parent", action="fork")
    said = sorted([await asyncio.to_thread(holder.says), await asyncio.to_thread(holder.says)])
    child = int(said[0].removeprefix("forked "))
    try:
        if end == "killed":
            os.kill(holder.process.pid, signal.SIGKILL)
        else:
            holder.let_go()
        await _use(lock(folder), ignore)
        os.kill(child, 0)  # it is still there
    finally:
        os.kill(child, signal.SIGKILL)


async def test_cancelled_wait_leaks_no_descriptor(folder: Path) -> None:
    async with lock(folder).hold(on_wait=refuse):
        before = open_files()
        ear = Ear()
        waiting = asyncio.create_task(_use(lock(folder), ear))
        await ear.called()
        waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await waiting
        assert waiting.cancelled()
        assert not open_files() - before
    async with lock(folder).hold(on_wait=refuse):
        pass
    assert _names(folder) == [f"{DEVICE}.line", f"{DEVICE}.lock"]


async def test_error_inside_block_releases_the_device(folder: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        async with lock(folder).hold(on_wait=refuse):
            raise ZeroDivisionError
    assert lock_state(folder, DEVICE) == LockState(is_held=False)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff\n",
        b"{}\n",
        b'{"pid": "1", "command": "x", "since": "y"}\n',
        b"[" * 4000 + b"\n",
        b"x" * 9000,
        b'{"pid": 1, "command": "x", "since": "y"}',
        b'{"pid": 0, "command": "x", "since": "y"}\n',
        json.dumps({"pid": 1, "command": "\x1b[2J", "since": "y"}).encode() + b"\n",
    ],
    ids=["empty", "bytes", "no fields", "wrong type", "deep", "long", "unfinished", "no process", "controls"],
)
async def test_damaged_holder_name_counts_as_held(folder: Path, text: bytes) -> None:
    async with lock(folder).hold(on_wait=refuse):
        (folder / f"{DEVICE}.lock").write_bytes(text)
        assert lock_state(folder, DEVICE) == LockState(is_held=True, holder=None)
        ear = Ear()
        waiting = asyncio.create_task(_use(lock(folder), ear))
        await ear.called()
        assert ear.heard == [None]
    await waiting


async def test_deleted_lock_file_is_created_again(folder: Path) -> None:
    async with lock(folder).hold(on_wait=refuse):
        ear = Ear()
        waiting = asyncio.create_task(_use(lock(folder), ear))
        await ear.called()
        (folder / f"{DEVICE}.lock").unlink()
        await waiting
    assert lock_state(folder, DEVICE) == LockState(is_held=False)


async def test_first_user_opens_folder_and_files_to_all(folder: Path, start: Start) -> None:
    client = start("with a narrow umask")
    assert await asyncio.to_thread(client.says) == "holds"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o1777
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o666}


async def test_two_users_exclude_each_other(folder: Path, start: Start, second_user: None) -> None:
    async with lock(folder).hold(on_wait=refuse):
        other = start("another user", user=NOBODY)
        assert await asyncio.to_thread(other.says) == "waits for kgtui bench mine.py"
    assert await asyncio.to_thread(other.says) == "holds"
    ear = Ear()
    waiting = asyncio.create_task(_use(lock(folder), ear))
    await ear.called()
    assert [holder.command for holder in ear.heard if holder] == ["another user"]
    other.let_go()
    await waiting


async def test_lock_not_writable_by_others_is_refused(folder: Path, start: Start, second_user: None) -> None:
    await _use(lock(folder), refuse)
    (folder / f"{DEVICE}.lock").chmod(0o600)
    said = await asyncio.to_thread(start("another user", user=NOBODY).says)
    assert said == (
        f"refused {folder}/{DEVICE}.lock: cannot be locked: Permission denied; expected a file that every user may "
        "write, in a folder of mode 1777. Its owner or root can remove it"
    )


async def test_foreign_lock_folder_must_be_sticky_and_open(folder: Path, start: Start, second_user: None) -> None:
    folder.mkdir()
    folder.chmod(0o777)
    said = await asyncio.to_thread(start("another user", user=NOBODY).says)
    assert said == (
        f"refused {folder}: expected a folder with mode 1777, where all users lock and none removes another's lock; "
        "found mode 777 of user 0; its owner or root can chmod 1777 it"
    )


@pytest.mark.parametrize("what", ["symbolic link", "hard link", "folder", "pipe"])
async def test_non_lock_file_is_refused_unchanged(folder: Path, tmp_path: Path, what: str) -> None:
    treasure = tmp_path / "treasure"
    treasure.write_text("gold")
    folder.mkdir()
    path = folder / f"{DEVICE}.lock"
    {
        "symbolic link": lambda: path.symlink_to(treasure),
        "hard link": lambda: path.hardlink_to(treasure),
        "folder": path.mkdir,
        "pipe": lambda: os.mkfifo(path),
    }[what]()
    before = open_files()
    with pytest.raises(UnsupportedError, match=rf"^{path}: .*remove it"):
        await _use(lock(folder), ignore)
    assert treasure.read_text() == "gold"
    assert not open_files() - before


async def test_link_is_refused_as_lock_folder(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsupportedError, match="cannot be locked"):
        await _use(lock(folder), ignore)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_reading_occupancy_creates_no_folder(folder: Path) -> None:
    assert lock_state(folder, DEVICE) == LockState(is_held=False)
    assert not folder.exists()


@pytest.mark.parametrize("device_id", ["", "../x", "a/b", ".hidden", "a b"])
def test_device_id_unusable_as_filename_is_refused(folder: Path, device_id: str) -> None:
    with pytest.raises(ValueError, match="becomes a file name"):
        DeviceLock(folder, device_id=device_id, command="x")


def test_locks_use_first_folder_writable_by_every_user(tmp_path: Path) -> None:
    places = tuple(tmp_path / name for name in ("missing", "private", "public"))
    for place, mode in zip(places[1:], (0o755, 0o1777), strict=True):
        place.mkdir()
        place.chmod(mode)
    assert shared_folder(places) == tmp_path / "public" / "kgtui-locks"
    assert shared_folder(places[:2]) == tmp_path / "private" / "kgtui-locks"


@pytest.fixture
def second_user() -> None:
    """Skips where a second user cannot be had."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to be a second user")


async def _use(device: DeviceLock, on_wait: Callable[[Holder | None], None]) -> None:
    async with device.hold(on_wait=on_wait):
        pass


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
