"""A run as the screen sees it, made from nothing but its events.

The same events give the same view, live or replayed from the store, so an old run opens exactly as it
was.  Nothing here reads a clock, a file or a widget.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from engine.model import (
    CaseResult,
    CompiledKernel,
    Finding,
    Launch,
    Location,
    Outcome,
    Policy,
    Severity,
    Stage,
    Stream,
    Verdict,
    specialisation,
)
from engine.model.benchmark import CaseBenchmark, Holder, Span, Summary
from engine.model.events import (
    BenchmarkSummarised,
    CaseBenchmarked,
    CaseFinished,
    DeviceAwaited,
    Event,
    FindingRaised,
    KernelCompiled,
    KernelDisassembled,
    KernelLaunched,
    KernelPorted,
    LayerChecked,
    LogWritten,
    OtherLoaded,
    PortDisassembled,
    PortingFinished,
    PortingStarted,
    ProfileTaken,
    RunFinished,
    RunStarted,
    StageFinished,
    StageStarted,
    TierFinished,
)
from engine.model.layers import LayerReport
from engine.reports.targets import NOT_PORTED, Ports, ports_of
from engine.verdict.decide import Facts, Interim, interim


@dataclass(frozen=True, kw_only=True)
class StageView:
    """A stage that began; `outcome` is None while it goes on."""

    stage: Stage
    started_s: float
    total: int | None = None
    outcome: Outcome | None = None
    elapsed_s: float | None = None
    message: str = ""
    location: Location | None = None


@dataclass(frozen=True, kw_only=True)
class LogLine:
    """A piece of text that was written during the run."""

    at_s: float
    stream: Stream
    text: str


@dataclass(frozen=True, kw_only=True)
class RunView:
    """All that the events of one run have said so far; the empty one is "no run yet".

    `holder` is who holds the device while the benchmark waits for it; `other_digest` the hash of the candidate that
    this one was timed interleaved with, as the baseline "other".  `cut_short` is what the store knows and no event
    says: the program that asked for the run ended before it.
    """

    problem: str = ""
    digest: str = ""
    device: str = ""
    device_name: str = ""
    target: str | None = None
    policy: Policy = Policy.DEFAULT
    planned: int = 0
    at_s: float = 0.0
    stages: tuple[StageView, ...] = ()
    cases: tuple[CaseResult, ...] = ()
    tiers: tuple[TierFinished, ...] = ()
    findings: tuple[Finding, ...] = ()
    layers: tuple[LayerReport, ...] = ()
    launches: tuple[Launch, ...] = ()
    launched_by: tuple[str, ...] = ()
    kernels: tuple[CompiledKernel, ...] = ()
    kernel_numbers: tuple[int, ...] = ()
    kernels_planned: int = 0
    benchmarks: tuple[CaseBenchmark, ...] = ()
    benchmarks_planned: int = 0
    summaries: tuple[Summary, ...] = ()
    holder: Holder | None = None
    other_digest: str = ""
    profile: tuple[Span, ...] = ()
    log: tuple[LogLine, ...] = ()
    verdict: Verdict | None = None
    finished_s: float | None = None
    ports: Ports = NOT_PORTED
    cut_short: bool = False

    def first_case(self, launch: Launch) -> str:
        """The case that launched this specialisation first; empty where that is not known."""
        wanted = specialisation(launch)
        by_case = zip(self.launches, self.launched_by, strict=True)
        return next((case for known, case in by_case if specialisation(known) == wanted), "")

    @property
    def started(self) -> bool:
        """Whether any run is shown at all."""
        return bool(self.digest)

    @property
    def running(self) -> bool:
        """Whether the run has begun and its verdict is still to come."""
        return self.started and self.verdict is None and not self.cut_short

    @property
    def active(self) -> StageView | None:
        """The stage that goes on, or None; of two, the earlier: compiling begins while the cases are judged."""
        return next((stage for stage in self.stages if stage.outcome is None), None)

    @property
    def interim(self) -> Interim | None:
        """The worst that is known while the run goes on; None as long as nothing is decided."""
        if not self.running:
            return None
        return interim(
            Facts(
                planned=self.planned, policy=self.policy, cases=self.cases, kernels=self.kernels, findings=self.findings
            )
        )

    @property
    def failed(self) -> tuple[CaseResult, ...]:
        """The cases that were judged and did not pass, in the order they were judged."""
        return tuple(case for case in self.cases if case.outcome is not Outcome.PASS)

    @property
    def is_suspect(self) -> bool:
        """Whether something was observed that makes the run not credible, be it right or wrong."""
        heavy = any(found.severity in (Severity.SUSPECT, Severity.PROOF) for found in self.findings)
        return heavy or (self.verdict is not None and self.verdict.flagged)

    @property
    def error_notes(self) -> dict[int, str]:
        """Source lines that something went wrong on, in ascending order, each with what it was."""
        failing = Counter(place.line for case in self.failed if (place := _place(case)))
        notes = {line: f"{count} failing" for line, count in failing.items()}
        for found in self.findings:
            if found.location and found.severity in (Severity.SUSPECT, Severity.PROOF):
                notes.setdefault(found.location.line, found.check)
        for kernel in self.kernels:
            if kernel.location and kernel.outcome is not Outcome.PASS:
                notes.setdefault(kernel.location.line, f"does not build for {kernel.target}")
        for stage in self.stages:
            if stage.location and stage.outcome is not Outcome.PASS:
                notes.setdefault(stage.location.line, stage.message)
        if self.verdict and self.verdict.location:
            notes.setdefault(self.verdict.location.line, "")
        return dict(sorted(notes.items()))

    def case(self, name: str) -> CaseResult | None:
        """What became of the case called `name`, or None when it was not judged yet."""
        return next((case for case in self.cases if case.case == name), None)

    def benchmark(self, name: str) -> CaseBenchmark | None:
        """What was measured for the case called `name`, or None when it was not timed yet."""
        return next((timed for timed in self.benchmarks if timed.case == name), None)

    def stage(self, stage: Stage) -> StageView | None:
        """What is known of `stage`, or None when it has not begun."""
        return next((seen for seen in self.stages if seen.stage is stage), None)


NO_RUN = RunView()


def reduce(view: RunView, event: Event) -> RunView:
    """The view after one more event."""
    return reduce_all(view, (event,))


def reduce_all(view: RunView, events: Iterable[Event]) -> RunView:
    """The view after `events`, the same as `reduce` one by one.

    A batch copies each list once: event by event, ten thousand of them would copy the lists ten thousand times.
    """
    draft = _Draft(view)
    for event in events:
        draft.take(event)
    return draft.view()


def _place(case: CaseResult) -> Location | None:
    return case.location or (case.out_of_bounds.location if case.out_of_bounds else None)


class _Draft:
    """A view that is being changed; lives for one batch."""

    def __init__(self, view: RunView) -> None:
        self._start(view)

    def _start(self, view: RunView) -> None:
        self._scalars = view
        self._stages = list(view.stages)
        self._cases = list(view.cases)
        self._tiers = view.tiers
        self._findings = list(view.findings)
        self._launches = list(view.launches)
        self._launched_by = list(view.launched_by)
        self._kernels = list(view.kernels)
        self._kernel_numbers = list(view.kernel_numbers)
        self._kernels_planned = view.kernels_planned
        self._benchmarks = list(view.benchmarks)
        self._benchmarks_planned = view.benchmarks_planned
        self._summaries = view.summaries
        self._holder = view.holder
        self._other_digest = view.other_digest
        self._profile = view.profile
        self._layers = list(view.layers)
        self._log = list(view.log)
        self._verdict = view.verdict
        self._finished_s = view.finished_s
        self._ports = view.ports
        self._at_s = view.at_s

    def take(self, event: Event) -> None:
        match event:
            # First those that come in thousands: each kind before them is another question.
            case CaseFinished():
                self._cases.append(event.result)
            case LogWritten():
                self._log.append(LogLine(at_s=event.at_s, stream=event.stream, text=event.text))
            case RunStarted():
                self._start(_begun(event))
            case StageStarted():
                self._begin_stage(event)
            case StageFinished():
                self._finish(event)
            case FindingRaised():
                self._findings.append(event.finding)
            case TierFinished():
                self._tiers = (*self._tiers, event)
            case LayerChecked():
                self._layers.append(event.report)
            case KernelLaunched():
                self._launches.append(event.launch)
                self._launched_by.append(event.case or "")
            case KernelCompiled():
                self._kernels.append(event.kernel)
                self._kernel_numbers.append(event.number)
                self._kernels_planned = event.total
            case KernelDisassembled():
                self._disassembled(event)
            case OtherLoaded():
                self._other_digest = event.digest
            case DeviceAwaited() | CaseBenchmarked() | BenchmarkSummarised() | ProfileTaken():
                self._measured(event)
            case RunFinished():
                self._verdict = event.verdict
                self._finished_s = event.at_s
                self._holder = None
            case PortingStarted() | KernelPorted() | PortDisassembled() | PortingFinished():
                self._ports = ports_of((event,), known=self._ports)
        self._at_s = event.at_s

    def _begin_stage(self, event: StageStarted) -> None:
        self._stages.append(StageView(stage=event.stage, started_s=event.at_s, total=event.total))
        self._holder = None  # whatever waited for the device has it now

    def _measured(self, event: DeviceAwaited | CaseBenchmarked | BenchmarkSummarised | ProfileTaken) -> None:
        match event:
            case DeviceAwaited():
                self._holder = event.holder
            case CaseBenchmarked():
                self._benchmarks.append(event.benchmark)
                self._benchmarks_planned = event.total
            case BenchmarkSummarised():
                self._summaries = event.summaries
            case ProfileTaken():
                self._profile = event.spans

    def _finish(self, event: StageFinished) -> None:
        """Close the open stage of this name; a stage that never said it began is taken as begun."""
        opened = next(
            (i for i, seen in enumerate(self._stages) if seen.stage is event.stage and not seen.outcome), None
        )
        if opened is None:
            opened = len(self._stages)
            self._stages.append(StageView(stage=event.stage, started_s=max(0.0, event.at_s - event.elapsed_s)))
        self._stages[opened] = replace(
            self._stages[opened],
            outcome=event.outcome,
            elapsed_s=event.elapsed_s,
            message=event.message,
            location=event.location,
        )

    def _disassembled(self, event: KernelDisassembled) -> None:
        """Add the text to its kernel; kernels may be built in another order than they are numbered."""
        if event.number in self._kernel_numbers:
            place = self._kernel_numbers.index(event.number)
            kernel = self._kernels[place]
            self._kernels[place] = replace(kernel, artefacts=(*kernel.artefacts, event.artefact))

    def view(self) -> RunView:
        return replace(
            self._scalars, at_s=self._at_s, stages=tuple(self._stages), cases=tuple(self._cases), tiers=self._tiers,
            findings=tuple(self._findings), layers=tuple(self._layers), launches=tuple(self._launches),
            launched_by=tuple(self._launched_by),
            kernels=tuple(self._kernels), kernel_numbers=tuple(self._kernel_numbers),
            kernels_planned=self._kernels_planned, benchmarks=tuple(self._benchmarks),
            benchmarks_planned=self._benchmarks_planned, summaries=self._summaries, holder=self._holder,
            other_digest=self._other_digest, profile=self._profile, log=tuple(self._log), verdict=self._verdict,
            finished_s=self._finished_s, ports=self._ports,
        )  # fmt: skip


def _begun(event: RunStarted) -> RunView:
    return RunView(
        problem=event.problem,
        digest=event.digest,
        device=event.device,
        device_name=event.device_name,
        target=event.target,
        policy=event.policy,
        planned=event.cases,
    )
