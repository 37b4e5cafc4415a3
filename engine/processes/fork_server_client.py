"""The parent's end of the fork server: start it, have children forked and killed.

The descriptors of a child are made here and passed on, so that replies come directly from the child and never through a
process that others write to.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
from collections import deque
from pathlib import Path
from typing import Any

import msgspec

from engine.cpu_time.meter import Meter
from engine.errors import DeadlineError, EngineError, EngineLostError
from engine.processes.child import Child
from engine.processes.exit_reason import error_line
from engine.processes.fork_server import (
    MAX_MESSAGE_BYTES,
    ChildExited,
    Fork,
    Forked,
    ForkFailed,
    ImportLate,
    ImportsDone,
    Kill,
    Report,
)
from engine.processes.preloading import Family
from engine.processes.waiting import first_of
from engine.sandbox.confinement import Confinement

_START_S = 120.0
_FORK_S = 20.0
_END_S = 20.0


class ForkServerClient:
    """A running fork server.  `await start()` before the first fork, `await close()` at the end."""

    def __init__(
        self, *, folders: tuple[Path, ...], environment: dict[str, str], family: Family = Family.CANDIDATES
    ) -> None:
        self._folders = folders
        self._environment = environment
        self._family = family
        self.not_preloaded = ""
        """Reason why the fork server of references has not imported their libraries; "" if it has."""
        self._children: dict[int, Child] = {}
        self._exited_early: dict[int, int] = {}
        self._forks = asyncio.Lock()
        self._asked: deque[asyncio.Future[int]] = deque()  # forks are answered in the order of the requests
        self._cancelled_pids: set[int] = set()
        self._imports_done: asyncio.Future[None] | None = None
        self._control: socket.socket | None = None
        self._closed = False
        self.losses = 0
        """Number of times that the fork server ended while it was needed."""
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int | None:
        """Process id of the fork server; None before the start."""
        return self._process.pid if self._process is not None else None

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of the children that have not been reported as exited."""
        return tuple(self._children)

    async def start(self) -> None:
        """Start the fork server and wait until it has imported everything; retried once if it is killed meanwhile.

        Raises:
            EngineError: it exited, with what it printed; an EngineLostError when it was killed twice.
        """
        losses = self.losses
        try:
            await self._start()
        except EngineError as error:
            if self._family is Family.REFERENCES:
                await self._end()
                self._family, self.not_preloaded, self.losses = Family.PLAIN_REFERENCES, str(error), losses
            elif isinstance(error, EngineLostError) and not self._closed:
                await self._end()
            else:
                raise
            await self._start()

    async def _start(self) -> None:
        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        self._control = ours
        self._imports_done = loop.create_future()
        with theirs:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-I",
                "-m",
                "engine.processes.fork_server",
                str(theirs.fileno()),
                self._family,
                *map(str, self._folders),
                pass_fds=(theirs.fileno(),),
                env=self._environment,
                cwd=self._folders[0],
                start_new_session=True,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
            )
        loop.add_reader(ours.fileno(), self._receive)
        ended = asyncio.create_task(self._process.wait())
        try:
            futures: set[asyncio.Future[Any]] = {self._imports_done, ended}  # Any: they differ in what they bring
            await first_of(futures, kind="fork server", limit_s=_START_S, look=Meter(self._process.pid).look)
        except DeadlineError as error:
            raise EngineError(f"the engine's processes did not start: {error}") from error
        finally:
            ended.cancel()
        if not self._imports_done.done() or self._imports_done.cancelled():
            if (self._process.returncode or 0) < 0:  # killed by a signal: its output has no reason
                raise EngineLostError("the engine's processes were killed while they started")
            raise EngineError(f"the engine's processes did not start: {await self._read_stderr()}")

    async def fork(
        self, kind: str, *, folder: Path, environment: dict[str, str], confinement: Confinement | None, log_bytes: int
    ) -> Child:
        """Fork a child of this kind; it is warm once `wait_until_ready` returns.

        Raises:
            EngineError: the fork server does not run; an EngineLostError when it ended just now.
        """
        async with self._forks:
            if self._closed:
                raise EngineError("the engine has been closed")
            if self._control is None:
                await self.start()  # the fork server was killed, by the system when memory ran out for instance
            control = self._control
            assert control is not None
            (their_commands, commands), (replies, their_replies) = os.pipe(), os.pipe()
            (stdout, their_stdout), (stderr, their_stderr) = os.pipe(), os.pipe()
            theirs = [their_commands, their_replies, their_stdout, their_stderr]
            order = Fork(kind=kind, folder=str(folder), environment=environment, confinement=confinement)
            forked: asyncio.Future[int] = asyncio.get_running_loop().create_future()
            try:
                socket.send_fds(control, [msgspec.json.encode(order)], theirs)
                self._asked.append(forked)
                fork_server = Meter(self.pid or 0, below=False)
                await first_of({forked}, kind="fork server", limit_s=_FORK_S, look=fork_server.look)
                pid = forked.result()
            except BaseException as error:
                for handle in (commands, replies, stdout, stderr):
                    os.close(handle)
                forked.cancel()
                if isinstance(error, EngineLostError):
                    raise EngineLostError(
                        f"no {kind} could be started: {error}: {await self._read_stderr()}"
                    ) from error
                if not isinstance(error, OSError | DeadlineError):
                    raise
                raise EngineError(f"no {kind} could be started: {error}; {await self._read_stderr()}") from error
            finally:
                for handle in theirs:
                    os.close(handle)
            child = Child(self.order_kill, kind=kind, pid=pid, log_bytes=log_bytes)
            self._children[pid] = child
            try:
                await child.attach(commands, replies, stdout, stderr)
            except BaseException:
                self.order_kill(pid)  # no other code knows its pid
                raise
            if pid in self._exited_early:
                del self._children[pid]
                child.exited(self._exited_early.pop(pid))
            if self._control is not control:
                child.lose()  # the fork server was lost between the fork and here
            return child

    def order_kill(self, pid: int) -> None:
        """Have a child and its descendants killed; `Child.exited` is called when they have exited."""
        self._order(Kill(pid=pid))

    def order_late_imports(self) -> None:
        """Have modules imported that few candidates need and that take long, once; forks wait meanwhile."""
        self._order(ImportLate())

    def _order(self, order: Kill | ImportLate) -> None:
        """Send an order without an answer of its own; dropped when the fork server has ended."""
        if self._control is None:
            return
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._control.send(msgspec.json.encode(order))

    async def close(self) -> None:
        """End the fork server and all its descendants.  Safe to call twice."""
        self._closed = True
        await self._end()
        for child in list(self._children.values()):
            child.exited(0)
            await child.kill()
        self._children.clear()

    async def _end(self) -> None:
        """End the process and wait until it has exited."""
        if self._control is not None:
            asyncio.get_running_loop().remove_reader(self._control.fileno())
            self._control.close()
            self._control = None
        if self._process is not None:
            try:
                await asyncio.wait_for(self._process.wait(), _END_S)
            except TimeoutError:
                self._process.kill()  # its children are reported by the kernel
                await self._process.wait()
            await self._read_stderr()

    def _receive(self) -> None:
        assert self._control is not None
        try:
            message = self._control.recv(MAX_MESSAGE_BYTES)
        except BlockingIOError:
            return
        except ConnectionResetError:
            message = b""
        if not message:
            self._lost()
            return
        report: Report = msgspec.json.decode(message, type=Report)
        if isinstance(report, ImportsDone):
            if self._imports_done is not None and not self._imports_done.done():
                self._imports_done.set_result(None)
        elif isinstance(report, Forked):
            forked = self._asked.popleft()
            if forked.done():  # the request was cancelled or timed out
                self._cancelled_pids.add(report.pid)
                self.order_kill(report.pid)
            else:
                forked.set_result(report.pid)
        elif isinstance(report, ForkFailed):
            forked = self._asked.popleft()
            if not forked.done():
                forked.set_exception(OSError(report.reason))
        elif isinstance(report, ChildExited):
            if child := self._children.pop(report.pid, None):
                child.exited(report.status)
            elif report.pid in self._cancelled_pids:
                self._cancelled_pids.remove(report.pid)
            else:
                self._exited_early[report.pid] = report.status

    def _lost(self) -> None:
        """Record that the fork server ended and that the kernel has killed its children."""
        if self._control is not None:
            asyncio.get_running_loop().remove_reader(self._control.fileno())
            self._control.close()
            self._control = None
            self.losses += not self._closed
        for child in self._children.values():
            child.lose()
        self._children.clear()
        for forked in self._asked:
            if not forked.done():
                forked.set_exception(EngineLostError("the engine's processes were killed"))
        self._asked.clear()
        self._cancelled_pids.clear()
        self._exited_early.clear()

    async def _read_stderr(self) -> str:
        if self._process is None or self._process.stderr is None:
            return "it was never started"
        with contextlib.suppress(TimeoutError):
            text = await asyncio.wait_for(self._process.stderr.read(1 << 16), 1.0)
            return error_line(text.decode("utf-8", "replace")) or "no output"
        return "no output"
