"""Compiling what was launched, for the plan's target, while the cases are still being judged."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine import outcomes, wire
from engine.artefacts import ArtefactStore
from engine.desk import Desk, LoadError
from engine.errors import EngineError
from engine.model import Artefact, CompiledKernel, Launch, Limits, Outcome
from engine.untrusted import UntrustedFileError, read_untrusted
from engine.verdict import Stop

_MAX_ARTEFACT_BYTES = 64 << 20


@dataclass(frozen=True, kw_only=True)
class _Binary:
    """A compiled binary that can be disassembled: the kernel's number and the file's name."""

    number: int
    name: str


class Builder:
    """Compiles the launches of one run in the order in which they come."""

    def __init__(
        self, *, desk: Desk, target: str, limits: Limits, artefacts: ArtefactStore, clock: Callable[[], float],
        on_kernel: Callable[[int, int, CompiledKernel], None],
    ) -> None:  # fmt: skip
        self._desk = desk
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
        self._launches.put_nowait(None)

    async def run(self) -> None:
        """Compile until `finish`.  A file that does not load here leaves `trouble`, and its kernels UNSUPPORTED."""
        while (launch := await self._launches.get()) is not None:
            kernel = await self._compile(launch)
            self.kernels.append(kernel)
            self._on_kernel(len(self.kernels), self._total, kernel)

    async def disassemble(self, on_artefact: Callable[[int, Artefact], None]) -> None:
        """Turn every NVIDIA binary of this run into SASS, one after another."""
        for binary in self._binaries:
            command = wire.Disassemble(id=wire.new_id(), folder=str(self._folder()), cubin=binary.name)
            try:
                reply = await self._desk.ask(command, deadline_s=self._limits.compile_s)
            except EngineError:
                return
            if isinstance(reply, wire.Compiled):
                for artefact in self._keep(reply.stages):
                    on_artefact(binary.number, artefact)

    async def _compile(self, launch: Launch) -> CompiledKernel:
        started = self._clock()
        reply: wire.AnyReply | Stop
        try:
            if not self._desk.occupied and self.trouble is None:
                await self._load()
            reply = self.trouble or await self._desk.ask(
                wire.Compile(id=wire.new_id(), launch=launch, target=self._target, folder=str(self._folder())),
                deadline_s=self._limits.compile_s,
            )
        except EngineError as error:
            await self._desk.clear()
            stop = outcomes.of_worker_error(error, "while compiling")
            reply = Stop(outcome=Outcome.COMPILE_ERROR, message=stop.message)
        return self._kernel(launch, reply, self._clock() - started)

    async def _load(self) -> None:
        try:
            await self._desk.load()
        except LoadError as error:
            self.trouble = Stop(
                outcome=Outcome.UNSUPPORTED,
                message=f"could not check: the file does not load without a device: {error}",
            )

    def _kernel(self, launch: Launch, reply: wire.AnyReply | Stop, elapsed_s: float) -> CompiledKernel:
        if isinstance(reply, wire.Compiled):
            artefacts = self._keep(reply.stages)
            if "cubin" in reply.stages:
                self._binaries.append(_Binary(number=len(self.kernels) + 1, name=reply.stages["cubin"]))
            return CompiledKernel(
                launch=launch, target=self._target, outcome=Outcome.PASS, elapsed_s=elapsed_s,
                registers=reply.registers, spill_bytes=reply.spill_bytes, shared_bytes=reply.shared_bytes,
                artefacts=artefacts,
            )  # fmt: skip
        if isinstance(reply, wire.Failed):
            reply = outcomes.of_failure(reply)
        if not isinstance(reply, Stop):
            reply = Stop(outcome=Outcome.TAMPERED, message=f"a compile was answered with {type(reply).__name__}")
        return CompiledKernel(
            launch=launch, target=self._target, outcome=reply.outcome, elapsed_s=elapsed_s, message=reply.message,
            location=reply.location,
        )  # fmt: skip

    def _keep(self, stages: dict[str, str]) -> tuple[Artefact, ...]:
        kept: list[Artefact] = []
        for kind, name in stages.items():
            try:
                content = read_untrusted(self._folder() / Path(name).name, max_bytes=_MAX_ARTEFACT_BYTES)
            except UntrustedFileError:
                continue
            kept.append(self._artefacts.put(kind, content))
        return tuple(kept)

    def _folder(self) -> Path:
        return self._desk.shared
