"""Checks of a device time by the parent's own clock; without them it is only the worker's claim.  Pure.

A worker that forges its times has to agree with bursts, with replays whose outputs are verified, and with replays that
are repeated.  Its work between these commands, while slots are fetched and outputs collected, is not timed: the worker
must ensure that no function replaced by a candidate is used there.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from engine.model import Finding
from engine.model.benchmark import Method, Timing
from engine.timing.checks.plausibility import (
    contradicted_by_the_clock,
    replays_that_differ,
    unconfirmed_by_a_graph,
)
from engine.timing.facts import CaseFacts, Stretch
from engine.timing.numbers.figures import beside_s


def against_the_clock(facts: CaseFacts, timing: Timing, drain_us: float | None) -> Finding | None:
    """Finding on a device time that bursts and replays contradict by the parent's clock: SUSPECT, or HINT for a doubt.

    `drain_us` is the time for which the caches may still write after a single call, which the next call of a graph
    waits for; None if it is unknown, and then no graph rules anything out.

    Replays with verified outputs and those repeated for the clock alone are both compared with it, and with each other:
    a graph cannot do the work in one kind only.
    """
    if timing.device_us is None:
        return None
    device_us, side, name = timing.device_us.value, facts.candidate, facts.case.name
    found = _longer_than_bursts(facts, timing)
    if found is None and not side.replays:
        return _unconfirmed(facts, timing, drain_us or 0.0)
    if found is not None or drain_us is None:
        return found
    verified = _Replays.of(side.replays, side.short_replays)
    repeated = _Replays.of(side.clock_replays, side.short_clock_replays)
    for replays in (repeated, verified):
        if found is None and replays is not None:
            found = contradicted_by_the_clock(
                name,
                device_us,
                calls=replays.calls,
                graph_wall_us=replays.wall_s / replays.calls * 1e6,
                round_trip_s=replays.beside_s + replays.doubt_s + drain_us * replays.calls * 1e-6,
                wall_s=max(replays.wall_s, device_us * replays.calls * 1e-6),  # launches are faster in a graph
            )
    if found is None and verified is not None and repeated is not None:
        doubt_us = 1e6 * (verified.doubt_s / verified.calls + repeated.doubt_s / repeated.calls)
        found = replays_that_differ(
            name, verified_us=verified.each_us, unverified_us=repeated.each_us, doubt_us=doubt_us
        )
    return found


@dataclass(frozen=True, kw_only=True)
class _Replays:
    """Replays of a graph of `calls` calls by the parent's clock; `beside_s` is the time of a graph of one call.

    The fastest of each determine the time of the work.  `doubt_s` is its uncertainty: the distance of the median of the
    long ones from the fastest, and the range of the exchange, from the fastest to the slowest graph of one call.
    """

    calls: int
    wall_s: float
    beside_s: float
    doubt_s: float

    @classmethod
    def of(cls, many: Sequence[Stretch], one: Sequence[Stretch]) -> _Replays | None:
        """None without replays of either length."""
        if not many or not one:
            return None
        many_s, one_s = sorted(stretch.wall_s for stretch in many), sorted(stretch.wall_s for stretch in one)
        doubt_s = statistics.median(many_s) - many_s[0] + one_s[-1] - one_s[0]
        return cls(calls=many[0].calls, wall_s=many_s[0], beside_s=one_s[0], doubt_s=doubt_s)

    @property
    def each_us(self) -> float:
        """One call, without the exchange and the launch of the graph."""
        return (self.wall_s - self.beside_s) / self.calls * 1e6


def _longer_than_bursts(facts: CaseFacts, timing: Timing) -> Finding | None:
    """Finding on bursts that ended before their calls can have ended.

    Only if a call is one activity, or was captured in a graph: the span of several activities includes the gaps that
    the host leaves between their launches, and these shrink when calls follow one another.
    """
    side = facts.candidate
    if timing.device_us is None or not side.bursts or (timing.method is not Method.GRAPH and timing.activities != 1):
        return None
    burst = min(side.bursts, key=lambda stretch: stretch.wall_s / stretch.calls)
    return contradicted_by_the_clock(
        facts.case.name, timing.device_us.value, calls=burst.calls, wall_s=burst.wall_s, round_trip_s=0.0
    )


def _unconfirmed(facts: CaseFacts, timing: Timing, drain_us: float) -> Finding | None:
    """Finding from bursts on a device time that no graph confirms; None if the exchange dominates them."""
    side = facts.candidate
    fixed_s = beside_s(side.bursts, side.short_bursts, side.round_trips_s)
    bursts_us = [(stretch.wall_s - fixed_s) / stretch.calls * 1e6 - drain_us for stretch in side.bursts]
    if timing.device_us is None or not bursts_us or min(bursts_us) <= 0:
        return None
    return unconfirmed_by_a_graph(
        facts.case.name, timing.device_us.value, burst_us=min(bursts_us), launches=max(1, timing.activities or 1)
    )
