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
    Kill,
    Report,
    _Child,
    _ForkServer,
)
from engine.processes.user_killer import UserKiller
from engine.sandbox.variables import MACHINE_VARIABLE, WARM_TARGET_VARIABLE
from tests.descriptors import open_files

ORDER = msgspec.json.encode(Fork(kind="worker", folder="/workspaces/1", environment={}, confinement=None))


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
        with Path(os.devnull).open() as null:
            socket.send_fds(parents, [ORDER], [null.fileno()] * 4)
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


def test_late_modules_are_imported_once_without_orders(
    control: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    parents, server_end = control
    killer = UserKiller()
    imported: list[str] = []

    def import_module(name: str) -> None:
        imported.append(name)
        if name == "last":
            parents.close()

    monkeypatch.setattr("engine.processes.fork_server._is_harmless", lambda module: module != "harmful")
    monkeypatch.setattr("engine.processes.fork_server.importlib.import_module", import_module)
    monkeypatch.setattr("engine.processes.fork_server.gc.freeze", lambda: imported.append("frozen"))
    _ForkServer(server_end, killer, late_modules=("first", "harmful", "last"), quiet_s=0.0).serve()
    killer.end()
    assert imported == ["first", "last", "frozen"]


def test_module_that_starts_a_thread_or_fails_is_not_harmless(tmp_path: Path) -> None:
    (tmp_path / "quiet.py").write_text("")
    (tmp_path / "failing.py").write_text("raise ValueError")
    (tmp_path / "threaded.py").write_text("import threading, time\nthreading.Thread(target=input, daemon=True).start()")
    code = (
        "from engine.processes.fork_server import _is_harmless as h; "
        "print([h(name) for name in ('quiet', 'failing', 'threaded', 'missing')])"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), *filter(None, sys.path)))}
    with subprocess.Popen(
        [sys.executable, "-c", code], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as started:  # its input stays open: the thread waits for it
        assert started.stdout is not None
        assert started.stdout.read() == "[True, False, False, False]\n"


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


@pytest.mark.parametrize("imports", ["_import_for_candidates()", "_import_for_references(preloads=False)"])
def test_server_has_every_late_name_before_forks(imports: str) -> None:
    code = (
        f"import engine.model as model, engine.processes.fork_server as server; server.{imports}; "
        "print([name for names in model.LATE.values() for name in names if name not in vars(model)])"
    )
    started = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, MACHINE_VARIABLE: "0", WARM_TARGET_VARIABLE: "sm_90"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert started.stdout == "[]\n", started.stderr
