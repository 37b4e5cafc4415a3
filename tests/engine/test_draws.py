"""Numbers that a run draws, with and without a seed."""

from __future__ import annotations

import pytest

from engine.draws import Draws


def test_draws_of_equal_seed_and_scope_match():
    one, other = (Draws(7, "verification", "scalar f32") for _ in range(2))
    assert [one.number("fresh") for _ in range(3)] == [other.number("fresh") for _ in range(3)]


def test_draws_are_distinct():
    draws = Draws(7)
    assert len({*(draws.number("fresh") for _ in range(100)), *(draws.number("case") for _ in range(100))}) == 200


def test_draws_of_one_scope_do_not_affect_others():
    one, other = Draws(7), Draws(7)
    one.number("fresh")
    assert one.number("case") == other.number("case")


@pytest.mark.parametrize("changed", [Draws(8, "a"), Draws(7, "b"), Draws(7), Draws(7, "a", "")])
def test_another_seed_or_scope_draws_another_number(changed: Draws):
    assert changed.number("fresh") != Draws(7, "a").number("fresh")


@pytest.mark.parametrize("seed", [None, 7])
def test_numbers_have_at_most_requested_bits(seed: int | None):
    draws = Draws(seed)
    assert all(0 <= draws.number("poison", bits=8) < 256 for _ in range(1000))
    assert any(draws.number("poison", bits=8) >= 128 for _ in range(100))


def test_unseeded_draws_differ_and_have_no_seed():
    assert Draws().number("case") != Draws().number("case")
    assert Draws().seed_of("case") is None
