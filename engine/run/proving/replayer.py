"""The replayer of one run: started when it is first needed, with kernels held by name."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from engine import protocol
from engine.errors import EngineError
from engine.model import Launch
from engine.processes.builds.binaries import NotBuiltError
from engine.processes.process_pool import ProcessPool
from engine.processes.warm_pool import PooledProcess
from engine.protocol.proof.binaries import CompileOptions
from engine.run.proving.binaries import BinaryBuilds
from engine.run.proving.kernels import LoweredKernel

_HOLD_S = 10.0


class PersistentReplayer:
    """A replayer that carries out commands one after another, and is replaced when it exits; `close` at the end.

    Without `builds` it executes modules, otherwise their binaries.  One that `is_kept` also serves the next run of the
    engine, because a device context takes long to make: of a candidate only kernels run in this process, and these
    could disturb the proof of their own run as well.
    """

    def __init__(self, process_pool: ProcessPool, builds: BinaryBuilds | None = None, *, is_kept: bool = False) -> None:
        self._process_pool = process_pool
        self._builds = builds
        self._is_kept = is_kept
        self._is_answering = False
        self._process: PooledProcess | None = None
        self._held: set[object] = set()
        self._turn = asyncio.Lock()

    async def shared(self) -> Path:
        """The shared-memory folder of the replayer, which is started if necessary.

        Raises:
            EngineError: none could be started.
        """
        async with self._turn:
            return (await self._ready_process()).workspace.shared

    async def hold(self, kernels: Sequence[LoweredKernel], launches: Sequence[Launch]) -> str:
        """Load the kernels of these launches into the replayer; "" or why one is refused.

        Raises:
            EngineError: the replayer failed, or a compiler did.
        """
        pairs = list(zip(kernels, launches, strict=True))
        if self._builds is not None:
            for kernel, launch in pairs:
                self._builds.begin(kernel, launch)
        for kernel, launch in pairs:
            command: protocol.AnyCommand = protocol.HoldKernel(
                id=protocol.new_id(), name=kernel.name, ttir=kernel.ttir, arguments=kernel.arguments
            )
            refused = await self._hold_once(kernel.name, command)
            if not refused and self._builds is not None:
                refused = await self._hold_binary(self._builds, kernel, launch)
            if refused:
                return refused
        return ""

    async def ask(self, command: protocol.AnyCommand, *, deadline_s: float) -> protocol.AnyReply:
        """The reply of the replayer; a replayer that is broken, or did not reply, is closed.

        Raises:
            EngineError: it failed, or did not reply properly.
        """
        async with self._turn:
            return await self._answer(await self._ready_process(), command, deadline_s=deadline_s)

    async def clear(self) -> None:
        """End the replayer: the caller does so with one that does not reply."""
        async with self._turn:
            await self._end()

    async def close(self) -> None:
        """End the replayer, or leave it to the next run of the engine.  Safe to call twice."""
        async with self._turn:
            if self._process is not None and await self._is_emptied(self._process):
                process, self._process = self._process, None
                if not self._process_pool.replayer.put_back(process):
                    await process.end()
            await self._end()

    async def _is_emptied(self, process: PooledProcess) -> bool:
        """Whether the replayer may be kept, and has dropped all kernels of this run."""
        if not self._is_kept or self._is_answering:
            return False
        try:
            command = protocol.DropKernels(id=protocol.new_id())
            return isinstance(await self._answer(process, command, deadline_s=_HOLD_S), protocol.Done)
        except EngineError:
            return False

    async def _hold_binary(self, builds: BinaryBuilds, kernel: LoweredKernel, launch: Launch) -> str:
        """Load the binary of a launch into the replayer; "" or why it is refused."""
        options = CompileOptions.of(launch)
        try:
            binary = await builds.of(kernel, launch)
        except NotBuiltError as error:
            return str(error)
        command = protocol.HoldBinary(
            id=protocol.new_id(), kernel=kernel.name, options=options, binary=binary.for_launches
        )
        return await self._hold_once((kernel.name, options), command)

    async def _hold_once(self, key: object, command: protocol.AnyCommand) -> str:
        """Carry out a command once for each replayer; "" or why it is refused."""
        async with self._turn:
            process = await self._ready_process()
            if key in self._held:
                return ""
            reply = await self._answer(process, command, deadline_s=_HOLD_S)
            if isinstance(reply, protocol.Failed):
                return reply.message
            self._held.add(key)
            return ""

    async def _ready_process(self) -> PooledProcess:
        if self._process is None or not self._process.child.alive or self._process.child.fault is not None:
            await self._end()
            self._process, self._held = await self._process_pool.replayer.take(), set()
            self._is_answering = False
        return self._process

    async def _answer(
        self, process: PooledProcess, command: protocol.AnyCommand, *, deadline_s: float
    ) -> protocol.AnyReply:
        self._is_answering = True  # and remains so when this is cancelled
        try:
            reply = await process.child.ask(command, deadline_s=deadline_s)
        except EngineError:
            await self._end()
            raise
        self._is_answering = False
        if isinstance(command, protocol.TimeTape):
            self._is_kept = False  # its clock records every launch from now on
        if isinstance(reply, protocol.Failed) and reply.broken:
            await self._end()
        if isinstance(reply, protocol.Failed) and reply.kind is protocol.FailureKind.ENGINE:
            raise EngineError(f"the replayer failed: {reply.message}")
        return reply

    async def _end(self) -> None:
        if self._process is not None:
            process, self._process = self._process, None
            await process.end()
