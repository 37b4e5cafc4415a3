"""Inputs and answers of GPU MODE's tasks, and both conventions of check_implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pytest
import torch

from engine.model.problems.suite_origin import Precision
from engine.reference.harness import OpenedTask, UnavailableError
from problems.suites.harness.gpu_mode import GpuModeTask, verdict_of

Open = Callable[[str], OpenedTask]


def test_input_of_case_with_fresh_seed(opened: Open) -> None:
    task = opened("gpu_mode::pmpp_v2/scale_py")
    (first,), (again,), (other,) = (task.draw(seed=seed, weight_seed=0, case="test 2") for seed in (1, 1, 2))

    assert [tensor.shape for tensor in first] == [(16, 5), (16,)]
    assert torch.equal(first[0], again[0])
    assert not torch.equal(first[0], other[0])


def test_expected_in_own_and_double_precision(opened: Open) -> None:
    task = opened("gpu_mode::pmpp_v2/scale_py")
    arguments = task.draw(seed=1, weight_seed=0, case="benchmark 1")
    (own,), (double,) = (task.expected(arguments, precision) for precision in (Precision.OWN, Precision.DOUBLE))

    assert (own.dtype, double.dtype, own.shape) == (torch.float16, torch.float64, (64, 64))


def test_reference_writes_to_a_copy_of_the_buffer(opened: Open) -> None:
    task = opened("gpu_mode::pmpp/histogram_py")
    ((values, buffer),) = task.draw(seed=1, weight_seed=0, case="test 1")
    buffer.fill_(-1)
    (counts,) = task.expected(((values, buffer),), Precision.OWN)

    assert (int(counts.sum()), int(buffer.max())) == (64, -1)


def test_unknown_case_unavailable(opened: Open) -> None:
    with pytest.raises(UnavailableError, match=r"its task\.yml has no test 9"):
        opened("gpu_mode::pmpp/histogram_py").draw(seed=1, weight_seed=0, case="test 9")


@pytest.mark.parametrize("name", ["pmpp/histogram_py", "pmpp_v2/scale_py"])
def test_own_check_right_and_wrong_answer(opened: Open, name: str) -> None:
    task = cast("GpuModeTask", opened(f"gpu_mode::{name}"))
    arguments = task.draw(seed=1, weight_seed=0, case="test 1")
    (expected,) = task.expected(arguments, Precision.OWN)

    assert task.passes_own_rule(arguments, (expected,))
    assert not task.passes_own_rule(arguments, (expected + 1,))


@pytest.mark.parametrize(
    ("returned", "verdict"),
    [
        ("", (True, "")),
        ("bin 3 differs", (False, "bin 3 differs")),
        ((True, ""), (True, "")),
        ((False, "no"), (False, "no")),
        (True, (True, "")),
    ],
)
def test_both_checker_conventions_have_equal_verdict(returned: object, verdict: tuple[bool, str]) -> None:
    assert verdict_of(returned) == verdict


def test_verdict_of_unknown_form_is_unavailable() -> None:
    with pytest.raises(UnavailableError, match="neither a text nor a pair"):
        verdict_of(None)
