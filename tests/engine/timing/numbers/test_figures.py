"""Times from raw facts: what counts, what does not, and what is said about it."""

from __future__ import annotations

import random

import pytest

from engine.model.benchmark import Method, Standing
from engine.timing.facts import ChunkTimes, SideFacts, Stretch
from engine.timing.numbers.figures import accepted_us, beside_s, compared, tick_us, timing_of, to_itself


def batch(*spans_us: float, streams_us: tuple[float, ...] = ()) -> ChunkTimes:
    return ChunkTimes(calls=max(1, len(spans_us)), spans_us=spans_us, streams_us=streams_us, activities=1, precise=True)


def side(name: str, pairs: list[tuple[ChunkTimes, ChunkTimes]], method: Method = Method.CUPTI) -> SideFacts:
    return SideFacts(name=name, method=method, rounds=pairs)


def rng() -> random.Random:
    return random.Random(3)


def test_a_time_is_the_median_of_all_calls():
    timing = timing_of(side("candidate", [(batch(10.0, 11.0), batch(12.0)), (batch(11.0), batch(10.0, 12.0))]), rng())
    assert timing.device_us.value == 11.0
    assert timing.samples_us == (10.0, 11.0, 12.0, 11.0, 10.0, 12.0)


def test_two_samples_are_a_device_time_and_one_is_none():
    one, two = side("candidate", [(batch(10.0), batch())]), side("candidate", [(batch(10.0), batch(12.0))])
    missing = "no device time: no activity was recorded on the device"
    assert (timing_of(one, rng()).device_us, timing_of(one, rng()).notes) == (None, (missing,))
    assert (timing_of(two, rng()).device_us.value, timing_of(two, rng()).notes) == (11.0, ())


def test_method_is_that_of_a_device_time_only():
    one, two = side("candidate", [(batch(10.0), batch())]), side("candidate", [(batch(10.0), batch(12.0))])
    assert (timing_of(one, rng()).method, timing_of(two, rng()).method) == (None, Method.CUPTI)


@pytest.mark.parametrize(("method", "most"), [(Method.CUPTI, 3), (Method.EVENTS, None)])
def test_activities_of_a_call_are_those_of_the_record(method, most):
    chunks = [
        ChunkTimes(calls=1, spans_us=(9.0,), streams_us=(9.0,), activities=count, precise=True) for count in (1, 3)
    ]
    assert timing_of(side("candidate", [(chunks[0], chunks[1])], method), rng()).activities == most


def test_chunks_without_precise_times_are_counted_in_a_note():
    coarse = ChunkTimes(calls=1, spans_us=(11.0,), streams_us=(11.0,))
    facts = side("candidate", [(batch(10.0), coarse), (batch(12.0), batch(10.0))])
    facts.reason = "another process had the record"
    note = "1 of 4 chunks have no precise times: another process had the record"
    assert timing_of(facts, rng()).notes == (note,)
    facts.method = Method.EVENTS
    assert note not in timing_of(facts, rng()).notes


@pytest.mark.parametrize(("usable", "value"), [(4, 20.0), (3, None)])
def test_half_of_the_bursts_give_the_whole_call(usable, value):
    facts = side("candidate", [])
    facts.round_trips_s = [100e-6]
    walls_s = [300e-6] * usable + [50e-6] * (8 - usable)
    facts.bursts = [Stretch(calls=10, wall_s=wall_s, claimed_us=None) for wall_s in walls_s]
    timing = timing_of(facts, rng())
    assert (timing.call_us and timing.call_us.value) == (value and pytest.approx(value))


def test_whole_call_is_event_time_confirmed_by_parent():
    facts = side("candidate", [])
    facts.round_trips_s = [100e-6, 90e-6, 110e-6]
    facts.bursts = [Stretch(calls=10, wall_s=300e-6, claimed_us=19.0) for _ in range(3)]
    timing = timing_of(facts, rng())
    assert (timing.call_us.value, timing.notes) == (19.0, ())


def test_whole_call_is_parent_time_without_exchange():
    facts = side("candidate", [])
    facts.round_trips_s = [100e-6, 90e-6, 110e-6]
    facts.bursts = [Stretch(calls=10, wall_s=300e-6, claimed_us=1.0) for _ in range(3)]
    timing = timing_of(facts, rng())
    assert timing.call_us.value == pytest.approx(20.0)
    assert timing.notes == ("the time of a whole call is by the parent's clock: the worker's clock disagreed",)


def test_burst_overhead_comes_from_bursts_of_one_call():
    facts = side("candidate", [])
    facts.round_trips_s = [100e-6]
    facts.bursts = [Stretch(calls=10, wall_s=500e-6 + 10 * 20e-6, claimed_us=None) for _ in range(3)]
    facts.short_bursts = [Stretch(calls=1, wall_s=500e-6 + 20e-6, claimed_us=None) for _ in range(3)]
    assert timing_of(facts, rng()).call_us.value == pytest.approx(20.0)


def test_whole_call_of_baseline_uses_judge_clock():
    facts = side("eager", [])
    facts.trusted = True
    facts.bursts = [Stretch(calls=10, wall_s=300e-6, claimed_us=12.0) for _ in range(3)]
    assert timing_of(facts, rng()).call_us.value == 12.0


def test_burst_below_exchange_time_has_no_time():
    facts = side("candidate", [])
    facts.round_trips_s = [1.0]
    facts.bursts = [Stretch(calls=10, wall_s=300e-6, claimed_us=None)] * 3
    timing = timing_of(facts, rng())
    assert timing.call_us is None
    assert timing.notes == ("no time of a whole call: it cannot be separated from the exchange with the process",)


def test_graphs_of_two_lengths_give_launch_time():
    many = [Stretch(calls=10, wall_s=150e-6 + 10 * 20e-6, claimed_us=None)]
    one = [Stretch(calls=1, wall_s=150e-6 + 20e-6, claimed_us=None)]
    assert beside_s(many, one, [1.0]) == pytest.approx(150e-6)
    assert beside_s(many, [], [90e-6, 100e-6, 1.0]) == 100e-6
    assert beside_s([], [], []) == 0.0


@pytest.mark.parametrize(
    ("claimed_us", "expected_us"),
    [(20.0, 20.0), (18.0, 18.0), (5.0, 20.0), (30.0, 20.0), (None, 20.0)],
    ids=["right", "nearly", "too short", "too long", "none"],
)
def test_claimed_time_is_limited_by_parent_clock(claimed_us, expected_us):
    stretch = Stretch(calls=50, wall_s=100e-6 + 50 * 20e-6, claimed_us=claimed_us)
    assert accepted_us([stretch], 100e-6, trusted=False) == [pytest.approx(expected_us)]


@pytest.mark.parametrize(
    ("calls", "claimed_us", "believed_us"), [(10, 15.5, 15.5), (10, 14.5, 20.0), (100, 16.5, 16.5), (100, 15.5, 20.0)]
)
def test_claim_may_be_shorter_by_a_launch_or_a_fifth(calls, claimed_us, believed_us):
    stretch = Stretch(calls=calls, wall_s=100e-6 + calls * 20e-6, claimed_us=claimed_us)
    assert accepted_us([stretch], 100e-6, trusted=False) == [pytest.approx(believed_us)]


def held_up(*delays_s: float) -> list[Stretch]:
    return [Stretch(calls=50, wall_s=100e-6 + 50 * 20e-6 + delay_s, claimed_us=20.0) for delay_s in delays_s]


def test_busy_parent_contradicts_no_mostly_confirmed_claims():
    assert accepted_us(held_up(0.030, 0.0, 0.0, 0.004), 100e-6, trusted=False) == [20.0] * 4


def test_mostly_unconfirmed_claims_are_checked_one_by_one():
    believed = accepted_us(held_up(0.030, 0.0, 0.004), 100e-6, trusted=False)
    assert believed == [pytest.approx(620.0), 20.0, pytest.approx(100.0)]


def test_claim_below_the_shortest_interval_never_counts():
    honest = Stretch(calls=50, wall_s=100e-6 + 50 * 20e-6, claimed_us=20.0)
    forged = Stretch(calls=50, wall_s=100e-6 + 50 * 30e-6, claimed_us=15.0)
    assert accepted_us([honest, honest, forged], 100e-6, trusted=False) == [20.0, 20.0, pytest.approx(30.0)]


def test_unconfirmed_claim_is_replaced_by_measured_times():
    stretches = [Stretch(calls=50, wall_s=100e-6 + 50 * took_s, claimed_us=5.0) for took_s in (20e-6, 30e-6)]
    assert accepted_us(stretches, 100e-6, trusted=False) == [pytest.approx(20.0), pytest.approx(30.0)]


def test_the_judges_claim_always_counts():
    assert accepted_us([Stretch(calls=1, wall_s=9.0, claimed_us=5.0)], 0.0, trusted=True) == [5.0]


def test_clock_step_is_found_from_its_times():
    assert tick_us([1.0, 1.5, 3.0, 1.0]) == 0.5
    assert tick_us([1.0, 1.0]) is None
    assert tick_us([]) is None


def test_difference_of_one_clock_step_does_not_count():
    steps = [(batch(2.0), batch(2.0)), (batch(2.0), batch(2.0)), (batch(2.0), batch(2.0))]
    slower = [(batch(2.5), batch(2.5)), (batch(2.5), batch(2.5)), (batch(2.5), batch(2.5))]
    comparison, _ = compared(side("candidate", steps), side("eager", slower), rng())
    assert comparison.resolution == 0.25
    assert comparison.standing is Standing.SAME


def test_sides_with_different_timers_are_compared_by_events():
    both = (batch(10.0, streams_us=(12.0,)), batch(10.0, streams_us=(12.0,)))
    events = (batch(streams_us=(24.0,)), batch(streams_us=(24.0,)))
    comparison, method = compared(side("candidate", [both] * 3), side("eager", [events] * 3, Method.EVENTS), rng())
    assert method is Method.EVENTS
    assert comparison.speedup.value == pytest.approx(2.0)


def test_sides_without_a_common_timer_are_not_compared():
    with pytest.raises(ValueError, match="no method timed both sides"):
        compared(side("candidate", [(batch(10.0), batch(10.0))] * 3), side("eager", [(batch(), batch())] * 3), rng())


def test_self_comparison_pairs_two_chunks_of_round():
    rounds = [(batch(10.0), batch(10.1)), (batch(10.0), batch(9.9)), (batch(10.0), batch(10.0))]
    ratio = to_itself(side("candidate", rounds), rng())
    assert ratio.low <= 1.0 <= ratio.high
    assert to_itself(side("candidate", rounds[:1]), rng()) is None
