"""Errors for findings of the machine that end a launch, with the line of the kernel."""

from __future__ import annotations

from engine.loading.raised import KernelError, OutOfBoundsError
from engine.machine.ir import SourceLocation
from engine.machine.results import FindingKind, MemoryFinding
from engine.model import Location, OutOfBounds


def error_of(finding: MemoryFinding, kernel: str, grid: tuple[int, int, int], filename: str) -> KernelError:
    """The error of a launch that `finding` stopped; lines are those of `filename`."""
    line = line_in(finding.location, filename)
    program = program_at(finding.program, grid)
    if finding.kind is FindingKind.ASSERTION:
        words = f": {finding.detail}" if finding.detail else ""
        return KernelError(f"device assertion failed in {kernel}{words} (program {program})", line)
    report = OutOfBounds(
        access=finding.access.value,
        kernel=kernel,
        tensor=finding.storage or "(the launch has no tensor)",
        index=finding.element,
        elements=finding.elements,
        program=program,
        location=Location(line=line) if line is not None else None,
    )
    return OutOfBoundsError(report)


def program_at(number: int, grid: tuple[int, int, int]) -> tuple[int, int, int]:
    """The program of this number; programs are counted with x fastest."""
    rest, x = divmod(number, grid[0])
    z, y = divmod(rest, grid[1])
    return x, y, z


def line_in(location: SourceLocation | None, filename: str) -> int | None:
    """The line of `filename` that an operation comes from: its own or that of the innermost caller.

    None if the file has no part in it.
    """
    if location is None:
        return None
    lines = (place.line for place in (location, *location.callers) if place.file == filename)
    return next(lines, None)
