"""Findings on a right candidate that launched no kernel: a pure function."""

from __future__ import annotations

from collections.abc import Sequence

from engine.model import CaseResult, Finding, Outcome, Problem, Severity

CHECK = "no_launch"


def no_launch(
    problem: Problem, results: Sequence[CaseResult], *, is_native: bool = False, idle: bool = False
) -> Finding | None:
    """A finding on a run without a launch; None if a case failed, or no case has an output to compute.

    It is also None for `idle` cases, which are proven without any work, as where alpha is 0 and beta is 1.
    An operator that leaves views, metadata, copies or allocation to the framework needs no kernel; launches of native
    code are not counted here, and the device's record shows them.
    """
    passed = all(result.outcome is Outcome.PASS for result in results)
    if not passed or not any(output.total for result in results for output in result.outputs):
        return None
    if is_native:
        message = "no kernel was launched through Triton, and launches of native code are not counted"
        return Finding(check=CHECK, severity=Severity.NOTE, message=message)
    if problem.framework:
        work = ", ".join(problem.framework)
        message = f"no kernel was launched; this operator may be left to PyTorch ({work})"
        return Finding(check=CHECK, severity=Severity.NOTE, message=message)
    if idle:
        return None
    message = "no kernel was launched in any case; the output was computed by other code"
    return Finding(check=CHECK, severity=Severity.SUSPECT, message=message)
