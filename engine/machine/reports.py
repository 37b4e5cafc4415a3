"""Findings of the machine as reports of an execution: with the programs of a grid, and with lines of one file."""

from __future__ import annotations

from engine.machine.ir import SourceLocation
from engine.machine.results import FindingKind, MemoryFinding
from engine.model import Location, OutOfBounds
from engine.protocol.executing import MemoryFault, MemoryReport, ProgramAccess

_WORD_CHARACTERS = 500
_FAULTS = {
    FindingKind.MISALIGNED: MemoryFault.MISALIGNED,
    FindingKind.UNINITIALIZED: MemoryFault.UNINITIALIZED,
    FindingKind.WRITE_CONFLICT: MemoryFault.CONFLICTING_WRITES,
    FindingKind.READ_CONFLICT: MemoryFault.UNORDERED_READ,
    FindingKind.WARP_CONFLICT: MemoryFault.UNORDERED_WARPS,
    FindingKind.ASSUMPTION: MemoryFault.FALSE_ASSUMPTION,
    FindingKind.HINT: MemoryFault.FALSE_HINT,
}


def memory_report_of(
    finding: MemoryFinding, kernel: str, grid: tuple[int, int, int], filename: str
) -> MemoryReport | None:
    """The report on a finding in a launch of `kernel` over `grid`; None for one that stops a launch."""
    fault = _FAULTS.get(finding.kind)
    if fault is None:
        return None

    def access(kind: str, program: int, location: SourceLocation | None) -> ProgramAccess:
        return ProgramAccess(access=kind, program=program_at(program, grid), line=line_in(location, filename))

    other = finding.other_program
    return MemoryReport(
        fault=fault,
        kernel=kernel[:_WORD_CHARACTERS],
        tensor=finding.storage[:_WORD_CHARACTERS],
        index=max(0, finding.element),
        elements=finding.elements,
        count=finding.count,
        access=access(finding.access.value, finding.program, finding.location),
        other=None if other is None else access("access", other, finding.other_location),
        detail=finding.detail[:_WORD_CHARACTERS],
    )


def out_of_bounds_of(finding: MemoryFinding, kernel: str, grid: tuple[int, int, int], filename: str) -> OutOfBounds:
    """The access outside of every tensor that stopped a launch of `kernel` over `grid`."""
    line = line_in(finding.location, filename)
    return OutOfBounds(
        access=finding.access.value,
        kernel=kernel,
        tensor=finding.storage or "(the launch has no tensor)",
        index=finding.element,
        elements=finding.elements,
        program=program_at(finding.program, grid),
        location=Location(line=line) if line is not None else None,
    )


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
