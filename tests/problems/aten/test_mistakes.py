"""Mistakes that pass unless a case has unusual values: NaN beside an infinity, several NaN, large integers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
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


def alpha_of_16_bits(name: str, x: torch.Tensor, other: Any, alpha: float) -> Any:
    """Alpha of integers wraps around at 16 bits."""
    narrow = (int(alpha) + 2**15) % 2**16 - 2**15
    return definition(name).reference(x, other, alpha if x.is_floating_point() or x.is_complex() else narrow)


def alpha_in_float32(name: str, x: torch.Tensor, other: Any, alpha: float) -> Any:
    """Alpha of integers is rounded to 24 bits."""
    rounded = int(torch.tensor(alpha, dtype=torch.float32).item())
    return definition(name).reference(x, other, alpha if x.is_floating_point() or x.is_complex() else rounded)


def filled_through_float32(name: str, *arguments: Any) -> Any:
    """An answer of integers is rounded to 24 bits."""
    answer = definition(name).reference(*arguments)
    if isinstance(answer, tuple):
        return tuple(part.float().to(part.dtype) if _is_whole(part) else part for part in answer)
    return answer.float().to(answer.dtype) if _is_whole(answer) else answer


def _is_whole(x: torch.Tensor) -> bool:
    return not x.is_floating_point() and not x.is_complex()


SUMS = ("aten::add", "aten::add_", "aten::sub", "aten::rsub")
FILLS = ("aten::full", "aten::fill_", "aten::scalar_tensor")
MISTAKES: list[tuple[str, Mistaken]] = [
    ("aten::argmax", argmax_with_nan_as_infinity),
    ("aten::argmax", argmax_with_last_nan),
    *((name, partial(mistake, name)) for name in SUMS for mistake in (alpha_of_16_bits, alpha_in_float32)),
    *((name, partial(filled_through_float32, name)) for name in FILLS),
]


@pytest.mark.parametrize(("name", "mistake"), MISTAKES)
def test_mistake_that_usual_values_hide_is_rejected(name: str, mistake: Mistaken) -> None:
    trial = Trial(definition(name), described(name))
    rejected: list[str] = []
    passed: list[str] = []
    for case in trial.cases:
        answer = mistake(*trial.copies(case))
        outputs = answer if isinstance(answer, tuple) else (answer,)
        (passed if trial.accepts(case, outputs) else rejected).append(case.name)
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
