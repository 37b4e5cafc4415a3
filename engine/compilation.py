"""Compiling what was launched, for the plan's target, by several compilers while the cases are still being judged."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine import outcomes, wire
from engine.artefacts import ArtefactStore
from engine.desk import Desk, LoadError
from engine.errors import ChildDiedError, DeadlineError, EngineError, WireError
from engine.model import Artefact, CompiledKernel, Launch, Limits, Outcome
from engine.untrusted import UntrustedFileError, read_untrusted
from engine.verdict import Stop

_MAX_ARTEFACT_BYTES = 64 << 20


@dataclass(frozen=True, kw_only=True)
class _Binary:
    """A compiled binary that can be disassembled: the kernel's number, who compiled it, and where it lies."""

    number: int
    desk: Desk
    folder: Path
    name: str


class Builder:
    """Compiles the launches of one run in the order in which they come."""

    def __init__(
        self, *, desks: tuple[Desk, ...], target: str, limits: Limits, artefacts: ArtefactStore,
        clock: Callable[[], float], on_kernel: Callable[[int, int, CompiledKernel], None],
    ) -> None:  # fmt: skip
        self._desks = desks
        self._target = target
        self._limits = limits
        self._artefacts = artefacts
        self._clock = clock
        self._on_kernel = on_kernel
        self._launches: asyncio.Queue[Launch | None] = asyncio.Queue()
        self._total = 0
        self._binaries: list[_Binary] = []
        self.kernels: list[CompiledKernel] = []
        self.trouble: Stop | None = None
        self.unkept = ""

    def add(self, launch: Launch) -> None:
        """Compile this one too."""
        self._total += 1
        self._launches.put_nowait(launch)

    @property
    def idle(self) -> bool:
        """Whether nothing has been added yet."""
        return self._total == 0

    def finish(self) -> None:
        """No more launches will come; `run` returns after the last."""
        for _ in self._desks:
            self._launches.put_nowait(None)

    async def run(self) -> None:
        """Compile until `finish`.  A file that does not load here leaves `trouble`, and its kernels UNSUPPORTED."""
        async with asyncio.TaskGroup() as group:
            for desk in self._desks:
                group.create_task(self._serve(desk))

    async def disassemble(self, on_artefact: Callable[[int, Artefact], None]) -> None:
        """Turn every NVIDIA binary of this run into SASS, one after another."""
        for binary in self._binaries:
            if not binary.desk.occupied or binary.desk.shared != binary.folder:
                continue  # its compiler has died since, and its files with it
            command = wire.Disassemble(id=wire.new_id(), folder=str(binary.folder), cubin=binary.name)
            try:
                reply = await binary.desk.ask(command, deadline_s=self._limits.compile_s)
            except EngineError:
                continue
            if isinstance(reply, wire.Compiled):
                for artefact in self._keep(binary.desk, reply.stages):
                    on_artefact(binary.number, artefact)

    async def clear(self) -> None:
        """Kill the compilers.  Safe to call twice."""
        await asyncio.gather(*(desk.clear() for desk in self._desks))

    async def _serve(self, desk: Desk) -> None:
        while (launch := await self._launches.get()) is not None:
            kernel = await self._compile(desk, launch)
            self._on_kernel(len(self.kernels), self._total, kernel)

    async def _compile(self, desk: Desk, launch: Launch) -> CompiledKernel:
        started = self._clock()
        reply: wire.AnyReply | Stop
        try:
            if not desk.occupied and self.trouble is None:
                await self._load(desk)
            reply = self.trouble or await desk.ask(
                wire.Compile(id=wire.new_id(), launch=launch, target=self._target, folder=str(desk.shared)),
                deadline_s=self._limits.compile_s,
            )
        except (ChildDiedError, DeadlineError, WireError) as error:
            await desk.clear()
            stop = outcomes.of_worker_error(error, "while compiling")
            reply = Stop(outcome=Outcome.COMPILE_ERROR, message=stop.message)
        except EngineError as error:
            reply = Stop(outcome=Outcome.UNSUPPORTED, message=f"could not check: {error}")
        kernel = self._kernel(desk, launch, reply, self._clock() - started)
        self.kernels.append(kernel)
        if isinstance(reply, wire.Compiled) and "cubin" in reply.stages:
            self._binaries.append(
                _Binary(number=len(self.kernels), desk=desk, folder=desk.shared, name=reply.stages["cubin"])
            )
        return kernel

    async def _load(self, desk: Desk) -> None:
        try:
            await desk.load()
        except LoadError as error:
            message = f"could not check: the file does not load without a device: {error}"
            self.trouble = Stop(outcome=Outcome.UNSUPPORTED, message=message)

    def _kernel(self, desk: Desk, launch: Launch, reply: wire.AnyReply | Stop, elapsed_s: float) -> CompiledKernel:
        if isinstance(reply, wire.Compiled):
            return CompiledKernel(
                launch=launch, target=self._target, outcome=Outcome.PASS, elapsed_s=elapsed_s,
                registers=reply.registers, spill_bytes=reply.spill_bytes, shared_bytes=reply.shared_bytes,
                artefacts=self._keep(desk, reply.stages),
            )  # fmt: skip
        if isinstance(reply, wire.Failed):
            reply = outcomes.of_failure(reply)
        if not isinstance(reply, Stop):
            reply = Stop(outcome=Outcome.TAMPERED, message=f"a compile was answered with {type(reply).__name__}")
        return CompiledKernel(
            launch=launch, target=self._target, outcome=reply.outcome, elapsed_s=elapsed_s, message=reply.message,
            location=reply.location,
        )  # fmt: skip

    def _keep(self, desk: Desk, stages: dict[str, str]) -> tuple[Artefact, ...]:
        kept: list[Artefact] = []
        for kind, name in stages.items():
            try:
                content = read_untrusted(desk.shared / Path(name).name, max_bytes=_MAX_ARTEFACT_BYTES)
            except UntrustedFileError:
                continue
            try:
                kept.append(self._artefacts.put(kind, content))
            except OSError as error:
                self.unkept = f"compiled code could not be kept: {error.strerror or error}; free some space"
        return tuple(kept)
