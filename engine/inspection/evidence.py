"""Evidence of one run on one kernel, collected for a reviewer.

A pure function from observations to a frozen record.  It decides nothing: the verdict is the one of the run. Unchecked
items are listed beside checked ones, and nothing is left out because it is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from engine.devices import platform_named
from engine.inspection.coverage import Axis, Tally, axes_of, tallies_of
from engine.inspection.speedup_claim import Backing, Claim, ClaimResult, hold
from engine.model import Finding, Outcome, Problem, Severity
from engine.model.layers import Coverage, Layer, LayerReport
from engine.reports.run_record import RunRecord
from engine.verdict.policy import WEIGHTS

EXECUTED_ON_CPU = "kernels were executed on the CPU, where timings are meaningless"
RUNNING = "the run is in progress"
CANCELLED = "the run was cancelled"
CUT_SHORT = "the run was cut short"

_NOT_A_GPU = "kernels were executed on the CPU; the compiled code did not run on a GPU"
_NOT_COMPILED = "nothing was compiled, so it is unknown whether it builds for a GPU"
_NOT_REPORTED = "not reported"
_UNCOMPILED = {Outcome.UNSUPPORTED: "not supported here", Outcome.ENGINE_ERROR: Coverage.ENGINE_FAILED.value}


@dataclass(frozen=True, kw_only=True)
class LayerSeen:
    """One layer with all its reports; `coverage` is None without a report.

    A report of a failed check determines it first, then one of a finished check, then one of a missing check.
    """

    layer: Layer
    coverage: Coverage | None
    reports: tuple[LayerReport, ...]
    required: bool


@dataclass(frozen=True, kw_only=True)
class FindingSeen:
    """A finding, the text of its line ("" if it has none), and whether it flags a run that is right."""

    finding: Finding
    code: str
    flags: bool


@dataclass(frozen=True, kw_only=True)
class Unchecked:
    """An unchecked item: its name, how far it was checked, and why."""

    what: str
    state: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """The page as a record.

    `headline` is the verdict in a sentence, `untimed` why nothing was timed ("" if something was).  `versions` are
    those of the programs that the verdict depends on, `inspected_at` a date (ISO 8601) or None.
    """

    run: RunRecord
    headline: str
    claim: ClaimResult | None
    layers: tuple[LayerSeen, ...]
    findings: tuple[FindingSeen, ...]
    tallies: tuple[Tally, ...]
    axes: tuple[Axis, ...]
    unchecked: tuple[Unchecked, ...]
    untimed: str
    versions: Mapping[str, str] = field(default_factory=dict)
    inspected_at: str | None = None


def inspect(
    run: RunRecord,
    *,
    problem: Problem,
    source: str,
    claim: Claim | None = None,
    versions: Mapping[str, str] | None = None,
    inspected_at: str | None = None,
) -> Inspection:
    """The run as one page reports it; `source` is the text of its candidate, `problem` its operator."""
    untimed = _untimed(run)
    held = hold(claim, run.benchmark_report, untimed=untimed) if claim is not None else None
    layers = tuple(_seen(layer, run) for layer in Layer)
    return Inspection(
        run=run,
        headline=_headline(run, layers, held),
        claim=held,
        layers=layers,
        findings=_findings(run, source),
        tallies=tallies_of(run.cases, problem),
        axes=axes_of(run.cases, problem),
        unchecked=tuple(_unchecked(run, layers, untimed)),
        untimed=untimed,
        versions=dict(versions or {}),
        inspected_at=inspected_at,
    )


def _headline(run: RunRecord, layers: Sequence[LayerSeen], held: ClaimResult | None) -> str:
    verdict = run.verdict
    if verdict is None:
        return f"no verdict: {CUT_SHORT}" if run.cut_short else f"no verdict yet: {RUNNING}"
    if run.cancelled:
        unseen = ", ".join(seen.layer for seen in layers if not seen.reports)
        judged = f"{len(run.cases)} of {run.planned} cases were run"
        return f"the run was cancelled: {judged}" + (f"; not reached: {unseen}" if unseen else "")
    if held is not None and held.backing is Backing.NOT_SUPPORTED:
        return f"{verdict.sentence}, but not {held.claim.factor} against {held.claim.baseline}"
    return verdict.sentence


def _seen(layer: Layer, run: RunRecord) -> LayerSeen:
    reports = tuple(report for report in run.layers if report.layer is layer)
    covered = {report.coverage for report in reports}
    weakest_first = (
        Coverage.ENGINE_FAILED,
        Coverage.NOT_CHECKED,
        Coverage.CHECKED,
        Coverage.NOT_AVAILABLE,
        Coverage.NOT_ASKED,
    )
    coverage = next((one for one in weakest_first if one in covered), None)
    required = WEIGHTS[run.policy].requires(layer)
    return LayerSeen(layer=layer, coverage=coverage, reports=reports, required=required)


def _findings(run: RunRecord, source: str) -> tuple[FindingSeen, ...]:
    """Findings with the text of their lines, most severe first."""
    lines = source.splitlines()
    weights, order = WEIGHTS[run.policy], tuple(reversed(Severity))
    ordered = sorted(run.findings, key=lambda finding: order.index(finding.severity))
    return tuple(
        FindingSeen(finding=finding, code=_line_of(finding, lines), flags=weights.flags(finding.severity))
        for finding in ordered
    )


def _line_of(finding: Finding, lines: Sequence[str]) -> str:
    place = finding.location
    return lines[place.line - 1].strip() if place is not None and place.line <= len(lines) else ""


def _untimed(run: RunRecord) -> str:
    """Why nothing was timed; "" if something was."""
    if run.benchmark_report.cases:
        return ""
    if unended := _unended(run):
        return unended
    if run.verdict is not None and run.verdict.outcome is not Outcome.PASS:
        return "only passing kernels are timed"
    if _executed_on_cpu(run):
        return EXECUTED_ON_CPU
    reasons = (report.why for report in run.layers if report.layer is Layer.TIMING and report.why)
    return next(reasons, "no case was selected for timing")


def _unchecked(run: RunRecord, layers: Sequence[LayerSeen], untimed: str) -> Iterator[Unchecked]:
    for seen in layers:
        for report in seen.reports:
            if report.coverage is not Coverage.CHECKED:
                who = f" ({report.by})" if report.by.replace("_", " ") != report.layer else ""
                yield Unchecked(what=f"{report.layer}{who}", state=report.coverage, why=report.why)
        if not seen.reports:
            yield Unchecked(what=seen.layer, state=_NOT_REPORTED, why=_unreported(run))
    missing = run.planned - len(run.cases)
    if missing > 0:
        why = _unended(run) or "the run ended early"
        yield Unchecked(what="cases", state="not run", why=f"{missing} of {run.planned}: {why}")
    if _executed_on_cpu(run):
        yield Unchecked(what="device", state="not a GPU", why=_NOT_A_GPU)
    if run.target is None:
        yield Unchecked(what="compiled code", state="not asked", why=_NOT_COMPILED)
    if run.kernels_left_out:
        why = f"{run.kernels_left_out} of {run.kernels_planned} kernels were not compiled: not all cases passed"
        yield Unchecked(what="compiled code", state="left out", why=_unended(run) or why)
    for kernel in run.kernels:
        if kernel.outcome in _UNCOMPILED:
            why = f"{kernel.launch.kernel}, line {kernel.launch.line}: {kernel.message or 'no reason was given'}"
            yield Unchecked(what=f"compiled for {kernel.target}", state=_UNCOMPILED[kernel.outcome], why=why)
    if untimed:
        yield Unchecked(what="speed", state=Backing.NOT_MEASURED, why=untimed)
    elif run.benchmark_report.doubt:
        yield Unchecked(what="speed", state="does not count", why=run.benchmark_report.doubt)


def _unreported(run: RunRecord) -> str:
    if unended := _unended(run):
        return unended
    if run.verdict is not None and run.verdict.outcome is not Outcome.PASS:
        return "the run ended early: a wrong candidate is not examined further"
    return "no check reported on it in this run"


def _unended(run: RunRecord) -> str:
    """Reason why the run did not finish; "" for one that did."""
    if run.verdict is None:
        return CUT_SHORT if run.cut_short else RUNNING
    return CANCELLED if run.cancelled else ""


def _executed_on_cpu(run: RunRecord) -> bool:
    """Whether no GPU was involved."""
    return platform_named(run.device).EXECUTED_ON_CPU
