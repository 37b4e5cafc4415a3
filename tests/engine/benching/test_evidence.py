"""Findings from raw facts: each with the honest look-alike that it spares."""

from __future__ import annotations

import pytest

from engine.benching.evidence import against_the_clock, idle_calls, uneven_calls
from engine.benching.facts import Batch, CaseFacts, SideFacts, Stretch
from engine.benchmark import CANDIDATE, Interval, Method, Timing
from engine.model import CacheState, Case, DType, Tier

CASE = Case(name="big", dtype=DType.FLOAT32, tier=Tier.BENCH, params={})


def facts(*chunks: tuple[float, ...], idle: int = 0, method: Method = Method.CUPTI) -> CaseFacts:
    batches = [Batch(calls=len(spans) + idle, idle=idle, spans_us=spans, precise=True) for spans in chunks]
    rounds = list(zip(batches[::2], batches[1::2], strict=True))
    return CaseFacts(
        case=CASE, cache=CacheState.COLD, candidate=SideFacts(name=CANDIDATE, method=method, rounds=rounds)
    )


def timing(device_us: float, *, activities: int = 1) -> Timing:
    interval = Interval(value=device_us, low=device_us, high=device_us)
    return Timing(
        side=CANDIDATE, method=Method.CUPTI, device_us=interval, call_us=None, activities=activities
    )  # fmt: skip


def test_chunks_whose_first_call_does_everything_are_uneven():
    found = uneven_calls(facts((50.0, 1.0, 1.0, 1.0, 1.0), (30.0, 1.0, 1.0), (1.0, 40.0, 1.0, 1.0), (30.0, 1.0, 1.0)))
    assert found.message.startswith(
        "work of several calls was done in one: the median call takes 1 us, but the mean is"
    )
    assert "4 of 4 chunks" in found.message


def test_an_outlier_of_an_honest_kernel_is_no_such_thing():
    even = (10.0, 10.1, 9.9, 10.0)
    assert uneven_calls(facts((5000.0, 10.0, 10.0, 10.0), *[even] * 7)) is None


def test_a_kernel_whose_time_depends_on_its_content_is_no_such_thing():
    assert uneven_calls(facts((10.0, 14.0, 8.0), (9.0, 15.0, 11.0))) is None


def test_chunks_of_one_call_say_nothing():
    assert uneven_calls(facts((10.0,), (90.0,))) is None


def test_idle_calls_are_counted():
    assert idle_calls(facts((10.0,), (10.0,), idle=1)).message.startswith("2 of 4 timed calls put nothing")
    assert idle_calls(facts((10.0,), (10.0,))) is None
    assert idle_calls(facts((10.0,), (10.0,), idle=1, method=Method.EVENTS)) is None


def test_one_kernel_cannot_take_longer_than_a_burst_of_it():
    observed = facts((50.0,), (50.0,))
    observed.candidate.bursts = [Stretch(calls=10, wall_s=300e-6, claimed_us=None)]
    assert against_the_clock(observed, timing(50.0), None).check == "wall_clock"


def test_several_launches_may_take_longer_alone_than_in_a_burst():
    observed = facts((50.0,), (50.0,))
    observed.candidate.bursts = [Stretch(calls=10, wall_s=300e-6, claimed_us=None)]
    assert against_the_clock(observed, timing(50.0, activities=2), None) is None


@pytest.mark.parametrize(("drain_us", "suspect"), [(0.0, True), (12.0, False), (None, False)])
def test_a_graph_may_wait_for_what_a_single_call_leaves_in_the_cache(drain_us, suspect):
    observed = facts((20.0,), (20.0,))
    observed.candidate.clock_replays = [Stretch(calls=100, wall_s=100e-6 + 100 * 32e-6, claimed_us=None)]
    observed.candidate.short_clock_replays = [Stretch(calls=1, wall_s=100e-6 + 32e-6, claimed_us=None)]
    assert (against_the_clock(observed, timing(20.0), drain_us) is not None) is suspect


def test_a_clock_that_varies_by_more_than_the_difference_rules_nothing_out():
    observed = facts((20.0,), (20.0,))
    walls_s = (3.3e-3, 5.3e-3, 5.3e-3)
    observed.candidate.clock_replays = [Stretch(calls=100, wall_s=wall_s, claimed_us=None) for wall_s in walls_s]
    observed.candidate.short_clock_replays = [Stretch(calls=1, wall_s=132e-6, claimed_us=None)]
    assert against_the_clock(observed, timing(20.0), 0.0) is None
