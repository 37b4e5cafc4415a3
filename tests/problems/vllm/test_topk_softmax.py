"""Routing of tokens whose softmax can be checked by hand, and inputs whose order is beyond doubt."""

from __future__ import annotations

import math

import pytest
import torch

from engine.model import Case
from problems.vllm.topk_softmax import PROBLEM, make_inputs, reference

GATING = torch.tensor([[math.log(1), math.log(2), math.log(5)], [math.log(6), math.log(1), math.log(3)]])
TIED = ("ties", "near the largest")
BLANK = torch.zeros(2, 2), torch.zeros(2, 2, dtype=torch.int32), torch.zeros(2, 2, dtype=torch.int32)


@pytest.mark.parametrize(
    ("renormalize", "wanted"),
    [(False, [[5 / 8, 2 / 8], [6 / 10, 3 / 10]]), (True, [[5 / 7, 2 / 7], [6 / 9, 3 / 9]])],
)
def test_weights_are_the_largest_of_the_softmax(renormalize: bool, wanted: list[list[float]]) -> None:
    weights, ids, indices = reference(*BLANK, GATING, renormalize)
    assert torch.allclose(weights, torch.tensor(wanted))
    assert ids.tolist() == [[2, 1], [0, 2]]
    assert indices.tolist() == [[0, 2], [1, 3]]
    assert (weights.dtype, ids.dtype, indices.dtype) == (torch.float32, torch.int32, torch.int32)


@pytest.mark.parametrize("case", PROBLEM.cases, ids=lambda case: case.name)
def test_experts_of_token_are_equal_or_clearly_apart(case: Case) -> None:
    gating = make_inputs(case, torch.Generator().manual_seed(3))[3]
    assert isinstance(gating, torch.Tensor)
    gaps = gating.sort(-1).values.diff(dim=-1)
    gaps = gaps[gaps.isfinite()]
    assert bool(((gaps > 0.02) | ((gaps == 0) & (case.params["values"] in TIED))).all())
