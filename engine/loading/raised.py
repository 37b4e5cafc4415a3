"""Exceptions that the worker's own code raises inside a candidate's call; `failures` distinguishes them by type."""

from __future__ import annotations

from engine.model import OutOfBounds


class InterpreterLimitError(NotImplementedError):
    """The interpreter does not support something that a GPU does; the candidate is not at fault."""


class StrayStoreError(Exception):
    """A store past the end of a tensor that the candidate made."""


class KernelError(Exception):
    """A kernel failed at `line` of the candidate's file; None where the line is in another file."""

    def __init__(self, message: str, line: int | None) -> None:
        super().__init__(message)
        self.line = line


class OutOfBoundsError(KernelError):
    """A kernel was about to access memory outside every tensor of its launch."""

    def __init__(self, report: OutOfBounds) -> None:
        unit = "element" if report.elements == 1 else "elements"
        super().__init__(
            f"out-of-bounds {report.access} in {report.kernel}: {report.tensor}[{report.index}], "
            f"but {report.tensor} has {report.elements} {unit} (program {report.program})",
            report.location.line if report.location is not None else None,
        )
        self.report = report
