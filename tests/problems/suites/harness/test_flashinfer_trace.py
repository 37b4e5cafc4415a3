"""Inputs, empty outputs and answers of flashinfer-trace's definitions."""

from __future__ import annotations

from collections.abc import Callable

import torch

from engine.model.problems.suite_origin import Precision
from engine.reference.harness import OpenedTask

Open = Callable[[str], OpenedTask]
NAME = "flashinfer_trace::rmsnorm/rmsnorm_h32"


def test_inputs_then_outputs_of_workload(opened: Open) -> None:
    hidden, weight, eps, output = opened(NAME).draw(seed=1, weight_seed=0, case="6abd9329")

    assert (hidden.shape, weight.shape, output.shape) == ((9, 32), (32,), (9, 32))
    assert (hidden.dtype, output.dtype, eps) == (torch.bfloat16, torch.bfloat16, 1e-5)
    assert not output.any()


def test_inputs_follow_the_seed(opened: Open) -> None:
    task = opened(NAME)
    first, again, other = (task.draw(seed=seed, weight_seed=0, case="4b7f0d02")[0] for seed in (1, 1, 2))

    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_expected_from_inputs_alone(opened: Open) -> None:
    task = opened(NAME)
    arguments = task.draw(seed=1, weight_seed=0, case="4b7f0d02")
    (own,), (double,) = (task.expected(arguments, precision) for precision in (Precision.OWN, Precision.DOUBLE))

    assert (own.shape, own.dtype, double.dtype) == ((4, 32), torch.bfloat16, torch.float64)


def test_memory_of_largest_workload_known(opened: Open) -> None:
    assert opened(NAME).needed_bytes() == 2 * 9 * 32 * 2 + 32 * 2 + 4
