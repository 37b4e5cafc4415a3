"""Draws that are wrong in one way each are found, and right ones are not."""

from __future__ import annotations

import torch

from problems.kit.randomness import distribution_faults, mean_faults, repeat_faults

UNIFORM = torch.rand(4096, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
VARIANCES = torch.full_like(UNIFORM, 1 / 12)


def test_uniform_draws_have_no_fault() -> None:
    other = torch.rand(4096, generator=torch.Generator().manual_seed(6), dtype=torch.float64)
    assert distribution_faults(UNIFORM, "uniform") == []
    assert mean_faults(UNIFORM - 0.5, VARIANCES, 0.5) == []
    assert repeat_faults(UNIFORM - 0.5, other - 0.5, VARIANCES, 0.5) == []


def test_squared_draws_are_of_another_distribution() -> None:
    assert len(distribution_faults(UNIFORM**2, "uniform")) == 1


def test_repeated_draws_are_not_independent_of_neighbours() -> None:
    doubled = UNIFORM[:2048].repeat_interleave(2)
    assert [fault for fault in mean_faults(doubled - 0.5, VARIANCES, 0.5) if "1 places before" in fault] != []


def test_same_draws_in_two_calls_are_found() -> None:
    assert repeat_faults(UNIFORM - 0.5, UNIFORM - 0.5, VARIANCES, 0.5) != []
