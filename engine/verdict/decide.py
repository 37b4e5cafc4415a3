"""The verdict: a pure function of the observed facts.  Only this file decides.

Nothing that was not checked counts as right: no cases, unfinished cases and a stage that could not run are never a
PASS.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from engine.model import CaseResult, CompiledKernel, Finding, Location, Outcome, Policy, Severity, Verdict
from engine.model.layers import Coverage, Layer, LayerReport
from engine.model.proof import CaseProof
from engine.verdict.policy import WEIGHTS, Weights

# The outcome of a run is the first of these among its failed cases, the most informative first.
_MOST_SEVERE_FIRST = (
    Outcome.TAMPERED, Outcome.CHEATED, Outcome.CRASHED, Outcome.OUT_OF_MEMORY, Outcome.TIMEOUT, Outcome.COMPILE_ERROR,
    Outcome.RUNTIME_ERROR, Outcome.WRONG_SHAPE, Outcome.WRONG_DTYPE, Outcome.MUTATED_INPUT, Outcome.NONFINITE,
    Outcome.WRONG_VALUE, Outcome.REFUSED, Outcome.UNSUPPORTED, Outcome.PROBLEM_ERROR, Outcome.ENGINE_ERROR,
    Outcome.CANCELLED,
)  # fmt: skip
_HEAVIEST_FIRST = tuple(reversed(Severity))
_SEVERE = (Severity.PROOF, Severity.SUSPECT)
NOT_BUILT_HERE = frozenset({Outcome.UNSUPPORTED, Outcome.ENGINE_ERROR})
"""Statuses of a kernel that this machine, version or engine could not compile: no evidence about the kernel."""
_NOT_OF_THE_KERNEL = frozenset({Outcome.UNSUPPORTED, Outcome.PROBLEM_ERROR, Outcome.ENGINE_ERROR})


@dataclass(frozen=True, kw_only=True)
class Stop:
    """The reason why a run ended before all of its cases were run."""

    outcome: Outcome
    message: str
    location: Location | None = None


@dataclass(frozen=True, kw_only=True)
class Interim:
    """The worst that is known of a run in progress: its verdict will be this or worse."""

    outcome: Outcome
    flagged: bool = False


@dataclass(frozen=True, kw_only=True)
class Breach:
    """A rule of strict benchmarks that a file breaks, as its sentence, and the finding that shows it."""

    rule: str
    finding: Finding


@dataclass(frozen=True, kw_only=True)
class Facts:
    """All facts of a run.  `planned` is the number of cases in the plan, `policy` determines the effect of findings.

    `launched_on` is the target of the device that actually launched the kernels, None if they were interpreted: a
    launch shows that a kernel builds for that target.  `unmade` are checks of the plan that could not be made. `proofs`
    are those of the cases that passed, None if none was tried.  `weakness` is why the operator cannot distinguish a
    right candidate from some wrong ones; empty if it can, or was not audited.
    """

    planned: int
    policy: Policy = Policy.DEFAULT
    stop: Stop | None = None
    cases: Sequence[CaseResult] = ()
    kernels: Sequence[CompiledKernel] = ()
    findings: Sequence[Finding] = ()
    layers: Sequence[LayerReport] = ()
    launched_on: str | None = None
    unmade: Sequence[Stop] = ()
    proofs: Sequence[CaseProof] | None = None
    weakness: str = ""


def decide(facts: Facts) -> Verdict:
    """The verdict on these facts; its sentence names the policy if that is not the default."""
    verdict = _verdict(facts)
    match facts.policy:
        case Policy.DEFAULT:
            return verdict
        case Policy.STRICT:
            return replace(verdict, sentence=f"{verdict.sentence}, by the {facts.policy} policy")
        case Policy.FACTS_ONLY:
            found = f"findings: {_count(facts.findings)}; no policy applied ({facts.policy})"
            return replace(verdict, sentence=f"{verdict.sentence}; {found}")


def interim(facts: Facts) -> Interim | None:
    """The interim verdict of a run in progress; None as long as its facts decide nothing.

    PASS means that every case passed; probes, builds and times may still make the verdict worse.
    """
    failed = [result.outcome for result in facts.cases if result.outcome is not Outcome.PASS]
    if failed:
        return Interim(outcome=min(failed, key=_MOST_SEVERE_FIRST.index))
    unbuilt = first_unbuilt(facts.kernels)
    if unbuilt is not None:
        return Interim(outcome=unbuilt.outcome)
    if not facts.planned or len(facts.cases) < facts.planned:
        return None
    weights = WEIGHTS[facts.policy]
    return Interim(outcome=Outcome.PASS, flagged=any(weights.flags(found.severity) for found in facts.findings))


def uncheckable(policy: Policy, failed: str) -> Stop | None:
    """Why a file is not run whose rules could not be checked; None if the policy has none, or no check failed.

    `failed` is the error of the check: a failure of the engine, not a broken rule.
    """
    if not failed or not WEIGHTS[policy].refuses:
        return None
    return Stop(outcome=Outcome.ENGINE_ERROR, message=f"not run: the strict rules could not be checked ({failed})")


def refusal(policy: Policy, breaches: Sequence[Breach]) -> Stop | None:
    """Why a file with these breaches is not run under this policy; None if it is."""
    if not breaches or not WEIGHTS[policy].refuses:
        return None
    first, found = breaches[0], breaches[0].finding
    line = f", line {found.location.line}" if found.location else ""
    why = f"{first.rule.removesuffix('.')} ({found.check}{line}: {found.message})"
    more = f"; {len(breaches) - 1} more broken rules" if len(breaches) > 1 else ""
    message = f"not run, breaks a strict rule: {why}{more}"
    return Stop(outcome=Outcome.REFUSED, message=message, location=found.location)


def _verdict(facts: Facts) -> Verdict:
    passed = sum(result.outcome is Outcome.PASS for result in facts.cases)
    outcome, sentence, location = _outcome(facts, passed)
    weights = WEIGHTS[facts.policy]
    flags = [finding for finding in _heaviest_first(facts.findings) if weights.flags(finding.severity)]
    unchecked = list(_unchecked(facts.layers, weights))
    unmade = next(_unmade(facts, weights), None)
    flagged = False
    proven = _proven(facts)
    if outcome is Outcome.PASS and proven is not None:
        sentence = f"{sentence}, {proven} proven"
    if outcome is not Outcome.PASS:
        pass
    elif flags:
        flagged = True
        sentence = f"{passed}/{facts.planned} cases passed, but flagged: {flags[0].message}"
        location = flags[0].location
    elif unmade is not None:
        outcome, location = unmade.outcome, unmade.location
        sentence = f"{passed}/{facts.planned} cases passed, but {unmade.message}"
    elif unchecked:
        flagged = True
        sentence = f"{passed}/{facts.planned} cases passed, but flagged: {unchecked[0]}"
    elif facts.weakness:
        sentence = f"{sentence}, but verdicts of this operator are unreliable: {facts.weakness}"
    return Verdict(
        outcome=outcome, sentence=sentence, passed=passed, total=facts.planned, flagged=flagged, proven=proven,
        location=location,
    )  # fmt: skip


def _unchecked(layers: Sequence[LayerReport], weights: Weights) -> Iterator[str]:
    """Every required layer that could not be checked, and why; a layer without a report counts as not checked."""
    for layer in filter(weights.requires, Layer):
        reports = [report for report in layers if report.layer is layer]
        if not reports:
            yield f"{layer} was not checked: no stage reported on it"
        for report in reports:
            if report.coverage is Coverage.NOT_CHECKED:
                yield f"{layer} ({report.by}) could not be checked: {report.why}"


def _unmade(facts: Facts, weights: Weights) -> Iterator[Stop]:
    """Checks of the plan that could not be made: never a pass, nor the candidate's fault."""
    for report in facts.layers:
        if report.coverage is Coverage.ENGINE_FAILED and weights.requires(report.layer):
            message = f"{report.layer} ({report.by}) could not be checked: {report.why}"
            yield Stop(outcome=Outcome.ENGINE_ERROR, message=message)
    for kernel in facts.kernels:
        if kernel.outcome in NOT_BUILT_HERE and kernel.target != facts.launched_on:
            message = f"could not check that {kernel.launch.kernel} builds for {kernel.target}: {kernel.message}"
            yield Stop(outcome=kernel.outcome, message=message, location=kernel.location)
    yield from facts.unmade


def _heaviest_first(findings: Sequence[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: _HEAVIEST_FIRST.index(finding.severity))


def _count(findings: Sequence[Finding]) -> str:
    """Number of findings of each severity, and the message of the most severe if it is SUSPECT or PROOF."""
    ordered = _heaviest_first(findings)
    if not ordered:
        return "none"
    count = Counter(finding.severity for finding in ordered)
    said = ", ".join(f"{number} {severity}" for severity, number in count.items())
    return f"{said}, the first: {ordered[0].message}" if ordered[0].severity in _SEVERE else said


def _outcome(facts: Facts, passed: int) -> tuple[Outcome, str, Location | None]:
    if facts.stop is not None:
        return facts.stop.outcome, facts.stop.message, facts.stop.location
    if facts.planned == 0:
        return Outcome.REFUSED, "no cases selected, nothing was verified; use --cases smoke or full", None
    failed = sorted(
        (result for result in facts.cases if result.outcome is not Outcome.PASS),
        key=lambda result: _MOST_SEVERE_FIRST.index(result.outcome),
    )
    if failed:
        return _failed_cases(failed, facts.planned)
    if len(facts.cases) < facts.planned:
        missing = facts.planned - len(facts.cases)
        return Outcome.ENGINE_ERROR, f"{missing} of {facts.planned} cases were not run", None
    kernel = first_unbuilt(facts.kernels)
    if kernel is not None:
        why = f"{kernel.launch.kernel} does not build for {kernel.target}: {kernel.message}"
        return kernel.outcome, f"all cases passed, but {why}", kernel.location
    return Outcome.PASS, f"{passed}/{facts.planned} cases passed", None


def _proven(facts: Facts) -> int | None:
    """Number of proven cases; None if no proof was tried."""
    return sum(proof.proven for proof in facts.proofs) if facts.proofs is not None else None


def first_unbuilt(kernels: Sequence[CompiledKernel]) -> CompiledKernel | None:
    """The first kernel that does not build, or None."""
    return next(
        (kernel for kernel in kernels if kernel.outcome is not Outcome.PASS and kernel.outcome not in NOT_BUILT_HERE),
        None,
    )


def _failed_cases(failed: Sequence[CaseResult], planned: int) -> tuple[Outcome, str, Location | None]:
    first = failed[0]
    ended = "could not be run" if first.outcome in _NOT_OF_THE_KERNEL else "failed"
    count = f"{len(failed)} of {planned} cases {ended}" if len(failed) > 1 else f"case {first.case} {ended}"
    where = f", first {first.case}" if len(failed) > 1 else ""
    return first.outcome, f"{count}{where}: {first.message or first.outcome.value}", first.location
