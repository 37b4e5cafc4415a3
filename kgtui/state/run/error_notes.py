"""Lines of the source with an error, and the error."""

from __future__ import annotations

from collections import Counter

from engine.model import CaseResult, Location, Outcome, Severity
from engine.reports.run_record import RunRecord


def error_notes(run: RunRecord) -> dict[int, str]:
    """Source lines with an error, in ascending order, each with its error."""
    failing = Counter(place.line for case in run.failed if (place := _place(case)))
    notes = {line: f"{count} failing" for line, count in failing.items()}
    for found in run.findings:
        if found.location and found.severity in (Severity.SUSPECT, Severity.PROOF):
            notes.setdefault(found.location.line, found.check)
    for kernel in run.kernels:
        if kernel.location and kernel.outcome is not Outcome.PASS:
            notes.setdefault(kernel.location.line, f"does not build for {kernel.target}")
    for stage in run.stages:
        if stage.location and stage.outcome is not Outcome.PASS:
            notes.setdefault(stage.location.line, stage.message)
    if run.verdict and run.verdict.location:
        notes.setdefault(run.verdict.location.line, "")
    return dict(sorted(notes.items()))


def _place(case: CaseResult) -> Location | None:
    return case.location or (case.out_of_bounds.location if case.out_of_bounds else None)
