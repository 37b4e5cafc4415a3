"""Errors for findings of the machine that end a launch, with the line of the kernel."""

from __future__ import annotations

from engine.loading.raised import KernelError, OutOfBoundsError
from engine.machine.reports import line_in, out_of_bounds_of, program_at
from engine.machine.results import FindingKind, MemoryFinding


def error_of(finding: MemoryFinding, kernel: str, grid: tuple[int, int, int], filename: str) -> KernelError:
    """The error of a launch that `finding` stopped; lines are those of `filename`."""
    if finding.kind is FindingKind.ASSERTION:
        words = f": {finding.detail}" if finding.detail else ""
        message = f"device assertion failed in {kernel}{words} (program {program_at(finding.program, grid)})"
        return KernelError(message, line_in(finding.location, filename))
    return OutOfBoundsError(out_of_bounds_of(finding, kernel, grid, filename))
