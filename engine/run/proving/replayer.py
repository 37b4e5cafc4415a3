"""A replayer of one run: taken when it is first needed, limited in what it reads, and holding kernels by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine import protocol
from engine.errors import EngineError
from engine.processes.process_pool import ProcessPool
from engine.processes.warm_pool import PooledProcess
from engine.run.proving.kernels import LoweredKernel

_HOLD_S = 10.0


class HeldReplayer:
    """A replayer that is replaced when it dies; `close` at the end."""

    def __init__(self, process_pool: ProcessPool) -> None:
        self._process_pool = process_pool
        self._hand: PooledProcess | None = None
        self._held: set[str] = set()

    async def shared(self) -> Path:
        """The folder of shared memory of the replayer, which is there then.

        Raises:
            EngineError: none could be made.
        """
        return (await self._process()).room.shared

    async def hold(self, kernels: Sequence[LoweredKernel]) -> str:
        """Have the replayer read the modules that it does not hold; why one is refused, or "".

        Raises:
            EngineError: the replayer failed.
        """
        hand = await self._process()
        for kernel in kernels:
            if kernel.name in self._held:
                continue
            command = protocol.HoldKernel(
                id=protocol.new_id(), name=kernel.name, ttir=kernel.ttir, arguments=kernel.arguments
            )
            reply = await _answer(hand, command, deadline_s=_HOLD_S)
            if isinstance(reply, protocol.Failed):
                return reply.message
            self._held.add(kernel.name)
        return ""

    async def ask(self, command: protocol.AnyCommand, *, deadline_s: float) -> protocol.AnyReply:
        """The reply of the replayer; one that can do nothing more is ended behind it.

        Raises:
            EngineError: it failed, or did not answer properly.
        """
        reply = await _answer(await self._process(), command, deadline_s=deadline_s)
        if isinstance(reply, protocol.Failed) and reply.broken:
            await self.close()
        return reply

    async def clear(self) -> None:
        """As `close`: a replayer that does not answer is ended by the caller."""
        await self.close()

    async def close(self) -> None:
        """End the replayer.  Safe to call twice."""
        if self._hand is not None:
            hand, self._hand = self._hand, None
            await hand.dismiss()

    async def _process(self) -> PooledProcess:
        if self._hand is None or not self._hand.child.alive or self._hand.child.fault is not None:
            await self.close()
            self._hand, self._held = await self._process_pool.replayer.take(), set()
            await _limit_reading(self._hand)
        return self._hand


async def _limit_reading(hand: PooledProcess) -> None:
    """Leave a replayer only libraries, arenas and its own files to read, before it gets anything of a candidate."""
    readable = (str(hand.room.shared), str(hand.room.folder))
    command = protocol.LimitReading(id=protocol.new_id(), readable=readable)
    reply = await _answer(hand, command, deadline_s=_HOLD_S)
    if isinstance(reply, protocol.Failed):
        raise EngineError(reply.message)


async def _answer(hand: PooledProcess, command: protocol.AnyCommand, *, deadline_s: float) -> protocol.AnyReply:
    reply = await hand.child.ask(command, deadline_s=deadline_s)
    if isinstance(reply, protocol.Failed) and reply.kind is protocol.FailureKind.ENGINE:
        raise EngineError(f"the replayer failed: {reply.message}")
    return reply
