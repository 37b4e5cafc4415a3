"""The parent's end of one child: commands with deadlines, replies that are validated, logs that are only displayed.

A line that answers no command, has another id, is too long or is not a reply marks the child as faulty for good.  Exit
without a reply and silence past a deadline are reported separately.  Nothing here blocks.
"""

from __future__ import annotations

import asyncio
import codecs
import os
import signal
from collections.abc import Callable

from engine import protocol
from engine.cpu_time.deadline import Interval, together
from engine.cpu_time.meter import Meter
from engine.errors import ChildDiedError, EngineError, EngineLostError, KilledError, RunMemoryError, WireError
from engine.model import Stream
from engine.processes.exit_reason import error_line
from engine.processes.resources.control_group import ControlGroup
from engine.processes.waiting import within

_CHUNK_BYTES = 1 << 16
_READY = "ready"
_STDERR_TAIL_CHARACTERS = 2000
_DRAIN_S = 2.0  # to read the rest of a pipe; a leftover process may hold it open
_FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGXCPU)


class Child:
    """One forked process.  `ForkServerClient.fork` makes it, `kill` ends it."""

    def __init__(self, order_kill: Callable[[int], None], *, kind: str, pid: int, log_bytes: int) -> None:
        self.kind = kind
        self.pid = pid
        self.on_log: Callable[[Stream, str], None] | None = None
        self.group: ControlGroup | None = None
        self.ready: protocol.Ready | None = None
        self._order_kill = order_kill
        self._log_bytes_left = log_bytes
        self._loop = asyncio.get_running_loop()
        self._exit_status: asyncio.Future[int] = self._loop.create_future()
        # The first line comes without a request, and may come before a caller waits for it.
        self._pending: tuple[str, asyncio.Future[protocol.AnyReply]] | None = (_READY, self._loop.create_future())
        self._has_replied = False  # to the pending command, whose caller may have given up
        self._fault: WireError | None = None
        self._abandoned: set[str] = set()
        self._replies_ended: asyncio.Future[None] = self._loop.create_future()
        self._tasks: list[asyncio.Task[None]] = []
        self._transports: list[asyncio.BaseTransport] = []
        self._commands: asyncio.WriteTransport | None = None
        self._stderr_tail = ""
        self._is_lost = False

    async def attach(self, commands: int, replies: int, stdout: int, stderr: int) -> None:
        """Take over the parent's ends of the four pipes."""
        pipe = os.fdopen(commands, "wb", buffering=0)
        self._commands, _ = await self._loop.connect_write_pipe(asyncio.BaseProtocol, pipe)
        lines = _Lines(self._take, self._replies_ended)
        transport, _ = await self._loop.connect_read_pipe(lambda: lines, os.fdopen(replies, "rb", buffering=0))
        self._transports.append(transport)
        self._tasks = [
            asyncio.create_task(self._read_log(await self._reader(stdout), Stream.STDOUT)),
            asyncio.create_task(self._read_log(await self._reader(stderr), Stream.STDERR)),
        ]

    @property
    def fault(self) -> WireError | None:
        """The invalid output of this child; None if there is none."""
        return self._fault

    @property
    def alive(self) -> bool:
        """Whether the process has not been reported as exited."""
        return not self._exit_status.done()

    @property
    def lost(self) -> bool:
        """Whether it was killed because its fork server ended."""
        return self._is_lost

    async def wait_until_ready(self, deadline_s: float) -> protocol.Ready:
        """The first line, which a warm child sends without a command; `deadline_s` counts the child's own time.

        Raises:
            EngineError: it exited, timed out, or sent another line.
        """
        assert self._pending is not None
        try:
            reply = await self._await_reply(*self._pending, deadline_s)
        except ChildDiedError as error:
            raise ChildDiedError(f"{error}; its output: {error_line(self._stderr_tail) or 'nothing'}") from error
        if not isinstance(reply, protocol.Ready):
            raise WireError(f"the {self.kind} began with {type(reply).__name__} instead of Ready")
        self.ready = reply
        return reply

    async def ask(
        self, command: protocol.AnyCommand, *, deadline_s: float, helper: int | None = None
    ) -> protocol.AnyReply:
        """Send a command and wait for its reply; CPU time of the process `helper` counts as the child's.

        Raises:
            ChildDiedError: the child exited first; a KilledError when a signal from outside ended it.
            EngineLostError: the fork server ended.
            DeadlineError: no reply in `deadline_s` seconds of the child's time; it is still running.
            MachineBusyError: the child got hardly any CPU time for long; it is still running.
            WireError: a line came that is not the reply to this command.
        """
        if self._fault is not None:
            raise self._fault
        if not self.alive:
            raise self._exit_error()
        if self._commands is None:
            raise ChildDiedError(f"the {self.kind} is not running")
        future: asyncio.Future[protocol.AnyReply] = self._loop.create_future()
        self._pending, self._has_replied = (command.id, future), False
        self._commands.write(protocol.encode(command))
        return await self._await_reply(command.id, future, deadline_s, helper)

    async def kill(self) -> int:
        """Kill the whole process group and wait until it has exited; returns the exit status.  Safe to call twice."""
        if self.alive:
            self._order_kill(self.pid)
        status = await asyncio.shield(self._exit_status)
        await self._close()
        return status

    async def ending(self, *, within_s: float) -> str:
        """Exit reason of the process with the last line that it printed; "" if it still runs after `within_s`."""
        await asyncio.wait((self._exit_status,), timeout=within_s)
        if self.alive:
            return ""
        said = error_line(self._stderr_tail)
        return _how(os.waitstatus_to_exitcode(self._exit_status.result())) + (f"; its output: {said}" if said else "")

    def exited(self, status: int) -> None:
        """Record the exit status that the fork server has reaped."""
        if not self._exit_status.done():
            self._exit_status.set_result(status)

    def lose(self) -> None:
        """Record that the kernel has killed this child because the fork server ended."""
        if self.alive:
            self._is_lost = True
            self.exited(signal.SIGKILL)

    def _exit_error(self) -> EngineError:
        """The error for a child that exited without a reply."""
        if self._is_lost:
            return EngineLostError(f"the {self.kind} ended together with the engine's other processes")
        if self.group is not None and self.group.ran_out_of_memory:
            return RunMemoryError("the candidate's processes used more memory together than a run is allowed")
        code = os.waitstatus_to_exitcode(self._exit_status.result())
        kind = KilledError if -code in _FROM_OUTSIDE else ChildDiedError
        return kind(f"the {self.kind} ended without a reply ({_how(code)})")

    async def _await_reply(
        self, identifier: str, future: asyncio.Future[protocol.AnyReply], deadline_s: float, helper: int | None = None
    ) -> protocol.AnyReply:
        # Not read-until-EOF: a grandchild holding the pipe hides it.  The exit of the process ends the wait, too.
        ending: list[asyncio.Task[None]] = []

        def end(_: object) -> None:
            ending.append(asyncio.create_task(self._end_wait(future)))

        self._exit_status.add_done_callback(end)
        try:
            if self._fault is not None:
                raise self._fault
            return await within(future, kind=self.kind, limit_s=deadline_s, look=_look(self.pid, helper))
        finally:
            self._exit_status.remove_done_callback(end)
            for task in ending:
                task.cancel()
            if not self._has_replied:  # cancelled or timed out: a late reply with this id is not a forgery
                self._abandoned.add(identifier)
            self._pending = None
            future.cancel()

    async def _end_wait(self, future: asyncio.Future[protocol.AnyReply]) -> None:
        """End the wait for a child that has exited, after reading a reply that may still be in its pipe."""
        await asyncio.wait({self._replies_ended}, timeout=_DRAIN_S)
        if not future.done():
            future.set_exception(self._exit_error())

    def _take(self, line: bytes) -> bool:
        """Take one line of the child's replies; False if no other line counts."""
        if len(line) > protocol.MAX_LINE_BYTES:
            self._fail_pending(WireError(f"the {self.kind} wrote a line of more than {protocol.MAX_LINE_BYTES} bytes"))
            return False
        try:
            reply = protocol.decode_reply(line)
        except WireError as error:
            self._fail_pending(error)
            return False
        if reply.id in self._abandoned:
            self._abandoned.remove(reply.id)
        elif self._pending is None or reply.id != self._pending[0]:
            self._fail_pending(WireError(f"the {self.kind} wrote a reply that answers no command"))
        elif self._has_replied:
            self._fail_pending(WireError(f"the {self.kind} replied twice to one command"))
        else:
            self._has_replied = True
            if not self._pending[1].done():
                self._pending[1].set_result(reply)
        return self._fault is None

    def _fail_pending(self, error: WireError) -> None:
        self._fault = error
        if self._pending is not None and not self._pending[1].done():
            self._pending[1].set_exception(error)

    async def _read_log(self, stream: asyncio.StreamReader, kind: Stream) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")  # a chunk may end inside a character
        while chunk := await stream.read(_CHUNK_BYTES):
            kept = chunk[: max(self._log_bytes_left, 0)]
            cut = len(kept) < len(chunk) and self._log_bytes_left >= 0
            self._log_bytes_left -= len(chunk)
            if kind is Stream.STDERR and kept:
                self._stderr_tail = (self._stderr_tail + kept.decode("utf-8", "replace"))[-_STDERR_TAIL_CHARACTERS:]
            if self.on_log is not None and (kept or cut):
                text = decoder.decode(kept)
                self.on_log(kind, text + ("\n[output limit reached; the rest is dropped]\n" if cut else ""))
                if cut:
                    self._log_bytes_left = -1

    async def _close(self) -> None:
        if self._commands is not None:
            if not self._commands.is_closing():  # it closes itself when the child closes its end
                self._commands.abort()
            self._commands = None
        if self._tasks:
            # The pipes still hold the child's last output. A leftover process may keep them open, hence the
            # limit.
            await asyncio.wait((self._replies_ended, *self._tasks), timeout=_DRAIN_S)
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            self._tasks = []
        # A transport that is no longer read does not close itself.
        for transport in self._transports:
            transport.close()
        self._transports = []

    async def _reader(self, handle: int) -> asyncio.StreamReader:
        stream = asyncio.StreamReader(limit=protocol.MAX_LINE_BYTES)
        reader_protocol = asyncio.StreamReaderProtocol(stream)
        pipe = os.fdopen(handle, "rb", buffering=0)
        transport, _ = await self._loop.connect_read_pipe(lambda: reader_protocol, pipe)
        self._transports.append(transport)
        return stream


class _Lines(asyncio.Protocol):
    """Gives each line of a pipe to `take`, until that returns False, and without a task that waits for it.

    A line that exceeds the limit of a message is given as far as it was read.  `ended` is done after the last line; one
    cut off by the end of the process is dropped.
    """

    def __init__(self, take: Callable[[bytes], bool], ended: asyncio.Future[None]) -> None:
        self._take = take
        self._ended = ended
        self._transport: asyncio.ReadTransport | None = None
        self._begun = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.ReadTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._ended.done():
            return
        first, *others = data.split(b"\n")
        self._begun += first
        for text in others:
            if not self._take(bytes(self._begun) + b"\n"):
                self._stop()
                return
            self._begun = bytearray(text)
        if len(self._begun) > protocol.MAX_LINE_BYTES:
            self._take(bytes(self._begun))
            self._stop()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._ended.done():
            self._ended.set_result(None)

    def _stop(self) -> None:
        """Leave the rest in the pipe: a child that floods it must not occupy this process."""
        if self._transport is not None:
            self._transport.pause_reading()
        self._ended.set_result(None)


def _look(pid: int, helper: int | None) -> Callable[[], Interval]:
    """A function that measures a process together with `helper`, a process that works for it, if there is one."""
    own = Meter(pid)
    if helper is None:
        return own.look
    other = Meter(helper)
    return lambda: together(own.look(), other.look())


def _how(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit status {code}"
