"""How long a process is waited for, on a quiet machine and on a busy one."""

from __future__ import annotations

import pytest

from engine.cpu_time.deadline import (
    LEAST_MOST_S,
    MOST_TIMES,
    Interval,
    WaitDecision,
    Waited,
    longer,
    together,
    wait_decision,
)

LIMIT_S = 10.0


def waited(seconds: float, *, cores: int = 2, **each: float) -> Waited:
    """So long, in intervals of a second, in each of which so much was used."""
    so_far = Waited()
    for _ in range(round(seconds)):
        so_far = longer(so_far, Interval(wall_s=1.0, **each), cores=cores)
    return so_far


@pytest.mark.parametrize(
    ("seconds", "each", "expected"),
    [
        (9, {"cpu_s": 1.0}, WaitDecision.WAIT),
        (10, {"cpu_s": 1.0}, WaitDecision.TIMED_OUT),
        (19, {}, WaitDecision.WAIT),
        (20, {}, WaitDecision.TIMED_OUT),
        (39, {"cpu_s": 0.25, "delayed_s": 0.75}, WaitDecision.WAIT),
        (40, {"cpu_s": 0.25, "delayed_s": 0.75}, WaitDecision.TIMED_OUT),
        (199, {"cpu_s": 0.02, "delayed_s": 0.98}, WaitDecision.WAIT),
        (200, {"cpu_s": 0.02, "delayed_s": 0.98}, WaitDecision.TOO_BUSY),
        (19, {"cpu_s": 0.5, "stolen_s": 0.5}, WaitDecision.WAIT),
        (20, {"stolen_s": 0.5, "cpu_s": 0.5}, WaitDecision.TIMED_OUT),
    ],
    ids=[
        "runs-not-long",
        "runs-for-ever",
        "sleeps-not-long",
        "sleeps-for-ever",
        "busy-machine-not-long",
        "runs-for-ever-on-a-busy-machine",
        "hardly-any-time-not-long",
        "hardly-any-time-for-long",
        "stolen-not-long",
        "runs-for-ever-in-a-busy-virtual-machine",
    ],
)
def test_patience_counts_the_time_a_process_had(seconds: int, each: dict[str, float], expected: WaitDecision) -> None:
    assert wait_decision(waited(seconds, **each), limit_s=LIMIT_S) is expected


def test_time_of_two_processes_counts_as_one() -> None:
    waiting, helper = Interval(wall_s=1.0), Interval(wall_s=0.9, cpu_s=0.2, delayed_s=0.7, stolen_s=0.1)
    assert together(waiting, helper) == Interval(wall_s=1.0, cpu_s=0.2, delayed_s=0.7, stolen_s=0.1)


def test_pause_on_busy_machine_uses_no_patience() -> None:
    """One second of work that took a minute, since another program had the machine, and half a second asleep."""
    busy = waited(60, cpu_s=1 / 60, delayed_s=59 / 60)
    slept = longer(busy, Interval(wall_s=0.5), cores=2)
    assert slept.counted_s == pytest.approx(1.25)


def test_threads_count_once_up_to_the_cores() -> None:
    assert waited(10, cores=16, cpu_s=16.0).counted_s == pytest.approx(10.0)
    assert waited(10, cores=2, cpu_s=2.0, delayed_s=98.0).counted_s == pytest.approx(10.0)


def test_threads_contending_for_one_core_time_out() -> None:
    """A hundred busy threads that chose one of 64 cores: each is delayed, by the others."""
    held_up = waited(MOST_TIMES * LIMIT_S, cores=64, cpu_s=1.0, delayed_s=99.0)
    assert held_up.counted_s < LIMIT_S
    assert wait_decision(held_up, limit_s=LIMIT_S) is WaitDecision.TIMED_OUT


def test_short_limit_waits_a_minute_on_busy_machine() -> None:
    busy = {"cpu_s": 0.001, "delayed_s": 0.999}
    assert wait_decision(waited(LEAST_MOST_S - 1, **busy), limit_s=1.0) is WaitDecision.WAIT
    assert wait_decision(waited(LEAST_MOST_S, **busy), limit_s=1.0) is WaitDecision.TOO_BUSY


def test_stopped_parent_counts_one_second_of_sleep() -> None:
    stopped = longer(Waited(), Interval(wall_s=3600.0), cores=2)
    assert stopped.counted_s == 0.5


def test_an_interval_without_length_changes_nothing() -> None:
    so_far = waited(3, cpu_s=1.0)
    assert longer(so_far, Interval(wall_s=0.0, cpu_s=5.0), cores=2) == so_far
