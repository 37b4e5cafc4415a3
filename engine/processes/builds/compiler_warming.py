"""Warms the spare compilers while no run is in progress: the first compile of a process takes 1.5 times as long.

A forked process copies each page of memory when it first writes to it, and maps each page of a library when it first
runs it.  A compiler of modules compiles one and exits, so that every module would pay for that while the user waits.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from engine import protocol
from engine.errors import EngineError
from engine.processes.warm_pool import PooledProcess, WarmPool
from engine.protocol.compiling import WarmUp

_WARM_UP_S = 30.0  # CPU time of the process, including ptxas
_QUIET_S = 1.0  # a command that makes one run has ended by then


class CompilerWarming:
    """Fills these pools and warms their children for `target`, `at_once` at a time, from `start` until `stop`.

    It begins when the children of the pools `after` are made.
    """

    def __init__(
        self,
        pools: Sequence[WarmPool],
        *,
        target: str,
        at_once: int,
        after: Sequence[WarmPool] = (),
        quiet_s: float = _QUIET_S,
    ) -> None:
        self._pools = tuple(pools)
        self._after = tuple(after)
        self._quiet_s = quiet_s
        self._then: Callable[[], None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._target = target
        self._at_once = at_once
        self._is_stopped = True
        self._round = 0
        self._has_failed = False
        self._lent: Counter[WarmPool] = Counter()
        self._pids: set[int] = set()
        self._warming: asyncio.Task[None] | None = None

    def start(self, *, then: Callable[[], None] | None = None) -> None:
        """Begin to fill the pools and to warm their children.

        `then` is called when nothing has been left to do for a moment, unless `stop` was called.
        """
        self.stop()
        self._then = then
        self._is_stopped = False
        self._round += 1
        if self._warming is None or self._warming.done():
            self._warming = asyncio.create_task(self._warm_all())

    def stop(self) -> None:
        """Begin no more; a child that is being warmed is put back when it is."""
        self._is_stopped = True
        if self._timer is not None:
            self._timer.cancel()

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of the children that are being warmed; may be read in another thread."""
        return tuple(self._pids)

    async def wait(self) -> None:
        """Wait until no child is being warmed."""
        if self._warming is not None:
            await asyncio.wait({self._warming})

    async def close(self) -> None:
        """Stop, and end the children that are being warmed."""
        self.stop()
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.gather(self._warming, return_exceptions=True)

    async def _warm_all(self) -> None:
        number = 0
        while number != self._round:  # also after `stop` and `start` while the last children are warmed
            number, self._has_failed = self._round, False
            for pool in (*self._after, *self._pools):
                await pool.settle()  # children that are being made have precedence
            await asyncio.gather(*(self._warm_each(number) for _ in range(self._at_once)))
        if self._then is not None and not self._is_stopped:
            self._timer = asyncio.get_running_loop().call_later(self._quiet_s, self._then)

    async def _warm_each(self, number: int) -> None:
        for pool in self._pools:
            while number == self._round and not self._is_stopped:
                process = pool.lend_unwarmed()
                if process is None and (self._has_failed or pool.missing <= self._lent[pool]):
                    break
                self._lent[pool] += 1
                try:
                    is_warmed = await self._warm(process or await pool.make(), pool)
                except (EngineError, OSError):
                    is_warmed = False
                finally:
                    self._lent[pool] -= 1
                self._has_failed |= not is_warmed  # a run makes others, and reports why that fails

    async def _warm(self, process: PooledProcess, pool: WarmPool) -> bool:
        """Warm a child and put it into the pool; False if it failed, and has been ended."""
        command = WarmUp(id=protocol.new_id(), target=self._target)
        self._pids.add(process.child.pid)
        try:
            reply = await process.child.ask(command, deadline_s=_WARM_UP_S)
        except EngineError:
            reply = None
        except asyncio.CancelledError:
            await asyncio.shield(process.end())
            raise
        finally:
            self._pids.discard(process.child.pid)
        is_warmed = isinstance(reply, protocol.Done)
        if not is_warmed or not pool.put_back(replace(process, is_warmed=True)):
            await process.end()
        return is_warmed
