"""Measurements of the newest run and of earlier ones, each with its trust.

A speed of a failing or flagged candidate is never shown as good: code that draws a measurement checks its trust first.
Nothing here draws.
"""

from __future__ import annotations

import enum
import statistics
from dataclasses import dataclass, replace

from engine.model import CompiledKernel, Launch, Outcome, Stage
from engine.model.benchmark import CaseBenchmark, Summary
from engine.reports.run_record import RunRecord

# A shape that is too large or too slow does not affect the results of the others.
_NOT_WRONG = (
    Outcome.PASS,
    Outcome.CANCELLED,
    Outcome.UNSUPPORTED,
    Outcome.PROBLEM_ERROR,
    Outcome.ENGINE_ERROR,
    Outcome.OUT_OF_MEMORY,
    Outcome.TIMEOUT,
)
_NOT_THE_CANDIDATES_FAULT = (
    Outcome.PASS,
    Outcome.CANCELLED,
    Outcome.UNSUPPORTED,
    Outcome.PROBLEM_ERROR,
    Outcome.ENGINE_ERROR,
)


class Trust(enum.IntEnum):
    """Whether the speed of a run counts; higher values are less trusted."""

    CREDIBLE = 0
    FLAGGED = 1
    WRONG = 2


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """Measurement of one case by one run.

    `kernels` are all kernels of the run; `number` is the run's number in the store, `digest` the hash of its source.
    `earlier` says that a newer run is shown, `stale` that the file has changed since.
    """

    benchmark: CaseBenchmark
    kernels: tuple[CompiledKernel, ...]
    digest: str
    trust: Trust
    number: int | None = None
    earlier: bool = False
    stale: bool = False

    @property
    def case(self) -> str:
        """The case's name."""
        return self.benchmark.case

    @property
    def compiled(self) -> tuple[tuple[Launch, CompiledKernel | None], ...]:
        """The specialisations that the case launches, each with its compiled kernel."""
        return tuple(
            (launch, next((kernel for kernel in self.kernels if _same(kernel.launch, launch)), None))
            for launch in self.benchmark.launches
        )


@dataclass(frozen=True, kw_only=True)
class Measurements:
    """The newest measurement of every case, and the newest summaries with their runs."""

    cases: tuple[Measurement, ...] = ()
    summaries: tuple[Summary, ...] = ()
    trust: Trust = Trust.CREDIBLE
    number: int | None = None
    digest: str = ""
    earlier: bool = False
    stale: bool = False

    @property
    def baselines(self) -> tuple[str, ...]:
        """Every baseline of a comparison, in the order of the first case."""
        named = (comparison.baseline for one in self.cases for comparison in one.benchmark.comparisons)
        timed = (timing.side for one in self.cases for timing in one.benchmark.baselines)
        return tuple(dict.fromkeys((*timed, *named, *(summary.baseline for summary in self.summaries))))

    def resolution(self, baseline: str) -> float:
        """The largest difference that does not count against this baseline, over all cases."""
        known = (other for one in self.cases for other in one.benchmark.comparisons if other.baseline == baseline)
        return max((comparison.resolution for comparison in known), default=0.0)

    @property
    def roofline_percents(self) -> tuple[float, ...]:
        """Share of the roofline of each case of the newest run, lowest first, without untrusted times."""
        return tuple(
            sorted(
                one.benchmark.floor.percent
                for one in self.cases
                if not one.stale
                and one.trust is not Trust.WRONG
                and one.benchmark.floor
                and one.benchmark.floor.percent is not None
            )
        )

    @property
    def roofline_median(self) -> float | None:
        """The median of `roofline_percents`, or None if there are none."""
        percents = self.roofline_percents
        return statistics.median(percents) if percents else None

    def of(self, case: str) -> Measurement | None:
        """The newest measurement of this case, or None."""
        return next((one for one in self.cases if one.case == case), None)

    def over(self, before: Measurements, view: RunRecord) -> Measurements:
        """These measurements, completed by those of earlier runs for missing cases; `view` is the shown run."""
        ours = {one.case for one in self.cases}
        kept = tuple(_aged(one, view) for one in before.cases if one.case not in ours)
        cases = (*self.cases, *kept)
        if self.summaries or not before.summaries:
            return replace(self, cases=cases)
        trust = max(before.trust, evidence(view)) if before.digest == view.digest else before.trust
        return replace(before, cases=cases, earlier=True, trust=trust)

    def beside(self, digest: str) -> Measurements:
        """These measurements, stale if they are not of the source with this hash."""
        cases = tuple(replace(one, stale=one.digest != digest) for one in self.cases)
        return replace(self, cases=cases, stale=bool(self.digest) and self.digest != digest)


NOTHING_MEASURED = Measurements()


def measured(view: RunRecord, *, number: int | None) -> Measurements:
    """Measurements of this run so far."""
    trust = evidence(view)
    verified = view.stage(Stage.VERIFY)
    if verified is None or verified.outcome is not Outcome.PASS:
        trust = Trust.WRONG  # a time without preceding verification does not count
    cases = tuple(
        Measurement(benchmark=one, kernels=view.kernels, digest=view.digest, trust=trust, number=number)
        for one in view.benchmarks
    )
    return Measurements(cases=cases, summaries=view.summaries, trust=trust, number=number, digest=view.digest)


def evidence(view: RunRecord) -> Trust:
    """Trust in the run, by its findings so far."""
    timed_wrong = any(one.outcome not in _NOT_WRONG for one in view.benchmarks)
    verdict_against = view.verdict is not None and view.verdict.outcome not in _NOT_THE_CANDIDATES_FAULT
    if view.failed or timed_wrong or verdict_against:
        return Trust.WRONG
    return Trust.FLAGGED if view.is_suspect else Trust.CREDIBLE


def _aged(one: Measurement, view: RunRecord) -> Measurement:
    """The measurement of an earlier run beside a newer one, which may lower the trust in the same source."""
    trust = max(one.trust, evidence(view)) if one.digest == view.digest else one.trust
    return replace(one, earlier=True, trust=trust)


def _same(one: Launch, other: Launch) -> bool:
    """Whether both are the same specialisation; number and grid of launches do not matter."""
    return _specialisation(one) == _specialisation(other)


def _specialisation(launch: Launch) -> tuple[object, ...]:
    return (
        launch.kernel,
        dict(launch.signature),
        dict(launch.constants),
        frozenset(launch.divisible_by_16),
        launch.num_warps,
        launch.num_stages,
        dict(launch.options),
    )
