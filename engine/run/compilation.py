"""What one run compiles beside its cases: launches for the plan's target, and for the device before they are made."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from engine.model import Artefact, CompiledKernel, Launch, Plan, events
from engine.run.compile_queue import Builder
from engine.run.event_stream import EventEmitter
from engine.run.run_processes import RunProcesses
from engine.run.stages.compile_stage import CompilingStage


class Compilation:
    """The builders of one run and the events of their kernels.

    `ahead` compiles for the device itself what a dry run expects; None where kernels are interpreted.  It is the
    builder of the plan's target where that is the device's.  `reported_before` is how many kernels were reported
    already: extensions are built before any launch.
    """

    def __init__(
        self,
        plan: Plan,
        processes: RunProcesses,
        *,
        device_target: str | None,
        emitter: EventEmitter,
        reported_before: Callable[[], int],
    ) -> None:
        self._emitter = emitter
        self._reported_before = reported_before
        self._builder: Builder | None = None
        self._stage: CompilingStage | None = None
        if plan.target is not None:
            self._builder = processes.open_builder(plan.target, self._on_kernel)
            has_fixed_sizes = plan.problem.suite is not None
            self._stage = CompilingStage(builder=self._builder, emitter=emitter, has_fixed_sizes=has_fixed_sizes)
        self.ahead: Builder | None = None
        if device_target is not None and processes.cache_folder is not None:
            same = plan.target == device_target
            self.ahead = self._builder if same else processes.open_builder(device_target, lambda *_: None)

    @property
    def builders(self) -> tuple[Builder, ...]:
        """The builder for the plan's target and that for the device itself, which may be the same."""
        return tuple(dict.fromkeys(builder for builder in (self.ahead, self._builder) if builder is not None))

    @property
    def kernels(self) -> tuple[CompiledKernel, ...]:
        """The kernels compiled for the plan's target, in the order of their completion."""
        return tuple(self._builder.kernels) if self._builder is not None else ()

    @property
    def is_overfull(self) -> bool:
        """Whether launches were left out for the plan's target."""
        return self._builder is not None and self._builder.overfull

    def add(self, launch: Launch) -> None:
        """Compile an observed launch for the plan's target."""
        if self._stage is not None:
            self._stage.add(launch)

    def add_expected(self, launch: Launch, specialisation: str) -> list[asyncio.Future[None]]:
        """Compile an expected launch for the device; returns what must be done before it can be launched."""
        assert self.ahead is not None
        if self._stage is not None and self.ahead is self._builder:
            return self._stage.add(launch, specialisation)
        return self.ahead.add(launch, specialisation)

    def leave_out_rest(self, wanted: Iterable[Launch]) -> None:
        """Not all cases passed: compile for another target only one specialisation of each kernel, and these launches.

        The verdict is known by then, and its reader should not wait for the rest.
        """
        if self._builder is not None and self._builder is not self.ahead:
            self._builder.leave_out_rest(wanted)

    def release(self) -> None:
        """Compile what was held while cases ran."""
        if self._stage is not None:
            self._stage.release()

    def end(self) -> None:
        """Report the end of the stage.  Safe to call twice."""
        if self._stage is not None:
            self._stage.end()

    async def disassemble(self) -> None:
        """Disassemble the binaries of the plan's target; an event for each."""
        if self._builder is not None:
            await self._builder.disassemble(self._on_disassembled)

    def _on_kernel(self, number: int, total: int, kernel: CompiledKernel) -> None:
        before = self._reported_before()
        self._emitter.emit(events.KernelCompiled(
            at_s=self._emitter.now(), number=before + number, total=before + total, kernel=kernel
        ))  # fmt: skip

    def _on_disassembled(self, number: int, artefact: Artefact) -> None:
        number += self._reported_before()
        self._emitter.emit(events.KernelDisassembled(at_s=self._emitter.now(), number=number, artefact=artefact))
