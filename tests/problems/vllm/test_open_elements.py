"""Elements that an operator leaves open: its comparer names them, and counts every other change."""

from __future__ import annotations

import pytest
import torch

from engine.model import CalledCase, ProblemDefinition
from problems.vllm import convert_vertical_slash_indexes, scaled_fp8_quant


@pytest.mark.parametrize(
    ("problem", "case_name", "number"),
    [
        (convert_vertical_slash_indexes.PROBLEM, "", 1),
        (convert_vertical_slash_indexes.PROBLEM, "", 3),
        (scaled_fp8_quant.PROBLEM, "padded to 16", 0),
    ],
    ids=["listed blocks", "listed columns", "padded rows"],
)
def test_changed_element_is_wrong_unless_left_open(problem: ProblemDefinition, case_name: str, number: int):
    case = next(case for case in problem.cases if case_name in case.name)
    arguments = problem.make_inputs(case, torch.Generator().manual_seed(1))
    expected = problem.reference(*arguments)
    assert isinstance(expected, tuple) and problem.compare is not None
    changed = list(expected)
    changed[number] = (expected[number].view(torch.uint8) ^ 0x40).view(expected[number].dtype)
    called = CalledCase(case=case, arguments=arguments, outputs=tuple(changed), expected=expected)
    match = problem.compare(called)[number]
    assert match.left_open is not None
    assert torch.equal(match.wrong, ~match.left_open)
    assert bool(match.left_open.any()) and bool(match.wrong.any())
