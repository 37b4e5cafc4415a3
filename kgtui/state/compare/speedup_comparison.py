"""Compares the times of two runs: interleaved if measured so, else by the baseline that both were timed with.
Times of two runs are never divided directly, since device conditions differed.  Without a valid comparison, the reason
is reported and there is no number.
"""

from __future__ import annotations

import enum
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace

from engine.model import Outcome
from engine.model.benchmark import OTHER, CaseBenchmark, Comparison, Interval, Standing, Summary
from engine.timing.numbers.across_runs import across_runs, inverted
from engine.timing.numbers.statistics import standing, summarise
from kgtui.ports.protocols import CPU_DEVICE
from kgtui.state.bench.measurements import Trust, measured
from kgtui.state.compare.sides import Side


class ComparisonMethod(enum.StrEnum):
    """The method by which two runs were compared."""

    INTERLEAVED = "interleaved"
    BY_BASELINE = "by baseline"


@dataclass(frozen=True, kw_only=True)
class CaseVersus:
    """One case: the speed-up of the other over the reference, or why it is unknown.
    `baseline` is the common baseline of runs that were not interleaved.
    """

    case: str
    comparison: Comparison | None = None
    method: ComparisonMethod | None = None
    baseline: str = ""
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Versus:
    """All timed cases of two runs, with the lower trust of the two; `why` is the reason for no comparison."""

    reference: str
    other: str
    trust: Trust
    cases: tuple[CaseVersus, ...] = ()
    mean: Summary | None = None
    why: str = ""

    @property
    def compared(self) -> Mapping[str, Comparison]:
        """The cases that could be compared."""
        return {one.case: one.comparison for one in self.cases if one.comparison is not None}

    @property
    def resolution(self) -> float:
        """The largest difference that does not count, over all cases."""
        return max((comparison.resolution for comparison in self.compared.values()), default=0.0)

    @property
    def standing(self) -> Standing | None:
        """Standing of the mean; None without one."""
        return standing(self.mean.speedup, self.resolution) if self.mean is not None else None

    def of(self, case: str) -> CaseVersus | None:
        """Comparison of this case."""
        return next((one for one in self.cases if one.case == case), None)


def versus(reference: Side, other: Side) -> Versus:
    """Times of `other` relative to those of `reference`."""
    trust = max(trust_of(reference), trust_of(other))
    names = tuple(dict.fromkeys(timed.case for side in (reference, other) for timed in side.view.benchmarks))
    why = _why_not_at_all(reference, other)
    if why:
        return Versus(reference=reference.name, other=other.name, trust=trust, why=why)
    doubt = _why_not_by_baseline(reference, other)
    cases = tuple(_case(name, reference, other, doubt) for name in names)
    compared = {one.case: one.comparison for one in cases if one.comparison is not None}
    mean = None
    if compared:  # a fixed seed, so that the result is reproducible
        mean = summarise(reference.name, compared, len(names), random.Random(0))
    why = "" if compared else next((one.why for one in cases), "no case was timed in both")
    return Versus(reference=reference.name, other=other.name, trust=trust, cases=cases, mean=mean, why=why)


def trust_of(side: Side) -> Trust:
    """Trust in the times of this run."""
    return measured(side.view, number=side.run.id).trust


def _why_not_at_all(reference: Side, other: Side) -> str:
    for side in (reference, other):
        if not side.view.benchmarks and side.run.device == CPU_DEVICE:
            return f"{side.name} ran on the CPU, where timings are meaningless, so nothing was timed"
        if trust_of(side) is Trust.WRONG:
            return f"{side.name} did not pass, so no speed-up is shown"
        if not side.view.benchmarks:
            return f"nothing was timed in {side.name}"
    devices = [side.run.device_name or side.run.device for side in (reference, other)]
    if devices[0] != devices[1]:
        return f"{reference.name} was timed on {devices[0]}, {other.name} on {devices[1]}"
    return ""


def _why_not_by_baseline(reference: Side, other: Side) -> str:
    """Reason why their baselines are not comparable: versions, driver, or other notes of the sessions."""
    before, after = reference.environment, other.environment
    changed = [
        f"{name} {before.get(name, 'unknown')} and {after.get(name, 'unknown')}"
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    ]
    return f"the baselines differ: {', '.join(changed)}" if changed else ""


def _case(name: str, reference: Side, other: Side, doubt: str) -> CaseVersus:
    before, after = reference.view.benchmark(name), other.view.benchmark(name)
    for side, timed in ((reference, before), (other, after)):
        if timed is None:
            return CaseVersus(case=name, why=f"not timed in {side.name}")
        if timed.outcome is not Outcome.PASS:
            return CaseVersus(case=name, why=f"could not be timed in {side.name}: {timed.message}")
    assert before is not None and after is not None  # both were checked above
    interleaved = _interleaved(reference, other, before, after)
    if interleaved is not None:
        return CaseVersus(case=name, comparison=interleaved, method=ComparisonMethod.INTERLEAVED)
    if doubt:
        return CaseVersus(case=name, why=doubt)
    if before.cache is not after.cache:
        return CaseVersus(case=name, why=f"L2 was {before.cache} in {reference.name} and {after.cache} in {other.name}")
    known = {one.baseline: one for one in before.comparisons if one.baseline != OTHER}
    pairs = [(known[one.baseline], one) for one in after.comparisons if one.baseline in known]
    if not pairs:
        return CaseVersus(case=name, why="no baseline was timed with both")
    comparison = across_runs(*pairs[0], name=reference.name)
    return CaseVersus(
        case=name, comparison=comparison, method=ComparisonMethod.BY_BASELINE, baseline=pairs[0][0].baseline
    )


def _interleaved(reference: Side, other: Side, before: CaseBenchmark, after: CaseBenchmark) -> Comparison | None:
    """Interleaved measurement of the two, in either of the runs."""
    if other.view.other_digest == reference.view.digest and (found := _with_other(after)) is not None:
        return replace(found, baseline=reference.name)
    if reference.view.other_digest == other.view.digest and (found := _with_other(before)) is not None:
        return inverted(found, name=reference.name)
    return None


def _with_other(timed: CaseBenchmark) -> Comparison | None:
    return next((one for one in timed.comparisons if one.baseline == OTHER), None)


def device_time(side: Side, case: str) -> Interval | None:
    """Device time of a case in this run; None if there is none that counts."""
    timed = side.view.benchmark(case)
    counts = timed is not None and timed.outcome is Outcome.PASS and timed.timing is not None
    return timed.timing.device_us if counts and timed is not None and timed.timing is not None else None
