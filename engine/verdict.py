"""The verdict: a pure function of what was observed.  This file and no other decides.

Nothing that was not checked counts as right: no cases, unfinished cases and a stage that could not
run are never a PASS.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.model import CaseResult, CompiledKernel, Finding, Location, Outcome, Severity, Verdict

# Of several failed cases the run is named after the first in this order: what explains most comes first.
_GRAVEST_FIRST = (
    Outcome.TAMPERED, Outcome.CHEATED, Outcome.CRASHED, Outcome.OUT_OF_MEMORY, Outcome.TIMEOUT, Outcome.COMPILE_ERROR,
    Outcome.RUNTIME_ERROR, Outcome.WRONG_SHAPE, Outcome.WRONG_DTYPE, Outcome.MUTATED_INPUT, Outcome.NONFINITE,
    Outcome.WRONG_VALUE, Outcome.REFUSED, Outcome.UNSUPPORTED, Outcome.ENGINE_ERROR, Outcome.CANCELLED,
)  # fmt: skip
_FLAGGING = (Severity.PROOF, Severity.SUSPECT)  # gravest first


@dataclass(frozen=True, kw_only=True)
class Stop:
    """What ended a run before all of its cases were judged."""

    outcome: Outcome
    message: str
    location: Location | None = None


@dataclass(frozen=True, kw_only=True)
class Facts:
    """All that a run found out.  `planned` is how many cases the plan had."""

    planned: int
    stop: Stop | None = None
    cases: Sequence[CaseResult] = ()
    kernels: Sequence[CompiledKernel] = ()
    findings: Sequence[Finding] = ()


def judge(facts: Facts) -> Verdict:
    """The verdict on these facts."""
    passed = sum(result.outcome is Outcome.PASS for result in facts.cases)
    outcome, sentence, location = _outcome(facts, passed)
    flags = sorted(
        (finding for finding in facts.findings if finding.severity in _FLAGGING),
        key=lambda finding: _FLAGGING.index(finding.severity),
    )
    flagged = outcome is Outcome.PASS and bool(flags)
    if flagged:
        sentence = f"right on {passed} of {facts.planned} cases, but not credible: {flags[0].message}"
        location = flags[0].location
    return Verdict(
        outcome=outcome, sentence=sentence, passed=passed, total=facts.planned, flagged=flagged, location=location
    )


def _outcome(facts: Facts, passed: int) -> tuple[Outcome, str, Location | None]:
    if facts.stop is not None:
        return facts.stop.outcome, facts.stop.message, facts.stop.location
    if facts.planned == 0:
        return Outcome.REFUSED, "no case was chosen, so nothing was verified; choose --cases smoke or full", None
    failed = sorted(
        (result for result in facts.cases if result.outcome is not Outcome.PASS),
        key=lambda result: _GRAVEST_FIRST.index(result.outcome),
    )
    if failed:
        return _failed_cases(failed, facts.planned)
    if len(facts.cases) < facts.planned:
        missing = facts.planned - len(facts.cases)
        return Outcome.ENGINE_ERROR, f"{missing} of {facts.planned} cases were never judged", None
    for kernel in facts.kernels:
        if kernel.outcome is not Outcome.PASS and kernel.outcome is not Outcome.UNSUPPORTED:
            sentence = (
                f"right on all cases, but {kernel.launch.kernel} does not build for {kernel.target}: {kernel.message}"
            )
            return kernel.outcome, sentence, kernel.location
    return Outcome.PASS, f"right on {passed} of {facts.planned} cases", None


def _failed_cases(failed: Sequence[CaseResult], planned: int) -> tuple[Outcome, str, Location | None]:
    first = failed[0]
    count = f"{len(failed)} of {planned} cases failed" if len(failed) > 1 else f"case {first.case} failed"
    where = f", first {first.case}" if len(failed) > 1 else ""
    return first.outcome, f"{count}{where}: {first.message or first.outcome.value}", first.location
