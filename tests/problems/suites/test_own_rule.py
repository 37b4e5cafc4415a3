"""The rules of suites as functions of outputs and expected outputs, at their thresholds."""

from __future__ import annotations

import pytest
import torch

from engine.model import CalledCase, Case, DType, Tier
from problems.suites.own_rule import rule_of
from problems.suites.task import Closeness, OwnRule, RuleKind

NAN, INF = float("nan"), float("inf")
CASE = Case(name="one", dtype=DType.FLOAT32, tier=Tier.SMOKE, params={})


def passes(rule: OwnRule, got: torch.Tensor, expected: torch.Tensor) -> bool:
    function = rule_of(rule)
    assert function is not None
    return function(CalledCase(case=CASE, arguments=(), outputs=(got,), expected=(expected,)))


def allclose(*, equal_nan: bool = False) -> OwnRule:
    closeness = {"float32": Closeness(relative=0.0, absolute=0.5)}
    return OwnRule(kind=RuleKind.ALLCLOSE, sentence="", closeness=closeness, equal_nan=equal_nan)


def matched(least: float) -> OwnRule:
    closeness = {"": Closeness(relative=0.1, absolute=0.1)}
    return OwnRule(kind=RuleKind.MATCHED_RATIO, sentence="", closeness=closeness, least_matched=least)


DISTANCES = OwnRule(kind=RuleKind.DISTANCES, sentence="", thresholds={"cosine": 0.95, "l1": 0.05, "rmse": 0.1})


@pytest.mark.parametrize(
    ("rule", "got", "expected", "passed"),
    [
        (allclose(), [1.5], [1.0], True),
        (allclose(), [1.6], [1.0], False),
        (allclose(), [NAN], [NAN], False),
        (allclose(equal_nan=True), [NAN], [NAN], True),
        (matched(1.0), [100.0, 1.0], [109.0, 1.0], True),  # within the relative bound
        (matched(1.0), [0.05, 1.0], [0.0, 1.0], True),  # within the absolute bound
        (matched(1.0), [1.2, 1.0], [1.0, 1.0], False),
        (matched(0.5), [1.2, 1.0], [1.0, 1.0], True),
        (matched(0.5), [INF, 1.0], [INF, 1.0], False),
        (DISTANCES, [10.0, 10.1], [10.0, 10.0], True),
        (DISTANCES, [10.0, 10.2], [10.0, 10.0], False),  # rmse 0.14, although l1 is 0.01
        (DISTANCES, [0.01, 0.02], [0.01, 0.01], False),  # l1 0.5, although rmse is 0.007
    ],
)
def test_rule_at_its_thresholds(rule: OwnRule, got: list[float], expected: list[float], passed: bool) -> None:
    assert passes(rule, torch.tensor(got), torch.tensor(expected)) is passed


def test_dtype_outside_of_table_has_no_tolerance() -> None:
    near = torch.tensor([1.0 + 1e-15], dtype=torch.float64)

    assert not passes(allclose(), near, torch.ones(1, dtype=torch.float64))


def test_other_shape_is_not_close() -> None:
    assert not passes(allclose(), torch.ones(1), torch.ones(2))


@pytest.mark.parametrize("kind", [RuleKind.PRINTED, RuleKind.OWN_CODE])
def test_suite_code_rule_is_not_a_function(kind: RuleKind) -> None:
    assert rule_of(OwnRule(kind=kind, sentence="")) is None
