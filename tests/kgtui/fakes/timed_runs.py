"""Event streams of runs that were timed: a softmax on a GPU over five sizes, its baselines, and what goes wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.model import BenchmarkPlan, CacheState, Candidate, Case, Cost, DType, Outcome, Plan, Problem, Stage, Tier
from engine.model.benchmark import (
    Bound,
    CaseBenchmark,
    CaseEstimate,
    Comparison,
    DeviceState,
    Floor,
    Holder,
    Interval,
    Method,
    Span,
    Standing,
    Summary,
    Timing,
)
from engine.model.events import (
    BenchmarkSummarised,
    CaseBenchmarked,
    CaseEstimated,
    DeviceAwaited,
    Event,
    ProfileTaken,
    RunFinished,
    StageFinished,
    StageStarted,
)
from tests.kgtui.fakes.cases import passed
from tests.kgtui.fakes.kernels import softmax_launch
from tests.kgtui.fakes.problems import softmax_problem
from tests.kgtui.fakes.streams import all_pass, run_events, some_fail, suspicious

BANDWIDTH_BYTES_PER_S = 2.9e12
HOLDER = Holder(pid=4242, command="python train.py --batch [32]", since="2026-03-14T15:02:10+00:00")
# For each case: percent of the roofline, speed-up over eager, its standing.
_RESULTS = (
    (38.0, 1.92, Standing.FASTER),
    (61.5, 1.41, Standing.FASTER),
    (83.2, 1.004, Standing.SAME),
    (86.0, 0.91, Standing.SLOWER),
    (78.4, 1.58, Standing.FASTER),
)


def timed_problem() -> Problem:
    """The softmax with five bench cases of two types."""
    problem = softmax_problem()
    shapes = ((1024, 256), (4096, 781), (4096, 4096))
    bench = [_case(rows, cols, DType.FLOAT32) for rows, cols in shapes]
    bench += [_case(1024, 256, DType.BFLOAT16), _case(16384, 8192, DType.BFLOAT16)]
    kept = tuple(case for case in problem.cases if case.tier is not Tier.BENCH)
    cases = (*kept, *bench)
    return replace(
        problem,
        cases=cases,
        tolerance_by_case=dict.fromkeys([case.name for case in cases], problem.tolerance(problem.cases[0])),
        cost_by_case={case.name: _cost(case) for case in cases},
    )


def benchmark_of(case: Case, number: int = 0, *, baselines: Sequence[str] = ("eager",)) -> CaseBenchmark:
    """A case that was timed well; `number` chooses one of five results."""
    percent, speedup, standing = _RESULTS[number % len(_RESULTS)]
    cost = _cost(case)
    floor_us = (cost.bytes_read + cost.bytes_written) / BANDWIDTH_BYTES_PER_S * 1e6
    device_us = 100 * floor_us / percent
    sides = [(name, speedup * (1 - 0.12 * place)) for place, name in enumerate(baselines)]
    return CaseBenchmark(
        case=case.name, outcome=Outcome.PASS, cache=CacheState.COLD, elapsed_s=0.81,
        timing=_timing("candidate", device_us),
        baselines=tuple(_timing(name, device_us * ratio) for name, ratio in sides),
        comparisons=tuple(
            Comparison(baseline=name, speedup=_interval(ratio, 0.012), resolution=0.011,
                       standing=standing if ratio == speedup else _standing(ratio))
            for name, ratio in sides
        ),
        ratio_to_self=Interval(value=1.002, low=0.994, high=1.009),
        floor=Floor(floor_us=floor_us, bound=Bound.MEMORY, bandwidth_bytes_per_s=BANDWIDTH_BYTES_PER_S,
                    peak_flops_per_s=5.1e13, precision="float32", percent=percent),
        slots=24, slot_bytes=cost.bytes_read, calls=240, verified=240,
        launches=(replace(softmax_launch(), grid=(4096,), count=240),),
        before=DeviceState(sm_clock_mhz=1980, memory_clock_mhz=2619, temperature_c=41, power_w=310.4,
                           utilisation_percent=2),
        after=DeviceState(sm_clock_mhz=1755, memory_clock_mhz=2619, temperature_c=52, power_w=640.0,
                          utilisation_percent=99, throttled_by=("power cap",), other_processes=(4242,)),
    )  # fmt: skip


def wrong_when_timed(case: Case) -> CaseBenchmark:
    """A case whose timed calls did not all give the right answer."""
    return CaseBenchmark(
        case=case.name,
        outcome=Outcome.WRONG_VALUE,
        cache=CacheState.COLD,
        elapsed_s=0.3,
        calls=240,
        verified=17,
        message="timed call 17 of 240 gave another answer",
    )


def timed_events(
    candidate: Candidate,
    plan: Plan,
    *,
    benchmarks: Sequence[CaseBenchmark] | None = None,
    right: Sequence[Event] = (),
    stop_after: int | None = None,
    holder: Holder | None = None,
    baselines: Sequence[str] = ("eager",),
) -> list[Event]:
    """A run that was verified and then timed, if the plan asks for it; `stop_after` cuts it while it times."""
    *verified, finished, printed = right or all_pass(candidate, plan)
    assert isinstance(finished, RunFinished)
    wanted = plan.benchmark
    if wanted is None:
        return [*verified, finished, printed]
    if benchmarks is None:
        benchmarks = [benchmark_of(case, place, baselines=baselines) for place, case in enumerate(wanted.cases)]
    events: list[Event] = [*verified]
    if holder is not None:
        events.append(DeviceAwaited(at_s=0.43, holder=holder))
        if stop_after is None:
            return events
    events.append(StageStarted(at_s=0.5, stage=Stage.BENCHMARK, total=len(benchmarks)))
    for number, benchmark in enumerate(benchmarks[:stop_after], start=1):
        events.append(
            CaseBenchmarked(at_s=0.5 + 0.8 * number, number=number, total=len(benchmarks), benchmark=benchmark)
        )
    if stop_after is not None:
        return events
    spans = (Span(name="compile", count=6, busy_s=0.6, began_s=0.06, ended_s=0.4),)
    return [
        *events,
        BenchmarkSummarised(at_s=4.6, summaries=tuple(summary(name, len(benchmarks)) for name in baselines)),
        StageFinished(at_s=4.6, stage=Stage.BENCHMARK, outcome=Outcome.PASS, elapsed_s=4.1),
        ProfileTaken(at_s=4.6, spans=spans),
        replace(finished, at_s=4.61),
        replace(printed, at_s=4.7),
    ]


def summary(baseline: str = "eager", planned: int = 5) -> Summary:
    """What the five cases come to against one baseline."""
    return Summary(
        baseline=baseline,
        speedup=Interval(value=1.321, low=1.29, high=1.352),
        cases=planned,
        planned=planned,
        fast={"1": 4, "1.5": 2, "2": 0},
    )


def all_timed(candidate: Candidate, plan: Plan) -> list[Event]:
    """Right on all cases, and five sizes timed."""
    return timed_events(candidate, plan)


def two_baselines(candidate: Candidate, plan: Plan) -> list[Event]:
    """The same against two baselines."""
    return timed_events(candidate, plan, baselines=("eager", "compile"))


def times_two_of_five(candidate: Candidate, plan: Plan) -> list[Event]:
    """Two sizes are timed, then nothing comes until the run is cancelled."""
    return timed_events(candidate, plan, stop_after=2)


def times_third_of_five(candidate: Candidate, plan: Plan) -> list[Event]:
    """A run with two timed cases and the times of the third so far."""
    assert plan.benchmark is not None
    case = plan.benchmark.cases[2]
    known = benchmark_of(case, 2)
    assert known.timing is not None and known.timing.device_us is not None
    estimate = CaseEstimate(
        case=case.name,
        rounds=8,
        method=Method.CUPTI,
        device_us=known.timing.device_us,
        comparisons=known.comparisons,
    )
    return [*times_two_of_five(candidate, plan), CaseEstimated(at_s=2.7, number=3, total=5, estimate=estimate)]


def waits_for_the_device(candidate: Candidate, plan: Plan) -> list[Event]:
    """Somebody else holds the device."""
    return timed_events(candidate, plan, holder=HOLDER)


def timed_and_flagged(candidate: Candidate, plan: Plan) -> list[Event]:
    """Timed, but a check saw something."""
    return timed_events(candidate, plan, right=suspicious(candidate, plan))


def fails_before_it_is_timed(candidate: Candidate, plan: Plan) -> list[Event]:
    """Two cases are wrong, so nothing is timed."""
    return some_fail(candidate, plan)


def wrong_while_timed(candidate: Candidate, plan: Plan) -> list[Event]:
    """Right when verified; a timed call gave another answer."""
    assert plan.benchmark is not None
    first, *rest = plan.benchmark.cases
    benchmarks = [wrong_when_timed(first), *(benchmark_of(case, place) for place, case in enumerate(rest))]
    events = timed_events(candidate, plan, benchmarks=benchmarks)
    verdicts = [event for event in events if isinstance(event, RunFinished)]
    verdict = replace(verdicts[0].verdict, outcome=Outcome.WRONG_VALUE, sentence="a timed call gave another answer")
    return [replace(event, verdict=verdict) if isinstance(event, RunFinished) else event for event in events]


def bench_plan(problem: Problem, *, device: str = "cuda") -> Plan:
    """What a save on a GPU asks for."""
    plan = Plan.for_tiers(problem, tiers=(Tier.SMOKE, Tier.FULL), device=device, target="sm_90")
    cases = tuple(case for case in problem.cases if case.tier is Tier.BENCH)
    return replace(plan, benchmark=BenchmarkPlan(cases=cases))


def verified_only(candidate: Candidate, plan: Plan) -> list[Event]:
    """Right, and nothing timed though it was asked for."""
    return run_events(candidate, plan, [passed(case) for case in plan.cases])


def _case(rows: int, cols: int, dtype: DType) -> Case:
    params = {"rows": rows, "cols": cols}
    return Case(name=f"{rows}x{cols} {dtype.short}", dtype=dtype, tier=Tier.BENCH, params=params)


def _cost(case: Case) -> Cost:
    elements = case.size("rows") * case.size("cols")
    size = elements * case.dtype.bytes
    return Cost(flops=5 * elements, bytes_read=size, bytes_written=size)


def _standing(ratio: float) -> Standing:
    return Standing.FASTER if ratio > 1 else Standing.SLOWER


def _interval(value: float, share: float) -> Interval:
    return Interval(value=value, low=value * (1 - share), high=value * (1 + 0.8 * share))


def _timing(side: str, device_us: float) -> Timing:
    steps = (0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 6, 8, 9, 40)
    return Timing(
        side=side,
        method=Method.CUPTI,
        device_us=_interval(device_us, 0.008),
        call_us=_interval(device_us + 6.5, 0.02),
        graph_us=_interval(device_us * 1.01, 0.01) if side == "candidate" else None,
        samples_us=tuple(device_us * (0.985 + 0.005 * step) for step in steps),
        activities=1,
        notes=() if side == "candidate" else ("one of its kernels ran on a side stream",),
    )
