"""Mistakes that pass unless a case has unusual values: NaN beside an infinity, several NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from problems.aten import argmax
from problems.rules.trial import Trial
from tests.operators import definition, described

Mistaken = Callable[..., Any]  # Any: what an entry returns


def argmax_with_nan_as_infinity(x: torch.Tensor, *arguments: Any) -> torch.Tensor:
    """The first of NaN and inf."""
    return argmax.reference(x.nan_to_num(torch.inf, torch.inf, -torch.inf), *arguments)


def argmax_with_last_nan(x: torch.Tensor, dim: int | None, keepdim: bool) -> torch.Tensor:
    """The last NaN of several, and the first of equal numbers."""
    rows = x.reshape(-1) if dim is None or x.dim() == 0 else x.movedim(dim, -1)
    last = rows.shape[-1] - 1 - rows.flip(-1).isnan().int().argmax(-1)
    usual = argmax.reference(x, dim, keepdim)
    return torch.where(rows.isnan().any(-1).reshape(usual.shape), last.reshape(usual.shape), usual)


MISTAKES = [("aten::argmax", argmax_with_nan_as_infinity), ("aten::argmax", argmax_with_last_nan)]


@pytest.mark.parametrize(("name", "mistake"), MISTAKES, ids=[mistake.__name__ for _, mistake in MISTAKES])
def test_mistake_that_usual_values_hide_is_rejected(name: str, mistake: Mistaken) -> None:
    trial = Trial(definition(name), described(name))
    rejected: list[str] = []
    passed: list[str] = []
    for case in trial.cases:
        answer = mistake(*trial.copies(case))
        (passed if trial.accepts(case, (answer,)) else rejected).append(case.name)
    assert rejected != []
    assert passed != []


@pytest.mark.parametrize("name", ["aten::argmax", "aten::amin", "aten::mean"])
@pytest.mark.parametrize("seed", range(3))
def test_special_lines_have_nan_and_infinity_in_both_orders(name: str, seed: int) -> None:
    problem = definition(name)
    special = [case for case in problem.cases if case.params["values"] == "special"]
    assert len(special) == 4
    for case in special:
        x, dims = problem.make_inputs(case, torch.Generator().manual_seed(seed))[0], case.params["dims"]
        assert isinstance(x, torch.Tensor)
        assert isinstance(dims, tuple)
        lines = x.movedim(dims[0], -1)
        both = [line for line in lines if line.isnan().any() and (line == torch.inf).any()]
        nan_first = [bool(line.isnan().int().argmax() < (line == torch.inf).int().argmax()) for line in both]
        assert sorted(nan_first) == [False, True]
        assert any(int(line.isnan().sum()) == 2 for line in lines)
