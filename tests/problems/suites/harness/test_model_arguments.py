"""Inputs of every kind that forks of KernelBench return, as positional arguments."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from engine.reference.harness import UnavailableError
from problems.suites.harness.model_arguments import constructor_arguments, forward_arguments


class Model(torch.nn.Module):
    def __init__(self, rows: int, /, columns: int = 2, *, scale: float = 1.0) -> None:
        super().__init__()

    def forward(self, x: torch.Tensor, y: torch.Tensor | None = None) -> torch.Tensor:
        return x


X, Y = torch.ones(2), torch.zeros(3)


@pytest.mark.parametrize(
    "made", [[X, Y], (X, Y), iter([X, Y]), {"y": Y, "x": X}], ids=["list", "tuple", "iterator", "dict"]
)
def test_inputs_of_any_container_by_position(made: object) -> None:
    one, other = forward_arguments(Model, made)

    assert one is X and other is Y


def test_bare_tensor_is_the_only_input() -> None:
    (only,) = forward_arguments(Model, X)

    assert only is X


@pytest.mark.parametrize(
    ("made", "wanted"),
    [(None, ()), (3, (3,)), ([np.int64(3), 4], (3, 4)), ([[3], {"columns": 5}], (3, 5)), ((3, (1, 2)), (3, (1, 2)))],
)
def test_constructor_arguments_are_ordered_by_position(made: object, wanted: tuple[object, ...]) -> None:
    found = constructor_arguments(Model, made)

    assert found == wanted
    assert [type(one) for one in found] == [type(one) for one in wanted]


@pytest.mark.parametrize(
    ("made", "said"),
    [([[3], {"scale": 2.0}], "scale can be given by name only"), ({"width": 3}, "do not fit its Model")],
)
def test_argument_without_position_refused(made: object, said: str) -> None:
    with pytest.raises(UnavailableError, match=said):
        constructor_arguments(Model, made)
