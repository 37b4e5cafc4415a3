"""Fork requests that are refused, and the end of a fork server when its parent closes the control socket."""

from __future__ import annotations

import errno
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from engine.processes.fork_server import (
    MAX_MESSAGE_BYTES,
    Fork,
    ForkFailed,
    ImportLate,
    Kill,
    Report,
    _Child,
    _ForkServer,
)
from engine.processes.user_killer import UserKiller
from tests.descriptors import open_files

ORDER = msgspec.json.encode(Fork(kind="worker", folder="/workspaces/1", environment={}, confinement=None))
COMPILER_ORDER = ORDER.replace(b'"worker"', b'"compiler"')


@pytest.fixture
def control() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Both ends of the control socket: the parent's and the fork server's."""
    parents, server_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with parents, server_end:
        parents.setblocking(False)
        server_end.setblocking(False)
        yield parents, server_end


def test_denied_fork_is_refused_and_leaks_no_descriptor(
    control: tuple[socket.socket, socket.socket],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def denied() -> int:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    parents, server_end = control
    fork_server = _ForkServer(server_end, UserKiller())
    monkeypatch.setattr("engine.processes.fork_server.os.fork", denied)
    before = open_files()
    for _ in range(2):  # the first refusal is not its end
        _order(parents, ORDER)
        assert fork_server._obey() is True
        report = msgspec.json.decode(parents.recv(MAX_MESSAGE_BYTES), type=Report)
        assert report == ForkFailed(reason="Resource temporarily unavailable")
    assert not open_files() - before


def test_fork_server_exits_with_unread_reports(control: tuple[socket.socket, socket.socket]) -> None:
    parents, server_end = control
    killer = UserKiller()

    def close_with_report_unread() -> None:
        select.select([parents], [], [])
        parents.close()

    closing = threading.Thread(target=close_with_report_unread)
    closing.start()
    _ForkServer(server_end, killer).serve()
    closing.join()
    killer.end()


def test_late_modules_are_imported_once_after_their_trials(
    control: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    parents, server_end = control
    killer = UserKiller()
    imported: list[str] = []
    monkeypatch.setattr("engine.processes.preloading.try_import", lambda module: os._exit(module == "harmful"))
    monkeypatch.setattr("engine.processes.fork_server.importlib.import_module", imported.append)
    fork_server = _ForkServer(server_end, killer, late_modules=("first", "harmful", "last"))
    for _ in range(2):
        _order(parents, msgspec.json.encode(ImportLate()))
        assert fork_server._obey() is True
    assert imported == []
    trials = len(fork_server._trials)
    while fork_server._trials:
        assert fork_server._serve_ready() is True
    killer.end()
    assert (trials, sorted(imported)) == (3, ["first", "last"])


def test_orders_are_obeyed_during_a_trial(
    control: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    parents, server_end = control
    killer = UserKiller()
    monkeypatch.setattr("engine.processes.preloading.try_import", lambda _: (parents.close(), signal.pause()))
    fork_server = _ForkServer(server_end, killer, late_modules=("slow",))
    for order in (ImportLate(), Kill(pid=0)):
        _order(parents, msgspec.json.encode(order))
        assert fork_server._serve_ready() is True
    (trial,) = fork_server._trials
    parents.close()
    assert fork_server._serve_ready() is False
    killer.end()
    assert os.WTERMSIG(os.waitpid(trial, 0)[1]) == signal.SIGKILL


def test_first_fork_of_a_kind_is_prepared_once(
    control: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    parents, server_end = control
    killer = UserKiller()
    done: list[str] = []

    def fork() -> int:
        done.append("fork")
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr("engine.processes.fork_server.os.fork", fork)
    monkeypatch.setattr("engine.processes.fork_server.gc.freeze", lambda: done.append("frozen"))
    fork_server = _ForkServer(server_end, killer, preparations={"compiler": lambda: done.append("prepared")})
    for order in (ORDER, COMPILER_ORDER, COMPILER_ORDER):
        _order(parents, order)
        assert fork_server._obey() is True
    killer.end()
    assert done == ["fork", "prepared", "frozen", "fork", "fork"]


def test_fork_whose_preparation_fails_is_refused(control: tuple[socket.socket, socket.socket]) -> None:
    def fail() -> None:
        raise RuntimeError("ptxas was not found")

    parents, server_end = control
    killer = UserKiller()
    _order(parents, COMPILER_ORDER)
    assert _ForkServer(server_end, killer, preparations={"compiler": fail})._obey() is True
    killer.end()
    report = msgspec.json.decode(parents.recv(MAX_MESSAGE_BYTES), type=Report)
    assert report == ForkFailed(reason="ptxas was not found")


def _order(parents: socket.socket, order: bytes) -> None:
    with Path(os.devnull).open() as null:
        socket.send_fds(parents, [order], [null.fileno()] * 4)


def test_kill_does_not_wait_for_exit(
    control: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    parents, server_end = control
    killer = UserKiller()
    fork_server = _ForkServer(server_end, killer)
    killed: list[tuple[int, int]] = []

    def killpg(pid: int, number: int) -> None:  # a process that a driver keeps from exiting for a while
        killed.append((pid, number))

    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as running:
        fork_server._children[running.pid] = _Child(pid=running.pid, handle=os.pidfd_open(running.pid), uid=None)
        with monkeypatch.context() as patched:
            patched.setattr("engine.processes.fork_server.os.killpg", killpg)
            patched.setattr("engine.processes.fork_server.os.kill", lambda *_: None)
            patched.setattr("engine.processes.fork_server.os.waitpid", lambda *_: pytest.fail("waited for its exit"))
            parents.send(msgspec.json.encode(Kill(pid=running.pid)))
            assert fork_server._obey() is True
        os.close(fork_server._children[running.pid].handle)
    assert killed == [(running.pid, signal.SIGKILL)]
    killer.end()
