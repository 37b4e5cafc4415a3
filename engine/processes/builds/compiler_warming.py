"""Warms the spare compilers while no run is in progress: the first compile of a process takes half as long again.

A forked process copies each page of memory when it first writes to it, and maps each page of a library when it first
runs it.  A compiler of modules compiles one and exits, so that every module would pay for that while the user waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from engine import protocol
from engine.errors import EngineError
from engine.processes.warm_pool import PooledProcess, WarmPool
from engine.protocol.compiling import WarmUp

_WARM_UP_S = 30.0  # CPU time of the process, including ptxas


class CompilerWarming:
    """Warms the children of these pools for `target`, `at_once` at a time, from `start` until `stop`."""

    def __init__(self, pools: Sequence[WarmPool], *, target: str, at_once: int) -> None:
        self._pools = tuple(pools)
        self._target = target
        self._at_once = at_once
        self._is_stopped = True
        self._warming: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Fill the pools and warm their children, without waiting."""
        if not self._pools:
            return
        self._is_stopped = False
        if self._warming is None or self._warming.done():
            self._warming = asyncio.create_task(self._warm_all())

    def stop(self) -> None:
        """Begin no more; a child that is being warmed is put back when it is."""
        self._is_stopped = True

    async def wait(self) -> None:
        """Wait until no child is being warmed."""
        if self._warming is not None:
            await asyncio.wait({self._warming})

    async def close(self) -> None:
        """Stop, and wait until no child is being warmed."""
        self.stop()
        await self.wait()

    async def _warm_all(self) -> None:
        for pool in self._pools:
            pool.prepare()
            await pool.settle()
        await asyncio.gather(*(self._warm_each() for _ in range(self._at_once)))

    async def _warm_each(self) -> None:
        for pool in self._pools:
            while not self._is_stopped and (process := pool.lend_unwarmed()) is not None:
                await self._warm(process, pool)

    async def _warm(self, process: PooledProcess, pool: WarmPool) -> None:
        command = WarmUp(id=protocol.new_id(), target=self._target)
        try:
            reply = await process.child.ask(command, deadline_s=_WARM_UP_S)
        except EngineError:
            reply = None  # a run makes another one
        if not isinstance(reply, protocol.Done) or not pool.put_back(replace(process, is_warmed=True)):
            await process.end()
