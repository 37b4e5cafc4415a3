"""Binaries of TTIR modules, each compiled in a process without a candidate and cached by content.

A binary depends on its request alone: the compiling process exits after one module, so no module can affect the next.
Binaries are cached in this process's memory, which no candidate can write, until the engine closes.  They are never
cached in a folder, where another engine could find files written by a candidate.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable

from engine import protocol
from engine.errors import EngineError, is_no_evidence
from engine.processes.resources.control_group import ControlGroup
from engine.processes.warm_pool import PooledProcess

_BUILD_S = 30.0  # CPU time of the process, including ptxas
_MEMORY_BYTES = 4 << 30
_MOST_KEPT_BYTES = 256 << 20
_TRIES = 2


class NotBuiltError(Exception):
    """A module has no binary: it does not compile or crashes its compiler; the message has the reason."""


class LostCompilerError(NotBuiltError):
    """The compiler processes of a module exited unexpectedly or hung."""


class Binaries:
    """Builds binaries, at most `most` at once; `start` makes a compiler without a candidate."""

    def __init__(
        self, start: Callable[[], Awaitable[PooledProcess]], *, most: int, most_kept_bytes: int = _MOST_KEPT_BYTES
    ) -> None:
        self._start = start
        self._turns = asyncio.Semaphore(most)
        self._most_kept_bytes = most_kept_bytes
        self._kept: OrderedDict[str, protocol.KernelBinary | str] = OrderedDict()
        self._kept_bytes = 0
        self._ending: set[asyncio.Task[None]] = set()

    async def build(
        self, request: protocol.BinaryRequest, *, group: ControlGroup | None = None
    ) -> protocol.KernelBinary:
        """The binary of a module, built or taken from the cache; `group` is the control group of the run.

        Raises:
            NotBuiltError: the module cannot be compiled.
            EngineError: compilers could not be started, or were killed from outside.
        """
        key = request.key
        if key not in self._kept:
            async with self._turns:
                self._keep(key, await self._built(request, group))
        self._kept.move_to_end(key)
        kept = self._kept[key]
        if isinstance(kept, str):
            raise NotBuiltError(kept)
        return kept

    async def _built(self, request: protocol.BinaryRequest, group: ControlGroup | None) -> protocol.KernelBinary | str:
        """The binary, or the reason why the module does not compile; a failed compiler is retried once.

        Raises:
            LostCompilerError: both compilers exited unexpectedly or hung.
            EngineError: the last failure is not evidence about the module.
        """
        failures: list[EngineError] = []
        while len(failures) < _TRIES:
            try:
                return await self._built_once(request, group)
            except EngineError as error:
                failures.append(error)
        if is_no_evidence(failures[-1]):
            raise failures[-1]
        raise LostCompilerError(f"the TTIR of {request.kernel} could not be compiled: {failures[-1]} ({_TRIES} times)")

    async def _built_once(
        self, request: protocol.BinaryRequest, group: ControlGroup | None
    ) -> protocol.KernelBinary | str:
        process = await self._start()
        try:
            if group is not None:
                group.add(process.child.pid)
                process.child.group = group
            command = protocol.BuildBinary(
                id=protocol.new_id(),
                request=request,
                memory_bytes=_MEMORY_BYTES,
                readable=(str(process.workspace.folder),),
            )
            reply = await process.child.ask(command, deadline_s=_BUILD_S)
        finally:
            self._end(process)
        match reply:
            case protocol.BinaryBuilt():
                return reply.binary
            case protocol.Failed(kind=protocol.FailureKind.UNSUPPORTED):
                return reply.message
            case protocol.Failed():
                raise EngineError(f"the compiler failed: {reply.message}")
        raise EngineError(f"the compiler answered with {type(reply).__name__}")

    def _end(self, process: PooledProcess) -> None:
        """End a process without waiting; `settle` does."""
        ending = asyncio.create_task(process.end())
        self._ending.add(ending)
        ending.add_done_callback(self._ended)

    def _ended(self, ending: asyncio.Task[None]) -> None:
        self._ending.discard(ending)
        ending.cancelled() or ending.exception()  # or asyncio would print it: a folder that could not be removed

    async def settle(self) -> None:
        """Wait until the processes of finished builds have ended."""
        if self._ending:
            await asyncio.wait(self._ending)

    def _keep(self, key: str, built: protocol.KernelBinary | str) -> None:
        if key in self._kept:
            return
        self._kept[key] = built
        self._kept_bytes += _bytes_of(built)
        while self._kept_bytes > self._most_kept_bytes and len(self._kept) > 1:
            _, oldest = self._kept.popitem(last=False)
            self._kept_bytes -= _bytes_of(oldest)


def _bytes_of(built: protocol.KernelBinary | str) -> int:
    return len(built) if isinstance(built, str) else len(built.code) + len(built.stages)
