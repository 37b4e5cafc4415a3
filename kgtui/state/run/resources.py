"""Resources of a case's kernels: registers, spills, shared memory, occupancy, as compiled for the target."""

from __future__ import annotations

from engine.devices.hardware.occupancy import occupancy
from engine.model import CompiledKernel, Launch, Outcome
from kgtui.state.format import numbers
from kgtui.state.format.glyphs import Glyphs
from kgtui.state.format.lines import Line, Span, Tone, line, muted, strong

Compiled = tuple[tuple[Launch, CompiledKernel | None], ...]


def resource_cells(compiled: Compiled, glyphs: Glyphs) -> tuple[Span, Span, Span]:
    """Registers, spills and occupancy of the case's kernels, the worst of several."""
    kernels = [kernel for _, kernel in compiled if kernel is not None]
    registers = [kernel.registers for kernel in kernels if kernel.registers is not None]
    spills = [kernel.spill_bytes for kernel in kernels if kernel.spill_bytes is not None]
    spill = max(spills, default=0)
    occupied = [known.percent for kernel in kernels if (known := occupancy(kernel)) is not None]
    return (
        Span(str(max(registers))) if registers else muted(glyphs.dash),
        Span(numbers.bytes_of(spill), Tone.WARN if spill else Tone.PLAIN) if spills else muted(glyphs.dash),
        Span(numbers.percent(min(occupied))) if occupied else muted(glyphs.dash),
    )


def kernel_lines(launch: Launch, kernel: CompiledKernel | None) -> tuple[Line, Line]:
    """One specialisation: its launch, and its known resource usage."""
    target = f", {kernel.target}" if kernel else ""
    how = f"{launch.num_warps} warps, {launch.num_stages} stages" if launch.num_warps else "CUDA extension"
    first = line(strong(launch.kernel), muted(f"  {how}{target}"))
    return first, resource_words(kernel) if kernel else line(muted("was not compiled for a target in this run"))


def resource_words(kernel: CompiledKernel) -> Line:
    """Resources of one compiled kernel, or the reason why it was not built."""
    if kernel.outcome is not Outcome.PASS:
        return line(Span(f"does not build: {' '.join(kernel.message.split())}", Tone.BAD))
    spills = kernel.spill_bytes
    return line(
        f"{_known(kernel.registers, 'registers')}, ",
        Span("no spills" if spills == 0 else _known(spills, "B spilled"), Tone.WARN if spills else Tone.PLAIN),
        f", {_shared(kernel.shared_bytes)} shared, {_occupancy(kernel)}",
    )


def _known(value: int | None, noun: str) -> str:
    return f"{noun} unknown" if value is None else f"{value} {noun}"


def _occupancy(kernel: CompiledKernel) -> str:
    known = occupancy(kernel)
    if known is None:
        return "occupancy unknown"
    return f"occupancy {numbers.percent(known.percent)} by {known.limited_by}"


def _shared(value: int | None) -> str:
    return "unknown" if value is None else numbers.bytes_of(value)
