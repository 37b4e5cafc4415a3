"""What the parent's clock has against a device time, and what it leaves an honest one."""

from __future__ import annotations

import pytest

from engine.model import CacheState, Case, DType, Severity, Tier
from engine.model.benchmark import CANDIDATE, Interval, Method, Timing
from engine.timing.checks.wall_clock import against_the_clock
from engine.timing.facts import CaseFacts, SideFacts, Stretch

CASE = Case(name="big", dtype=DType.FLOAT32, tier=Tier.BENCH, params={})
EXCHANGE_S = 100e-6


def facts() -> CaseFacts:
    side = SideFacts(name=CANDIDATE, method=Method.CUPTI, round_trips_s=[EXCHANGE_S])
    return CaseFacts(case=CASE, cache=CacheState.COLD, candidate=side)


def timing(device_us: float, *, activities: int = 1) -> Timing:
    interval = Interval(value=device_us, low=device_us, high=device_us)
    return Timing(side=CANDIDATE, method=Method.CUPTI, device_us=interval, call_us=None, activities=activities)


def stretches(calls: int, *each_us: float) -> list[Stretch]:
    return [Stretch(calls=calls, wall_s=EXCHANGE_S + calls * one_us * 1e-6, claimed_us=None) for one_us in each_us]


def replayed(*, verified_us: float, repeated_us: float) -> CaseFacts:
    """Graphs of a hundred calls and of one."""
    observed = facts()
    side = observed.candidate
    side.replays, side.short_replays = stretches(100, *[verified_us] * 3), stretches(1, *[verified_us] * 3)
    side.clock_replays, side.short_clock_replays = stretches(100, *[repeated_us] * 8), stretches(1, *[repeated_us] * 8)
    return observed


def test_one_kernel_cannot_exceed_its_quickest_burst():
    observed = facts()
    observed.candidate.bursts = [
        Stretch(calls=10, wall_s=wall_s, claimed_us=None) for wall_s in (900e-6, 300e-6, 800e-6)
    ]
    assert against_the_clock(observed, timing(50.0), None).severity is Severity.SUSPECT


def test_several_launches_may_exceed_their_burst():
    observed = facts()
    observed.candidate.bursts = [Stretch(calls=10, wall_s=300e-6, claimed_us=None)]
    assert against_the_clock(observed, timing(50.0, activities=2), None) is None


@pytest.mark.parametrize(("drain_us", "suspect"), [(0.0, True), (12.0, False), (None, False)])
def test_graph_may_wait_for_cached_data_of_call(drain_us, suspect):
    observed = replayed(verified_us=32.0, repeated_us=32.0)
    assert (against_the_clock(observed, timing(20.0), drain_us) is not None) is suspect


@pytest.mark.parametrize(
    ("verified_us", "repeated_us", "reported"),
    [
        (21.0, 21.0, None),
        (40.0, 21.0, "a replayed graph needs 39.6 us"),
        (21.0, 40.0, "a replayed graph needs 39.6 us"),
        (21.0, 5.0, "takes 20.79 us where its answers are verified, and 4.95 us where the replay is repeated"),
        (5.0, 21.0, "takes 4.95 us where its answers are verified, and 20.79 us where the replay is repeated"),
        (5.0, 5.0, None),  # a graph spares the gaps within a call
    ],
)
def test_replay_times_must_agree_with_device_time(verified_us, repeated_us, reported):
    found = against_the_clock(replayed(verified_us=verified_us, repeated_us=repeated_us), timing(20.0), 0.0)
    assert (found is None) is (reported is None)
    assert found is None or (found.severity is Severity.SUSPECT and reported in found.message)


@pytest.mark.parametrize(("slowest_us", "is_suspect"), [(251.0, True), (300.0, False)])
def test_slow_short_replay_makes_short_graphs_uncertain(slowest_us: float, is_suspect: bool) -> None:
    observed = facts()
    side = observed.candidate
    side.replays = [Stretch(calls=2, wall_s=one_us * 1e-6, claimed_us=None) for one_us in (300.0, 301.0, 305.0)]
    side.short_replays = [
        Stretch(calls=1, wall_s=one_us * 1e-6, claimed_us=None) for one_us in (250.0, 251.0, slowest_us)
    ]
    assert (against_the_clock(observed, timing(2.0), 0.0) is not None) is is_suspect


def test_clock_noise_above_difference_rules_nothing_out():
    observed = replayed(verified_us=21.0, repeated_us=21.0)
    observed.candidate.clock_replays = stretches(100, 32.0, 52.0, 52.0)
    assert against_the_clock(observed, timing(20.0), 0.0) is None


@pytest.mark.parametrize(
    ("burst_us", "drain_us", "severity"),
    [
        (24.0, 0.0, None),
        (60.0, 0.0, Severity.HINT),
        (60.0, None, Severity.HINT),
        (35.0, 12.0, None),  # the burst waits for what a call leaves in the cache
        (900.0, 0.0, Severity.SUSPECT),
    ],
)
def test_bursts_are_compared_with_device_time_without_graph(burst_us, drain_us, severity):
    observed = facts()
    observed.candidate.bursts = stretches(50, burst_us * 3, burst_us, burst_us * 2)
    found = against_the_clock(observed, timing(20.0), drain_us)
    assert (found.severity if found is not None else None) is severity


def test_slow_launches_with_graph_are_not_flagged():
    observed = replayed(verified_us=21.0, repeated_us=21.0)
    observed.candidate.bursts = stretches(50, 900.0)
    assert against_the_clock(observed, timing(20.0), 0.0) is None


def test_bursts_below_exchange_time_decide_nothing():
    observed = facts()
    observed.candidate.bursts = [Stretch(calls=2, wall_s=EXCHANGE_S - 1e-6, claimed_us=None)]
    assert against_the_clock(observed, timing(20.0), 0.0) is None
