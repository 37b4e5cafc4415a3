"""Forks are answered in request order or refused; every request gets its own child."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.errors import EngineError, EngineLostError
from engine.processes.child import Child
from engine.processes.exit_reason import error_line
from engine.processes.fork_server_client import ForkServerClient
from engine.processes.preloading import Family
from tests.descriptors import open_files


class ForkServer:
    """A fork server client whose fork server is played by the test, at the other end of its socket."""

    def __init__(self, folder: Path) -> None:
        self.fork_server = ForkServerClient(folders=(folder,), environment={})
        self._folder = folder
        self._control, self._end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.setblocking(False)
        self._end.setblocking(False)
        self.fork_server._control = self._control
        asyncio.get_running_loop().add_reader(self._control.fileno(), self.fork_server._receive)

    def forking(self) -> asyncio.Task[Child]:
        """Somebody asks for a worker."""
        return asyncio.create_task(
            self.fork_server.fork("worker", folder=self._folder, environment={}, confinement=None, log_bytes=1)
        )

    async def take_over(self) -> None:
        """Receive one order to fork and let go of the descriptors that come with it."""
        while True:
            try:
                _, handles, _, _ = socket.recv_fds(self._end, 1 << 16, 4)
            except BlockingIOError:
                await asyncio.sleep(0)
                continue
            for handle in handles:
                os.close(handle)
            return

    def report(self, text: bytes) -> None:
        self._end.send(text)

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._control.fileno())
        self._control.close()
        self._end.close()


@pytest.fixture
async def fork_server(tmp_path: Path) -> AsyncIterator[ForkServer]:
    fork_server = ForkServer(tmp_path)
    yield fork_server
    fork_server.close()


async def test_cancelled_fork_leaks_no_descriptor_and_no_pid(fork_server: ForkServer) -> None:
    before = open_files()
    cancelled = fork_server.forking()
    await fork_server.take_over()
    cancelled.cancel()
    await asyncio.gather(cancelled, return_exceptions=True)
    assert not open_files() - before
    second = fork_server.forking()
    await fork_server.take_over()
    fork_server.report(b'{"type":"forked","pid":111}')
    fork_server.report(b'{"type":"forked","pid":222}')
    child = await second
    assert child.pid == 222


async def test_refused_fork_is_engine_error_with_reason(fork_server: ForkServer) -> None:
    before = open_files()
    refused = fork_server.forking()
    await fork_server.take_over()
    fork_server.report(b'{"type":"fork_failed","reason":"Resource temporarily unavailable"}')
    with pytest.raises(EngineError, match=r"^no worker could be started: Resource temporarily unavailable; "):
        await refused
    assert not open_files() - before


async def test_refusal_answers_the_oldest_fork_request(fork_server: ForkServer) -> None:
    cancelled = fork_server.forking()
    await fork_server.take_over()
    cancelled.cancel()
    await asyncio.gather(cancelled, return_exceptions=True)
    second = fork_server.forking()
    await fork_server.take_over()
    fork_server.report(b'{"type":"fork_failed","reason":"no"}')
    fork_server.report(b'{"type":"forked","pid":222}')
    assert (await second).pid == 222


@pytest.mark.parametrize(
    ("printed", "line"),
    [
        (
            "knobs.py:504: UserWarning: unset\n\n'sm_999' is no processor\nLLVM ERROR: Cannot select: %1\n #0 0x55\n",
            "LLVM ERROR: Cannot select: %1",
        ),
        (
            "Traceback (most recent call last):\n  import torch\nModuleNotFoundError: No module named 'torch'",
            "ModuleNotFoundError: No module named 'torch'",
        ),
        ("Killed\n\n", "Killed"),
        ("x" * 600, "x" * 500),
        (" \n", ""),
    ],
)
def test_line_with_reason_is_reported_from_all_output(printed: str, line: str) -> None:
    assert error_line(printed) == line


class Failing(ForkServerClient):
    """Fails to start wherever it would import libraries for references."""

    started = ()

    async def _start(self) -> None:
        self.started = (*self.started, self._family)
        if self._family is Family.REFERENCES:
            self.losses += 1
            raise EngineError("it has 2 threads")


async def test_references_start_without_failed_preloading(tmp_path: Path) -> None:
    client = Failing(folders=(tmp_path,), environment={}, family=Family.REFERENCES)
    await client.start()
    assert client.started == (Family.REFERENCES, Family.PLAIN_REFERENCES)
    assert (client.not_preloaded, client.losses) == ("it has 2 threads", 0)


KILLED = """#!/bin/sh
echo warn_once >&2
echo start >> starts
kill -9 $$
"""


async def test_fork_server_killed_while_starting_starts_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "python"
    python.write_text(KILLED)
    python.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(python))
    client = ForkServerClient(folders=(tmp_path,), environment={})
    with pytest.raises(EngineLostError, match="the engine's processes were killed while they started"):
        await client.start()
    await client.close()
    assert (tmp_path / "starts").read_text() == "start\nstart\n"


async def test_late_imports_are_ordered_while_the_fork_server_runs(fork_server: ForkServer, tmp_path: Path) -> None:
    fork_server.fork_server.order_late_imports()
    assert fork_server._end.recv(1 << 16) == b'{"type":"import_late"}'
    ForkServerClient(folders=(tmp_path,), environment={}).order_late_imports()  # it was not started
