"""Outputs of few elements, which may be near zero by chance: an honest answer is right on every draw."""

from __future__ import annotations

import pytest
import torch

from engine.judge.inputs.outputs import eager_outputs, expected_outputs
from problems.rules.trial import within
from tests.operators import definition

NEAR_ZERO = [
    ("aten::logit", "scalar f32", 82),
]
"""Draws of an output so near zero that its own size allows less than one rounding of what it is made of."""


@pytest.mark.parametrize(("name", "case_name", "seed"), NEAR_ZERO)
def test_an_honest_answer_near_zero_is_right(name: str, case_name: str, seed: int) -> None:
    problem = definition(name)
    case = next(case for case in problem.cases if case.name == case_name)
    inputs = problem.make_inputs(case, torch.Generator().manual_seed(seed))
    expected, got = expected_outputs(problem, inputs), eager_outputs(problem, inputs)
    tolerance = problem.tolerance(case)
    assert all(within(tolerance, *pair) for pair in zip(got, expected, strict=True))
