"""Inputs of both styles: one list, and groups with dtypes of their own from a data file."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pytest
import torch

from engine.model import Precision
from engine.reference.harness import OpenedTask, UnavailableError
from problems.suites.task import Task

Open = Callable[[str], OpenedTask]
NAME = "multikernelbench::npukernelbench_level1/3_add"


def inputs_of(arguments: object) -> tuple[torch.Tensor, torch.Tensor, float]:
    values = cast("tuple[tuple[torch.Tensor, torch.Tensor, float], ...]", arguments)
    return values[0]


def test_groups_keep_shapes_dtypes_and_numbers(opened: Open) -> None:
    task = opened(NAME)
    first, second = (inputs_of(task.draw(seed=1, weight_seed=2, case=f"group {number}")) for number in (1, 2))

    assert (first[0].shape, first[0].dtype, first[2]) == ((8,), torch.float32, 2.0)
    assert (second[1].shape, second[1].dtype, second[2]) == ((4, 1), torch.float16, -0.5)


def test_group_computed_in_own_and_double_precision(opened: Open) -> None:
    task = opened(NAME)
    arguments = task.draw(seed=1, weight_seed=2, case="group 2")
    x, y, alpha = inputs_of(arguments)
    (own,), (double,) = (task.expected(arguments, precision) for precision in (Precision.OWN, Precision.DOUBLE))

    assert torch.equal(own, torch.add(x, y, alpha=alpha))
    assert double.dtype is torch.float64


def test_single_list_of_inputs_is_passed(opened: Open) -> None:
    task = opened("multikernelbench::activation/swish")
    arguments = task.draw(seed=1, weight_seed=2, case="")
    (expected,) = task.expected(arguments, Precision.OWN)
    x = inputs_of(arguments)[0]

    torch.testing.assert_close(expected, x * torch.sigmoid(1.5 * x))


def test_group_with_more_inputs_than_forward_takes_raises(opened: Open) -> None:
    task = opened("multikernelbench::npukernelbench_level4/2_extra_input")
    arguments = task.draw(seed=1, weight_seed=2, case="group 1")

    with pytest.raises(TypeError, match="takes 2 positional arguments but 3 were given"):
        task.expected(arguments, Precision.OWN)


def test_unknown_group_unavailable(opened: Open) -> None:
    with pytest.raises(UnavailableError, match="it makes 2 groups of inputs, and no group 3"):
        opened(NAME).draw(seed=1, weight_seed=2, case="group 3")


def test_cases_after_rows_of_data_file(tasks: dict[str, Task]) -> None:
    assert tasks[NAME].cases == ("group 1", "group 2")
    assert tasks["multikernelbench::activation/swish"].cases == ()
