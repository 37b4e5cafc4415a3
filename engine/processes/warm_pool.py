"""Pools of child processes that are ready before they are needed, each with its workspace."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from engine.errors import EngineError, EngineLostError
from engine.processes.child import Child
from engine.processes.directories import Workspace


@dataclass(frozen=True, kw_only=True)
class PooledProcess:
    """A child process and its workspace; `is_warmed` is whether it has done its kind of work once."""

    child: Child
    workspace: Workspace
    is_warmed: bool = False

    async def end(self) -> None:
        """Kill the child, wait until it has exited, and remove its folders.  Safe to call twice."""
        await self.child.kill()
        await asyncio.to_thread(self.workspace.remove)


class WarmPool:
    """`depth` warm children ahead of use: `take` removes one, and the next are made on request."""

    def __init__(self, start: Callable[[], Awaitable[PooledProcess]], *, depth: int = 1) -> None:
        self._start = start
        self._depth = depth
        self._waiting: deque[asyncio.Future[PooledProcess]] = deque()  # oldest first: the next one to become warm
        self._closed = False
        self._takes = asyncio.Lock()  # two concurrent takers must not get the same process

    def prepare(self, *, most: int | None = None) -> None:
        """Start making missing children up to `most` or all of the depth, unless the pool is closed."""
        depth = self._depth if most is None else min(most, self._depth)
        while len(self._waiting) < depth and not self._closed:
            self._begin()

    async def wait(self) -> PooledProcess:
        """The next child, once it is warm, left in the pool; one lost with its fork server is replaced once."""
        return (await self._next()).result()

    async def _next(self) -> asyncio.Future[PooledProcess]:
        try:
            return await self._wait()
        except EngineLostError:
            return await self._wait()

    async def _wait(self) -> asyncio.Future[PooledProcess]:
        if not self._waiting and not self._closed:
            self._begin()
        if not self._waiting:
            raise EngineError("the engine has been closed")
        making = self._waiting[0]
        try:
            process = await asyncio.shield(making)
        except (EngineError, OSError):
            for failed in [made for made in self._waiting if made.done() and (made.cancelled() or made.exception())]:
                self._waiting.remove(failed)  # otherwise every later take would raise the same error
            raise
        if process.child.alive and process.child.fault is None:
            return making
        self._forget(making)  # it exited while waiting, for example killed when memory ran out
        await process.end()
        return await self._wait()

    async def settle(self) -> None:
        """Wait until no child is being made; failures are reported by `take`."""
        if self._waiting:
            await asyncio.wait(list(self._waiting))

    async def take(self) -> PooledProcess:
        """The next warm child, removed from the pool.

        Raises:
            EngineError: none could be made.
        """
        async with self._takes:
            while (made := await self._next()) not in self._waiting:
                pass  # lent or taken by another way while this waited
            self._waiting.remove(made)
            return made.result()

    async def take_or_make(self, *, keeping: int | None = None) -> PooledProcess:
        """A child that is warm, else a new one.  Callers do not wait for each other.

        Others are begun only so far that at least `keeping` of them wait, by default all of the depth.

        Raises:
            EngineError: none could be made.
        """
        while self._waiting and self._waiting[0].done():
            made = self._waiting.popleft()
            if made.cancelled() or made.exception() is not None:
                continue
            process = made.result()
            if process.child.alive and process.child.fault is None:
                self.prepare(most=keeping)
                return process
            await process.end()
        return await self._make()

    def lend_unwarmed(self) -> PooledProcess | None:
        """A ready child that has done no work yet, until it is put back; None if there is none."""
        for making in reversed(self._waiting):
            if making.done() and not making.cancelled() and making.exception() is None:
                process = making.result()
                if not process.is_warmed and process.child.alive:
                    self._waiting.remove(making)
                    return process
        return None

    async def make(self) -> PooledProcess:
        """A new child, which is not in the pool.

        Raises:
            EngineError: none could be made.
        """
        return await self._make()

    @property
    def missing(self) -> int:
        """How many children fewer than the depth wait in the pool."""
        return max(0, self._depth - len(self._waiting))

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of the children that wait in the pool; may be read in another thread."""
        ready = (making for making in tuple(self._waiting) if making.done() and not making.cancelled())
        return tuple(making.result().child.pid for making in ready if making.exception() is None)

    def put_back(self, process: PooledProcess) -> bool:
        """Have the next caller take this process, which is as good as a new one; False where there are enough."""
        if self._closed or len(self._waiting) >= self._depth:
            return False
        kept: asyncio.Future[PooledProcess] = asyncio.get_running_loop().create_future()
        kept.set_result(process)
        self._waiting.appendleft(kept)
        return True

    async def close(self) -> None:
        """End the children of the pool for good."""
        self._closed = True
        while self._waiting:
            making = self._waiting.popleft()
            making.cancel()
            with contextlib.suppress(asyncio.CancelledError, EngineError, OSError):
                await (await making).end()

    def _begin(self) -> None:
        making = asyncio.create_task(self._make())
        # The caller of `take` gets the error.  Also retrieved here, so that asyncio does not print it on the
        # screen.
        making.add_done_callback(lambda made: made.cancelled() or made.exception())
        self._waiting.append(making)

    def _forget(self, making: asyncio.Future[PooledProcess]) -> None:
        with contextlib.suppress(ValueError):
            self._waiting.remove(making)

    async def _make(self) -> PooledProcess:
        return await self._start()
