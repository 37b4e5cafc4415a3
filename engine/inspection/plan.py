"""Timing plan of an inspection: enough to show the kernel's behaviour while it is timed, in an acceptable time.

Pure.  A claim is about all cases, so that with one all of them are timed, however long that takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.inspection.speedup_claim import DEFAULT_BASELINE, Claim
from engine.model import BenchmarkPlan, Case, Problem, Tier

ENDS_S = 4.8  # an inspection has a budget of 5 s
_TIMED_S = 2.0  # for all cases together
_TUNING_S = 3.0  # for a candidate's own autotuners


def benchmark_plan(problem: Problem, claim: Claim | None) -> BenchmarkPlan | None:
    """The bench cases against eager and the claim's baseline; None if the operator has no such cases."""
    cases = tuple(case for case in problem.cases if case.tier is Tier.BENCH)
    if not cases:
        return None
    case_s = min(BenchmarkPlan.case_s, _TIMED_S / len(cases))
    if claim is None:
        return BenchmarkPlan(
            cases=tuple(_extremes_first(problem, cases)),
            baselines=(DEFAULT_BASELINE,),
            case_s=case_s,
            ends_s=ENDS_S,
            tuning_s=_TUNING_S,
        )
    baselines = tuple(dict.fromkeys((DEFAULT_BASELINE, claim.baseline)))
    return BenchmarkPlan(cases=cases, baselines=baselines, case_s=case_s)


def _extremes_first(problem: Problem, cases: Sequence[Case]) -> Iterator[Case]:
    """The case that moves most bytes, the one that moves least, and so on inwards.

    No smoke or full case is as large as the first, in which a kernel may behave differently.
    """
    left = sorted(cases, key=lambda case: _moved_bytes(problem, case))
    while left:
        yield left.pop()
        left.reverse()


def _moved_bytes(problem: Problem, case: Case) -> int:
    cost = problem.cost(case)
    return cost.bytes_read + cost.bytes_written
