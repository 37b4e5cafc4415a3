"""Findings from raw facts: each with the honest look-alike that it spares."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from engine.model import CacheState, Case, DType, FrameworkWork, Severity, Tier
from engine.model.benchmark import CANDIDATE, Method
from engine.timing.checks.evidence import early_calls, idle_calls, shared_outputs, uneven_calls
from engine.timing.facts import CaseFacts, ChunkTimes, SideFacts, Stretch
from tests.engine.toy_problem import toy_problem

CASE = Case(name="big", dtype=DType.FLOAT32, tier=Tier.BENCH, params={})
TOY = toy_problem(CASE)


def facts(*chunks: tuple[float, ...], idle: int = 0, method: Method = Method.CUPTI) -> CaseFacts:
    batches = [
        ChunkTimes(calls=len(spans) + idle, idle=idle, spans_us=spans, busy_us=spans, precise=True) for spans in chunks
    ]
    rounds = list(zip(batches[::2], batches[1::2], strict=True))
    return CaseFacts(
        case=CASE, cache=CacheState.COLD, candidate=SideFacts(name=CANDIDATE, method=method, rounds=rounds)
    )


def test_chunks_with_all_work_first_are_uneven():
    found = uneven_calls(facts((50.0, 1.0, 1.0, 1.0, 1.0), (30.0, 1.0, 1.0), (1.0, 40.0, 1.0, 1.0), (30.0, 1.0, 1.0)))
    assert found.message == (
        "the work of several calls was done in one: in 4 of 4 chunks the mean call time differs from the median, "
        "for example 10.8 us and 1 us"
    )


@pytest.mark.parametrize("seed", range(20))
def test_work_in_half_of_calls_is_uneven(seed):
    rng = random.Random(seed)
    chunks = [tuple(rng.choice((2.0, 8.0)) * rng.gauss(1, 0.04) for _ in range(12)) for _ in range(16)]
    found = uneven_calls(facts(*chunks))
    assert found is not None


@pytest.mark.parametrize("jitter", [0.03, 0.05])
def test_jitter_of_short_kernel_has_no_finding(jitter):
    rng = random.Random(4)
    for _ in range(300):
        chunks = [tuple(honest_us(rng, jitter) for _ in range(rng.randint(3, 12))) for _ in range(16)]
        found = uneven_calls(facts(*chunks))
        assert found is None


def honest_us(rng: random.Random, jitter: float) -> float:
    held_up = rng.uniform(1.5, 10.0) if rng.random() < 0.01 else 1.0
    return 8.0 * math.exp(rng.gauss(0, jitter)) * held_up


def test_outlier_in_every_second_chunk_has_no_finding():
    even, held_up = (10.0, 10.1, 9.9, 10.0), (5000.0, 10.0, 10.0, 10.0)
    assert uneven_calls(facts(*[held_up, even] * 4)) is None


def test_two_thirds_of_the_chunks_are_too_many():
    even, held_up = (10.0, 10.1, 9.9, 10.0), (50.0, 10.0, 10.0, 10.0)
    assert uneven_calls(facts(*[held_up] * 4, *[even] * 2)) is not None
    assert uneven_calls(facts(*[held_up] * 5, *[even] * 3)) is None


def test_clock_change_between_rounds_has_no_finding():
    assert uneven_calls(facts(*[(10.0 + step,) * 4 for step in range(8) for _ in (1, 2)])) is None


def test_content_dependent_times_have_no_finding():
    assert uneven_calls(facts((10.0, 14.0, 8.0), (9.0, 15.0, 11.0))) is None


@pytest.mark.parametrize(("slow_us", "uneven"), [(16.0, False), (40.0, True)])
def test_events_are_too_coarse_for_a_few_microseconds(slow_us, uneven):
    batches = [ChunkTimes(calls=3, streams_us=(slow_us, 10.0, 10.0))] * 2
    side = SideFacts(name=CANDIDATE, method=Method.EVENTS, rounds=[(batches[0], batches[1])])
    assert (uneven_calls(CaseFacts(case=CASE, cache=CacheState.COLD, candidate=side)) is not None) is uneven


def test_gaps_of_slow_host_are_not_work():
    batches = [ChunkTimes(calls=3, spans_us=(700.0, 80.0, 75.0), busy_us=(40.0, 40.1, 40.0), precise=True)] * 2
    side = SideFacts(name=CANDIDATE, method=Method.CUPTI, rounds=[(batches[0], batches[1])])
    assert uneven_calls(CaseFacts(case=CASE, cache=CacheState.COLD, candidate=side)) is None


def test_chunks_of_one_call_have_no_finding():
    assert uneven_calls(facts((10.0,), (90.0,))) is None


def test_idle_calls_are_counted():
    found = idle_calls(facts((10.0,), (10.0,), idle=1), TOY)
    assert found.message.startswith("2 of 4 timed calls launched no device work")
    assert idle_calls(facts((10.0,), (10.0,)), TOY) is None
    assert idle_calls(facts((10.0,), (10.0,), idle=1, method=Method.EVENTS), TOY) is None


@pytest.mark.parametrize(
    ("framework", "severity"),
    [
        ((), Severity.SUSPECT),
        ((FrameworkWork.ALLOCATION, FrameworkWork.METADATA), Severity.NOTE),
        ((FrameworkWork.VIEWS,), Severity.NOTE),
        ((FrameworkWork.ALLOCATION, FrameworkWork.COPIES), Severity.SUSPECT),
    ],
)
def test_idle_calls_are_suspect_where_answer_needs_work(framework, severity):
    problem = replace(TOY, framework=framework)
    assert idle_calls(facts((10.0,), (10.0,), idle=1), problem).severity is severity


@pytest.mark.parametrize(("early", "suspect"), [(0, False), (1, False), (2, True), (10, True)])
def test_tenth_of_calls_may_seem_early(early, suspect):
    observed = facts((10.0,), (10.0,))
    observed.candidate.rounds = [(ChunkTimes(calls=5, early=early // 2), ChunkTimes(calls=5, early=early - early // 2))]
    found = early_calls(observed)
    assert (found is not None) is suspect
    assert found is None or found.message.startswith(f"{early} of 10 timed calls started before earlier")


def test_bursts_with_only_last_call_verified_are_reported():
    observed = facts((10.0,), (10.0,))
    observed.candidate.bursts = [Stretch(calls=9, wall_s=1e-3, claimed_us=None)]
    assert shared_outputs(observed) is None
    observed.candidate.bursts.append(Stretch(calls=9, wall_s=1e-3, claimed_us=None, verified=False))
    found = shared_outputs(observed)
    assert (found.check, found.severity.value) == ("shared_outputs", "hint")
    assert "return new memory from every call" in found.message
