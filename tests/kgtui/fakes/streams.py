"""Event streams of whole runs, as an engine would send them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from engine.model import (
    Artefact,
    Candidate,
    CaseResult,
    CompiledKernel,
    Finding,
    Launch,
    Location,
    Outcome,
    Plan,
    Severity,
    Stage,
    Stream,
    Verdict,
)
from engine.model.events import (
    CaseFinished,
    Event,
    FindingRaised,
    KernelCompiled,
    KernelDisassembled,
    KernelLaunched,
    KernelPorted,
    LogWritten,
    PortDisassembled,
    PortingFinished,
    PortingStarted,
    RunFinished,
    RunStarted,
    StageFinished,
    StageStarted,
)
from tests.kgtui.fakes.cases import passed, wrong
from tests.kgtui.fakes.kernels import compiled, softmax_launch


def run_events(
    candidate: Candidate,
    plan: Plan,
    results: Sequence[CaseResult],
    *,
    findings: Sequence[Finding] = (),
    stop_after: int | None = None,
) -> list[Event]:
    """The events of a run that judges `results`; `stop_after` cuts the stream while it verifies."""
    events: list[Event] = [
        RunStarted(
            at_s=0.0,
            problem=plan.problem.name,
            digest=candidate.digest,
            device=plan.device,
            device_name="Triton interpreter",
            target=plan.target,
            cases=len(plan.cases),
        ),
        StageStarted(at_s=0.001, stage=Stage.PARSE),
        StageFinished(at_s=0.004, stage=Stage.PARSE, outcome=Outcome.PASS, elapsed_s=0.003),
        StageStarted(at_s=0.004, stage=Stage.STATIC),
        *(FindingRaised(at_s=0.01, finding=finding) for finding in findings),
        StageFinished(at_s=0.012, stage=Stage.STATIC, outcome=Outcome.PASS, elapsed_s=0.008),
        StageStarted(at_s=0.012, stage=Stage.LOAD),
        LogWritten(at_s=0.05, stream=Stream.STDOUT, text="loaded [BLOCK] with 形状 🚀"),
        StageFinished(at_s=0.06, stage=Stage.LOAD, outcome=Outcome.PASS, elapsed_s=0.048),
        StageStarted(at_s=0.06, stage=Stage.VERIFY, total=len(plan.cases)),
        KernelLaunched(at_s=0.06, launch=softmax_launch(), case=plan.cases[0].name if plan.cases else None),
    ]
    shown = results if stop_after is None else results[:stop_after]
    for number, result in enumerate(shown, start=1):
        events.append(CaseFinished(at_s=0.06 + 0.01 * number, number=number, total=len(plan.cases), result=result))
    if stop_after is not None:
        return events
    good = sum(result.outcome is Outcome.PASS for result in results)
    bad = next((result for result in results if result.outcome is not Outcome.PASS), None)
    outcome = bad.outcome if bad else Outcome.PASS
    events += [
        StageFinished(
            at_s=0.2, stage=Stage.VERIFY, outcome=outcome, elapsed_s=0.14, location=bad.location if bad else None
        ),
        StageStarted(at_s=0.2, stage=Stage.COMPILE, total=1),
        KernelCompiled(at_s=0.41, number=1, total=1, kernel=compiled()),
        StageFinished(at_s=0.42, stage=Stage.COMPILE, outcome=Outcome.PASS, elapsed_s=0.22),
    ]
    flag = next((finding for finding in findings if finding.severity in (Severity.SUSPECT, Severity.PROOF)), None)
    flagged = flag is not None and bad is None
    if bad:
        sentence = f"{len(results) - good} of {len(results)} cases failed, first {bad.case}: {bad.message}"
    elif flag:
        sentence = f"right on {good} of {len(results)} cases, but not credible: {flag.message}"
    else:
        sentence = f"right on {good} of {len(results)} cases"
    verdict = Verdict(
        outcome=outcome,
        sentence=sentence,
        passed=good,
        total=len(results),
        flagged=flagged,
        location=bad.location if bad else None,
    )
    sass = Artefact(kind="sass", digest="c" * 64, bytes=100)
    return [*events, RunFinished(at_s=0.42, verdict=verdict), KernelDisassembled(at_s=0.9, number=1, artefact=sass)]


Script = Callable[[Candidate, Plan], Iterable[Event]]


def all_pass(candidate: Candidate, plan: Plan) -> list[Event]:
    """Every case passes."""
    return run_events(candidate, plan, [passed(case) for case in plan.cases])


def some_fail(candidate: Candidate, plan: Plan) -> list[Event]:
    """Two cases of width 128 are wrong, the rest passes."""
    results = [wrong(case) if "x128" in case.name else passed(case) for case in plan.cases]
    return run_events(candidate, plan, results)


def suspicious(candidate: Candidate, plan: Plan) -> list[Event]:
    """Every case passes, and a check saw something."""
    findings = (
        Finding(
            check="library call",
            severity=Severity.SUSPECT,
            location=Location(line=22),
            message="torch.softmax computes the answer; the kernel's own result is not used",
        ),
        Finding(check="handler", severity=Severity.HINT, message="a try in [softmax]", location=Location(line=19)),
    )
    return run_events(candidate, plan, [passed(case) for case in plan.cases], findings=findings)


def stops_half_way(candidate: Candidate, plan: Plan) -> list[Event]:
    """Three cases are done, then nothing comes until the run is cancelled."""
    results = [wrong(case) if "x128" in case.name else passed(case) for case in plan.cases]
    return run_events(candidate, plan, results, stop_after=5)


def never_begins(candidate: Candidate, plan: Plan) -> list[Event]:
    """Nothing comes until the run is cancelled."""
    return []


def ported(launches: Sequence[Launch], targets: Sequence[str], after_s: float) -> list[Event]:
    """Every launch builds for every target but gfx950."""
    events: list[Event] = [PortingStarted(at_s=after_s, targets=tuple(targets), launches=len(launches))]
    total = len(targets) * len(launches)
    for number, (target, launch) in enumerate(((t, one) for t in targets for one in launches), start=1):
        good = replace(compiled(), launch=launch, target=target, registers=30 + number)
        bad = CompiledKernel(
            launch=launch,
            target=target,
            outcome=Outcome.COMPILE_ERROR,
            elapsed_s=0.1,
            location=Location(line=13),
            message="failed to translate module to [LLVM IR]: no such instruction",
        )
        kernel = bad if target == "gfx950" else good
        events.append(KernelPorted(at_s=after_s + 0.1 * number, number=number, total=total, kernel=kernel))
    sass = Artefact(kind="sass", digest="c" * 64, bytes=100)
    return [
        *events,
        PortDisassembled(at_s=after_s + 1, number=1, artefact=sass),
        PortingFinished(at_s=after_s + 1, outcome=Outcome.PASS),
    ]
