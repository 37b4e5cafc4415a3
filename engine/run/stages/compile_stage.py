"""The stage that compiles launches for the plan's target, with events for its begin and end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from engine.model import CompiledKernel, Finding, Launch, Location, Outcome, Severity, Stage
from engine.model.counts import counted
from engine.run.compile_queue import Builder
from engine.run.event_stream import EventEmitter
from engine.verdict.decide import NOT_BUILT_HERE

OVERFULL = "too many specialisations for one candidate; the rest was not compiled"


class CompilingStage:
    """Passes launches on to one builder, and reports the stage.

    It begins with the first launch or, if the builder is held until the cases are done, with its release.  With
    `has_fixed_sizes` no tensors larger than those of the cases are expected.
    """

    def __init__(self, *, builder: Builder, emitter: EventEmitter, has_fixed_sizes: bool = False) -> None:
        self._builder = builder
        self._emitter = emitter
        self._has_fixed_sizes = has_fixed_sizes
        self._began: float | None = None

    def add(self, launch: Launch, specialisation: str = "") -> list[asyncio.Future[None]]:
        """Compile this launch, too; returns what must be done before it can be launched."""
        if self._builder.idle and not self._builder.held:
            self._began = self._emitter.begin(Stage.COMPILE)
        return self._builder.add(launch, specialisation)

    def release(self) -> None:
        """Start compiling after a hold."""
        if self._builder.held and not self._builder.idle:
            self._began = self._emitter.begin(Stage.COMPILE)
        self._builder.release()

    def end(self) -> None:
        """Report the end of compiling, once, if it has begun."""
        builder, began = self._builder, self._began
        if began is None:
            return
        self._began = None
        failures = [kernel for kernel in builder.kernels if kernel.outcome is not Outcome.PASS]
        failed = min(failures, key=lambda kernel: kernel.outcome in NOT_BUILT_HERE, default=None)
        if builder.unkept:
            self._emitter.note("artefacts", builder.unkept)
        if failed is not None and failed.outcome in NOT_BUILT_HERE:
            message = f"could not check that {failed.launch.kernel} builds for {failed.target}: {failed.message}"
            self._emitter.note("offline_compile", message)
        for finding in narrow_offsets(builder.kernels, has_fixed_sizes=self._has_fixed_sizes):
            self._emitter.find(finding)
        if builder.overfull:
            self._emitter.note("offline_compile", OVERFULL)
        if failed is not None:
            self._emitter.end(Stage.COMPILE, began, failed.outcome, failed.message, failed.location)
        elif builder.unfinished:
            message = f"the run ended with {counted(builder.unfinished, 'kernel')} still to compile"
            self._emitter.end(Stage.COMPILE, began, Outcome.CANCELLED, message)
        elif not builder.kernels:
            message = "no expected kernel builds, and none was launched"
            self._emitter.end(Stage.COMPILE, began, Outcome.UNSUPPORTED, message)
        else:
            left_out = counted(builder.left_out, "kernel") if builder.left_out else ""
            self._emitter.end(Stage.COMPILE, began, message=left_out and f"{left_out} left out: not all cases passed")


def narrow_offsets(kernels: Iterable[CompiledKernel], *, has_fixed_sizes: bool = False) -> tuple[Finding, ...]:
    """A NOTE for each kernel that computes addresses in 32 bits, at the first line that does.

    None for a problem whose sizes are fixed: a task of a suite is not an operator for larger tensors.  Only the
    specialisations of a kernel with the fewest constants count: for a size or stride of 1 Triton leaves out the product
    that shows what an offset is.
    """
    every = () if has_fixed_sizes else tuple(kernels)
    constants: dict[str, int] = {}
    for kernel in every:
        count = len(kernel.launch.constants)
        constants[kernel.launch.kernel] = min(count, constants.get(kernel.launch.kernel, count))
    line_by_kernel: dict[str, int] = {}
    for kernel in every:
        name = kernel.launch.kernel
        if kernel.narrow_offset_line is not None and len(kernel.launch.constants) == constants[name]:
            line_by_kernel[name] = min(kernel.narrow_offset_line, line_by_kernel.get(name, kernel.narrow_offset_line))
    return tuple(
        Finding(
            check="offsets",
            severity=Severity.NOTE,
            message=f"{name} computes offsets in 32 bits: tensors of more than 2,147,483,647 elements may be addressed "
            "wrongly; use tl.int64 if such sizes are allowed",
            location=Location(line=line),
        )
        for name, line in line_by_kernel.items()
    )
