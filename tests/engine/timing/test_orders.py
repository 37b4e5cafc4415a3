"""The arithmetic of slots, chunk sizes and budgets."""

from __future__ import annotations

import random

import pytest

from engine.timing.orders import Bounds, Costs, SlotRing, bounds, calls_within, rounds_within


def ring(slots: int, seed: int = 1) -> SlotRing:
    return SlotRing(slots, rng=random.Random(seed))


def test_slot_order_wraps_around():
    turns = ring(5)
    assert [turns.take(3), turns.take(3), turns.take(3)] == [(0, 1, 2), (3, 4, 0), (1, 2, 3)]


def test_a_chunk_has_each_slot_once():
    assert ring(4).take(9) == (0, 1, 2, 3)


def test_ring_is_complete_after_every_slot():
    turns = ring(4)
    turns.take(3)
    assert not turns.is_round_complete
    turns.take(1)
    assert turns.is_round_complete


def test_shortened_ring_never_grows_or_exceeds_its_end():
    turns = ring(10)
    turns.take(9)
    turns.keep(4)
    assert turns.take(4) == (1, 2, 3, 0)
    turns.keep(99)
    assert turns.slots == 4


@pytest.mark.parametrize("about", [1, 3, 20, 64])
def test_drawn_sizes_differ_and_stay_inside_the_bounds(about):
    turns, allowed = ring(64), Bounds(least=3, most=64)
    drawn = {turns.draw(about, allowed) for _ in range(200)}
    assert len(drawn) > 1
    assert min(drawn) >= 3 and max(drawn) <= 64


def test_drawn_sizes_are_half_to_one_and_a_half_times():
    turns, allowed = ring(64), Bounds(least=3, most=64)
    assert {turns.draw(20, allowed) for _ in range(500)} == set(range(10, 31))


def test_bounds_without_choice_are_kept():
    assert {ring(1).draw(8, Bounds(least=1, most=1)) for _ in range(10)} == {1}


def test_chunks_have_at_least_three_calls_by_default():
    assert bounds(slots=64, call_s=0.001) == Bounds(least=3, most=64)
    assert bounds(slots=64, call_s=0.021) == Bounds(least=1, most=64)
    assert bounds(slots=2, call_s=0.001) == Bounds(least=2, most=2)
    assert bounds(slots=256, call_s=0.001).most == 64


def test_costs_are_distinguished_by_chunk_and_by_call():
    costs = Costs()
    for calls in (3, 10, 20, 5):
        costs.add(calls, 0.002 + 0.0005 * calls)
    assert costs.line == (pytest.approx(0.002), pytest.approx(0.0005))


def test_costs_of_one_size_are_all_the_calls():
    costs = Costs()
    costs.add(4, 0.2)
    costs.add(4, 0.2)
    assert costs.line == (0.0, pytest.approx(0.05))


def test_costs_falling_with_size_belong_to_chunks():
    costs = Costs()
    costs.add(2, 0.4)
    costs.add(8, 0.2)
    assert costs.line == (pytest.approx(0.3), 0.0)


def test_costs_are_zero_without_chunks():
    costs = Costs()
    assert costs.line == (0.0, 0.0)
    costs.add(2, 0.4)
    costs.clear()
    assert costs.line == (0.0, 0.0)


@pytest.mark.parametrize(("remaining_s", "rounds"), [(0.0, 8), (1.0, 10), (1.5, 15), (9.0, 20), (-1.0, 8)])
def test_rounds_fit_between_eight_and_twenty(remaining_s, rounds):
    assert rounds_within(remaining_s, 0, chunk_s=0.05, call_s=0.01) == rounds


def test_rounds_that_are_done_count():
    assert rounds_within(1.0, 1, chunk_s=0.05, call_s=0.01) == 11
    assert rounds_within(0.0, 1, chunk_s=0.05, call_s=0.01) == 8


@pytest.mark.parametrize(("remaining_s", "calls"), [(1.0, 5), (0.2, 3), (-5.0, 3), (100.0, 64)])
def test_calls_fill_the_time_that_is_left(remaining_s, calls):
    allowed = Bounds(least=3, most=64)
    assert calls_within(remaining_s, 10, chunk_s=0.05, call_s=0.01, bounds=allowed) == calls


def test_calls_without_cost_are_as_many_as_allowed():
    assert calls_within(1.0, 10, chunk_s=0.05, call_s=0.0, bounds=Bounds(least=3, most=9)) == 9
