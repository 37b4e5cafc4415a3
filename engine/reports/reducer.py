"""The one reducer of a run: its events, folded into a frozen `RunRecord`.

The same events give the same record, live or replayed from the store, so a stored run is shown exactly as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from engine.model import Artefact, CompiledKernel, Cost
from engine.model.events import (
    BenchmarkSummarised,
    CaseBenchmarked,
    CaseEstimated,
    CaseFinished,
    CaseProven,
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
from engine.reports.run_record import NO_RUN, RunRecord, StageRecord
from engine.reports.targets import Ports


def record_of(
    events: Iterable[Event], *, file: str = "", number: int | None = None, costs: Mapping[str, Cost] | None = None
) -> RunRecord:
    """The record of a run from its first event on; the other arguments are fields of the record."""
    return reduce_all(replace(NO_RUN, file=file, number=number, costs=costs or {}), events)


def reduce_all(record: RunRecord, events: Iterable[Event]) -> RunRecord:
    """The record after `events`, the same as one by one.

    A batch copies each list once: event by event, ten thousand of them would copy the lists ten thousand times.
    """
    draft = _Draft(record)
    for event in events:
        draft.take(event)
    return draft.record()


class _Draft:
    """A record in progress; exists for one batch."""

    def __init__(self, record: RunRecord) -> None:
        self._start(record)

    def _start(self, record: RunRecord) -> None:
        self._scalars = record
        self._stages = list(record.stages)
        self._cases = list(record.cases)
        self._tiers = record.tiers
        self._proofs = list(record.proofs)
        self._findings = list(record.findings)
        self._launches = list(record.launches)
        self._launched_by = list(record.launched_by)
        self._kernels = list(record.kernels)
        self._kernel_numbers = list(record.kernel_numbers)
        self._kernels_planned = record.kernels_planned
        self._benchmarks = list(record.benchmarks)
        self._benchmarks_planned = record.benchmarks_planned
        self._estimate = record.estimate
        self._summaries = record.summaries
        self._holder = record.holder
        self._other_digest = record.other_digest
        self._profile = record.profile
        self._layers = list(record.layers)
        self._log = list(record.log)
        self._verdict = record.verdict
        self._finished_s = record.finished_s
        self._draw_seed = record.draw_seed
        self._seed_given = record.seed_given
        self._ports = record.ports
        self._at_s = record.at_s

    def take(self, event: Event) -> None:
        match event:
            # The most frequent kinds first, since they are tested in order.
            case CaseFinished():
                self._cases.append(event.result)
            case LogWritten():
                self._log.append(event)
            case CaseProven():
                self._proofs.append(event.proof)
            case RunStarted():
                self._start(_begun(event, self._scalars))
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
            case DeviceAwaited() | CaseEstimated() | CaseBenchmarked() | BenchmarkSummarised() | ProfileTaken():
                self._measured(event)
            case RunFinished():
                self._verdict = event.verdict
                self._finished_s = event.at_s
                self._draw_seed, self._seed_given = event.draw_seed, event.seed_given
                self._holder = self._estimate = None
            case PortingStarted() | KernelPorted() | PortDisassembled() | PortingFinished():
                self._ports = _ported(self._ports, event)
        self._at_s = event.at_s

    def _begin_stage(self, event: StageStarted) -> None:
        self._stages.append(StageRecord(stage=event.stage, started_s=event.at_s, total=event.total))
        self._holder = None  # the device is no longer waited for

    def _measured(
        self, event: DeviceAwaited | CaseEstimated | CaseBenchmarked | BenchmarkSummarised | ProfileTaken
    ) -> None:
        match event:
            case DeviceAwaited():
                self._holder = event.holder
            case CaseEstimated():
                self._estimate = event.estimate
                self._benchmarks_planned = event.total
            case CaseBenchmarked():
                self._estimate = None
                self._benchmarks.append(event.benchmark)
                self._benchmarks_planned = event.total
            case BenchmarkSummarised():
                self._summaries = event.summaries
            case ProfileTaken():
                self._profile = event.spans

    def _finish(self, event: StageFinished) -> None:
        """Close the open stage of this name; a stage without a start counts as started."""
        opened = next(
            (i for i, seen in enumerate(self._stages) if seen.stage is event.stage and not seen.outcome), None
        )
        if opened is None:
            opened = len(self._stages)
            self._stages.append(StageRecord(stage=event.stage, started_s=max(0.0, event.at_s - event.elapsed_s)))
        self._stages[opened] = replace(
            self._stages[opened],
            outcome=event.outcome,
            elapsed_s=event.elapsed_s,
            finished_s=event.at_s,
            message=event.message,
            location=event.location,
        )

    def _disassembled(self, event: KernelDisassembled) -> None:
        """Add the text to its kernel; kernels may be built in another order than their numbers."""
        if event.number in self._kernel_numbers:
            place = self._kernel_numbers.index(event.number)
            self._kernels[place] = _with(self._kernels[place], event.artefact)

    def record(self) -> RunRecord:
        return replace(
            self._scalars,
            at_s=self._at_s,
            stages=tuple(self._stages),
            cases=tuple(self._cases),
            tiers=self._tiers,
            proofs=tuple(self._proofs),
            findings=tuple(self._findings),
            layers=tuple(self._layers),
            launches=tuple(self._launches),
            launched_by=tuple(self._launched_by),
            kernels=tuple(self._kernels),
            kernel_numbers=tuple(self._kernel_numbers),
            kernels_planned=self._kernels_planned,
            benchmarks=tuple(self._benchmarks),
            benchmarks_planned=self._benchmarks_planned,
            estimate=self._estimate,
            summaries=self._summaries,
            holder=self._holder,
            other_digest=self._other_digest,
            profile=self._profile,
            log=tuple(self._log),
            verdict=self._verdict,
            finished_s=self._finished_s,
            draw_seed=self._draw_seed,
            seed_given=self._seed_given,
            ports=self._ports,
        )


def _begun(event: RunStarted, known: RunRecord) -> RunRecord:
    return RunRecord(
        file=known.file,
        number=known.number,
        costs=known.costs,
        problem=event.problem,
        digest=event.digest,
        device=event.device,
        device_name=event.device_name,
        target=event.target,
        policy=event.policy,
        planned=event.cases,
    )


def _ported(known: Ports, event: PortingStarted | KernelPorted | PortDisassembled | PortingFinished) -> Ports:
    """State of other targets after one more event; a new start discards what was compiled before."""
    kernel_by_number = dict(zip(known.numbers, known.kernels, strict=True))
    match event:
        case PortingStarted():
            return Ports(targets=event.targets, launches=event.launches)
        case PortingFinished():
            return replace(known, outcome=event.outcome, message=event.message)
        case KernelPorted():
            kernel_by_number[event.number] = event.kernel
        case PortDisassembled() if event.number in kernel_by_number:
            kernel_by_number[event.number] = _with(kernel_by_number[event.number], event.artefact)
    return replace(known, kernels=tuple(kernel_by_number.values()), numbers=tuple(kernel_by_number))


def _with(kernel: CompiledKernel, artefact: Artefact) -> CompiledKernel:
    return replace(kernel, artefacts=(*kernel.artefacts, artefact))
