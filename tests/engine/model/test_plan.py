"""A plan is values and ids only, and survives being written as JSON."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass, replace
from typing import Any

import msgspec
import pytest

from engine.model import BenchmarkPlan, CacheState, Case, DType, Limits, Plan, Policy, Tier
from tests.operators import NAMES, find

SILU = find("aten::silu")
PLAIN = Plan.for_tiers(SILU, tiers=(Tier.SMOKE,), device="cpu", target=None)
ODD_PARAMS: dict[str, Any] = {
    "infinite": math.inf, "negative": -math.inf, "whole": 1, "half": 0.5, "one": 1.0, "yes": True, "word": "strided",
    "dims": (0, -1), "none": (),
}  # fmt: skip
ODD = Case(name="odd \u00d7 case", dtype=DType.BFLOAT16, tier=Tier.FULL, params=ODD_PARAMS)

PLANS = (
    PLAIN,
    Plan.for_tiers(SILU, tiers=tuple(Tier), device="cuda", target="sm_90", limits=Limits(case_s=3.0)),
    replace(PLAIN, cases=(), policy=Policy.STRICT),
    replace(PLAIN, seeds={SILU.cases[0].name: 2**62 - 1}),
    replace(PLAIN, benchmark=BenchmarkPlan(cases=SILU.cases[-2:])),
    replace(
        PLAIN,
        benchmark=BenchmarkPlan(
            cases=(), cache=CacheState.WARM, baselines=("eager", "compile"), case_s=0.25, ends_s=4.8, tuning_s=3.0
        ),
    ),
    replace(PLAIN, cases=(ODD,)),
    replace(PLAIN, one_worker=True),
)


@pytest.mark.parametrize("plan", PLANS)
def test_a_plan_survives_json(plan: Plan) -> None:
    read = Plan.from_json(plan.to_json())
    assert read == plan
    assert [list(map(type, case.params.values())) for case in read.cases] == [
        [str if isinstance(value, str) else type(value) for value in case.params.values()] for case in plan.cases
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_of_every_operator_survives_json(name: str) -> None:
    problem = find(name)
    plan = Plan.for_tiers(problem, tiers=tuple(Tier), device="cpu", target=None)
    assert Plan.from_json(plan.to_json()) == plan


def test_run_with_one_worker_times_nothing() -> None:
    with pytest.raises(ValueError, match="a run with one worker times nothing: leave out its benchmark"):
        replace(PLAIN, benchmark=BenchmarkPlan(cases=()), one_worker=True)


def test_a_plan_holds_no_callable() -> None:
    assert list(callables(PLANS[4], "plan")) == []


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"problem": 3}', PLAIN.to_json()[:-9], '{"device": {"float": "x"}}'])
def test_invalid_plan_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^not a plan: "):
        Plan.from_json(text)


def test_a_value_that_json_cannot_hold_is_refused() -> None:
    with pytest.raises(TypeError, match="cannot hold a function"):
        replace(PLAIN, device=test_a_plan_holds_no_callable).to_json()  # type: ignore[arg-type]  # the mistake that is meant


def callables(value: object, path: str) -> Any:
    """Where a record holds something that can be called."""
    if is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from callables(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, tuple):
        for place, item in enumerate(value):
            yield from callables(item, f"{path}[{place}]")
    elif callable(value):
        yield path
    else:
        msgspec.to_builtins(value, enc_hook=dict)
