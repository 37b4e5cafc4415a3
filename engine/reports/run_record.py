"""A run as one frozen record, made from its events; screen, reports, inspection, export and tuning read it.

Nothing here reads a clock, a file or a process.  `engine.reports.reducer` is the only module that folds events.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.model import (
    CaseResult,
    CompiledKernel,
    Cost,
    Finding,
    Launch,
    Location,
    Outcome,
    Policy,
    Severity,
    Stage,
    Verdict,
    specialisation,
)
from engine.model.benchmark import CaseBenchmark, CaseEstimate, Holder, Span, Summary
from engine.model.events import LogWritten, TierFinished
from engine.model.layers import LayerReport
from engine.model.proof import CaseProof
from engine.reports.bench import Benchmarks, without_wrong_times
from engine.reports.targets import NOT_PORTED, Ports
from engine.reports.verdict_words import UNFINISHED, doubt_of
from engine.verdict.decide import Facts, Interim, interim


@dataclass(frozen=True, kw_only=True)
class StageRecord:
    """A stage that began; the fields after `total` are set once it has ended."""

    stage: Stage
    started_s: float
    total: int | None = None
    outcome: Outcome | None = None
    elapsed_s: float | None = None
    finished_s: float | None = None
    message: str = ""
    location: Location | None = None


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """All that the events of one run have reported so far; the empty one is "no run yet".

    Four fields come from outside of the events.  `file` is the candidate's file as its user names it, `number` the
    run's in the store, None while it is not recorded; `costs` are those of the cases that were to be timed, by name.
    `cut_short` means that the program that ran it exited before the verdict.

    `estimate` has the times so far of the case that is being timed; `holder` is the process that holds the device while
    the benchmark waits for it; `other_digest` the hash of the candidate that this one was timed interleaved with, as
    the baseline "other".  `profile` is None without one.  `draw_seed` and `seed_given` are those of `RunFinished`.
    """

    file: str = ""
    number: int | None = None
    costs: Mapping[str, Cost] = field(default_factory=dict)
    cut_short: bool = False
    problem: str = ""
    digest: str = ""
    device: str = ""
    device_name: str = ""
    target: str | None = None
    policy: Policy = Policy.DEFAULT
    planned: int = 0
    at_s: float = 0.0
    stages: tuple[StageRecord, ...] = ()
    cases: tuple[CaseResult, ...] = ()
    tiers: tuple[TierFinished, ...] = ()
    proofs: tuple[CaseProof, ...] = ()
    findings: tuple[Finding, ...] = ()
    layers: tuple[LayerReport, ...] = ()
    launches: tuple[Launch, ...] = ()
    launched_by: tuple[str, ...] = ()
    kernels: tuple[CompiledKernel, ...] = ()
    kernel_numbers: tuple[int, ...] = ()
    kernels_planned: int = 0
    benchmarks: tuple[CaseBenchmark, ...] = ()
    benchmarks_planned: int = 0
    estimate: CaseEstimate | None = None
    summaries: tuple[Summary, ...] = ()
    holder: Holder | None = None
    other_digest: str = ""
    profile: tuple[Span, ...] | None = None
    log: tuple[LogWritten, ...] = ()
    verdict: Verdict | None = None
    finished_s: float | None = None
    draw_seed: int | None = None
    seed_given: bool = False
    ports: Ports = NOT_PORTED

    def first_case(self, launch: Launch) -> str:
        """The case that launched this specialisation first; empty if unknown."""
        wanted = specialisation(launch)
        by_case = zip(self.launches, self.launched_by, strict=True)
        return next((case for known, case in by_case if specialisation(known) == wanted), "")

    @property
    def started(self) -> bool:
        """Whether the record is of a run."""
        return bool(self.digest)

    @property
    def running(self) -> bool:
        """Whether the run has begun and has no verdict yet."""
        return self.started and self.verdict is None and not self.cut_short

    @property
    def cancelled(self) -> bool:
        """Whether the run was cancelled before its end."""
        return self.verdict is not None and self.verdict.outcome is Outcome.CANCELLED

    @property
    def ended(self) -> bool:
        """Whether the run finished."""
        return self.verdict is not None and not self.cancelled

    @property
    def final(self) -> Verdict:
        """The verdict of a run that has ended.

        Raises:
            ValueError: the events have no start or no end of the run.
        """
        if not self.started or self.verdict is None:
            lacking = "RunFinished" if self.started else "RunStarted"
            raise ValueError(f"the events hold no {lacking}; a run has one before it is reported")
        return self.verdict

    @property
    def active(self) -> StageRecord | None:
        """The stage in progress, or None; of two, the earlier: compiling begins while the cases are verified."""
        return next((stage for stage in self.stages if stage.outcome is None), None)

    @property
    def finished_stages(self) -> tuple[StageRecord, ...]:
        """The stages that have ended, in the order in which they did."""
        ended = [stage for stage in self.stages if stage.outcome is not None]
        return tuple(sorted(ended, key=lambda stage: stage.finished_s or 0.0))

    @property
    def interim(self) -> Interim | None:
        """The worst that is known while the run is in progress; None as long as nothing is decided."""
        if not self.running:
            return None
        return interim(
            Facts(
                planned=self.planned, policy=self.policy, cases=self.cases, kernels=self.kernels, findings=self.findings
            )
        )

    @property
    def passed(self) -> int:
        """Number of cases that passed."""
        return sum(case.outcome is Outcome.PASS for case in self.cases)

    @property
    def failed(self) -> tuple[CaseResult, ...]:
        """The cases that did not pass, in the order in which they ran."""
        return tuple(case for case in self.cases if case.outcome is not Outcome.PASS)

    @property
    def is_suspect(self) -> bool:
        """Whether a finding makes the run not credible, be it right or wrong."""
        heavy = any(found.severity in (Severity.SUSPECT, Severity.PROOF) for found in self.findings)
        return heavy or (self.verdict is not None and self.verdict.flagged)

    @property
    def kernels_left_out(self) -> int:
        """Number of launched kernels that a finished run did not compile, for a case did not pass or it was ended."""
        return 0 if self.running else max(self.kernels_planned - len(self.kernels), 0)

    @property
    def benchmark_report(self) -> Benchmarks:
        """Timed cases, without the numbers of wrong ones, and whether they count."""
        return Benchmarks(
            cases=tuple(map(without_wrong_times, self.benchmarks)),
            summaries=self.summaries,
            kernels=self.kernels,
            doubt=doubt_of(self.verdict) if self.verdict is not None else UNFINISHED,
        )

    def case(self, name: str) -> CaseResult | None:
        """The result of the case called `name`, or None when it has not run yet."""
        return next((case for case in self.cases if case.case == name), None)

    def benchmark(self, name: str) -> CaseBenchmark | None:
        """Measurements of the case called `name`, or None when it was not timed yet."""
        return next((timed for timed in self.benchmarks if timed.case == name), None)

    def stage(self, stage: Stage) -> StageRecord | None:
        """Record of `stage`, or None when it has not begun."""
        return next((seen for seen in self.stages if seen.stage is stage), None)


NO_RUN = RunRecord()
