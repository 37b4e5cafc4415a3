"""What an inspection times: the cases that tell most first, and with a claim all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from engine.inspection.plan import ENDS_S, benchmark_plan
from engine.inspection.speedup_claim import Claim
from engine.model import Case, Cost, DType, ProblemDefinition, Tier, Tolerance

_BYTES = {"small": 10, "tiny": 1, "large": 1000, "middle": 100}


def never(*_: object) -> Any:
    raise AssertionError("the parent makes no tensors")


def case(name: str, tier: Tier = Tier.BENCH) -> Case:
    return Case(name=name, dtype=DType.FLOAT32, tier=tier, params={})


PROBLEM = ProblemDefinition(
    name="toy::twice",
    entry="f",
    signature="f(x: Tensor) -> Tensor",
    summary="",
    category="toy",
    cases=(case("smoke", Tier.SMOKE), *map(case, _BYTES)),
    make_inputs=never,
    reference=never,
    eager=never,
    tolerance=lambda _: Tolerance(relative=0.0, absolute=0.0),
    cost=lambda one: Cost(flops=1, bytes_read=0, bytes_written=_BYTES.get(one.name, 0)),
).problem("toy_problems")


def test_timed_cases_alternate_largest_and_smallest():
    plan = benchmark_plan(PROBLEM, None)
    assert plan is not None
    assert [one.name for one in plan.cases] == ["large", "tiny", "middle", "small"]
    assert (plan.baselines, plan.case_s, plan.ends_s) == (("eager",), 0.5, ENDS_S)


def test_claim_covers_all_cases_however_slow():
    plan = benchmark_plan(PROBLEM, Claim(speedup=2.0, baseline="compile"))
    assert plan is not None
    assert [one.name for one in plan.cases] == ["small", "tiny", "large", "middle"]
    assert (plan.baselines, plan.case_s, plan.ends_s) == (("eager", "compile"), 0.5, None)


def test_claim_against_eager_has_no_extra_baseline():
    plan = benchmark_plan(PROBLEM, Claim(speedup=2.0, baseline="eager"))
    assert plan is not None
    assert plan.baselines == ("eager",)


def test_an_operator_without_bench_cases_is_not_timed():
    assert benchmark_plan(replace(PROBLEM, cases=PROBLEM.cases[:1]), None) is None
