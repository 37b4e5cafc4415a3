"""Draws that are wrong in one way each are found, and right ones are not."""

from __future__ import annotations

import torch

from problems.aten import poisson
from problems.kit.randomness import (
    distribution_faults,
    lag_faults,
    mean_faults,
    neighbour_faults,
    repeat_faults,
    repeated_faults,
    shared_faults,
)

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


def test_mirrored_half_is_not_independent_of_the_other() -> None:
    mirrored = torch.cat((UNIFORM[:2048], 1 - UNIFORM[:2048]))
    assert [fault for fault in mean_faults(mirrored - 0.5, VARIANCES, 0.5) if "2048 places before" in fault] != []


def test_programs_one_offset_apart_are_not_independent() -> None:
    lane = torch.arange(4096)
    overlapping = UNIFORM[lane // 256 + lane % 256]
    assert [fault for fault in mean_faults(overlapping - 0.5, VARIANCES, 0.5) if "255 places before" in fault] != []


def test_draws_repeated_at_an_untested_distance_are_found() -> None:
    repeated = UNIFORM[torch.arange(4096) % 3000] - 0.5
    found = [
        "draws are not independent of those 3000 places before: off by 90.12, at most 23.91 is expected of 4096 draws"
    ]
    assert lag_faults(repeated, VARIANCES, 0.5) == found
    assert mean_faults(repeated, VARIANCES, 0.5) == found


def test_repeated_draws_of_several_probabilities_are_found() -> None:
    chances = torch.where(torch.arange(4096) % 2 == 0, 0.25, 0.5).double()
    repeated = (UNIFORM[torch.arange(4096) % 2999] < chances).double() - chances
    faults = lag_faults(repeated, chances * (1 - chances), 1.0)
    assert [fault for fault in faults if "2999 places before" in fault] != []


def test_right_draws_of_rare_events_are_independent_at_all_distances() -> None:
    chances = torch.where(torch.arange(4096) % 2 == 0, 0.001, 0.01).double()
    draws = (chances > UNIFORM).double()
    assert lag_faults(draws - chances, chances * (1 - chances), 1.0) == []
    assert lag_faults(draws[::2] - 0.001, torch.full((2048,), 0.000999, dtype=torch.float64), 1.0) == []


def test_nan_draws_are_not_independent() -> None:
    assert len(lag_faults(torch.full((64,), torch.nan, dtype=torch.float64), VARIANCES[:64], 0.5)) == 1


def test_distances_of_no_or_one_draw_are_none() -> None:
    assert lag_faults(UNIFORM[:1] - 0.5, VARIANCES[:1], 0.5) == []
    assert lag_faults(UNIFORM[:0], VARIANCES[:0], 0.5) == []


def test_draw_shared_by_neighbouring_programs_is_found() -> None:
    lane = torch.arange(4096)
    shared = UNIFORM[lane - lane // 512].float()
    assert neighbour_faults(shared) == ["7 draws are equal to the one before, fewer than 4 are expected of 4096"]
    assert neighbour_faults(UNIFORM.float()) == []
    assert neighbour_faults(shared.half()) == []


def test_stream_that_begins_one_later_is_found() -> None:
    faults = repeat_faults(UNIFORM[:-1] - 0.5, UNIFORM[1:] - 0.5, VARIANCES[1:], 0.5)
    assert faults == []
    faults = repeat_faults(UNIFORM[1:] - 0.5, UNIFORM[:-1] - 0.5, VARIANCES[1:], 0.5)
    assert [fault for fault in faults if "at a distance of 1:" in fault] != []


def test_draws_of_few_bits_repeat_too_often() -> None:
    found = "133 draws have the value of an earlier one, fewer than 34 are expected of 4096"
    assert repeated_faults((UNIFORM * 2**16).floor().float()) == [found]
    assert repeated_faults(UNIFORM.float()) == []
    assert repeated_faults(UNIFORM.half()) == []


def test_draws_of_an_earlier_call_are_found_anywhere() -> None:
    draws = UNIFORM.float()
    found = "1048 draws are among those of the call before, fewer than 24 are expected of 2048"
    assert shared_faults(draws[1000:3048], draws[:2048]) == [found]
    assert shared_faults(draws[:2048], draws[2048:]) == []


def test_rounded_normal_draws_are_not_poisson() -> None:
    rates = torch.full((40_000,), 12.0)
    rng = torch.Generator().manual_seed(5)
    normal = (rates + rates.sqrt() * torch.randn(rates.shape, generator=rng)).round()
    assert len(poisson._skewness(normal.double(), rates.double())) == 1
    assert poisson._skewness(torch.poisson(rates, rng).double(), rates.double()) == []
