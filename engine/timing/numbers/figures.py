"""Times and comparisons of one case, from its observations.  Pure; nothing is left out silently.

A number that cannot be computed from the samples is None, and a note has the reason.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from engine.model.benchmark import Comparison, Interval, Method, Timing
from engine.timing.facts import SideFacts, Stretch
from engine.timing.numbers.statistics import abba_pairs, compare, median_interval, ratio_interval

CLOCK_MARGIN = 1.05  # for the difference of two clocks, and of a median from the calls

_CLAIMED_SHARE = 0.8
_CLAIM_SLACK_S = 50e-6  # longest launch of a graph


def timing_of(side: SideFacts, rng: random.Random) -> Timing:
    """The times of one side.

    Raises:
        ValueError: a sample that no clock can give.
    """
    notes = list(side.notes)
    device = device_interval(side, side.method, rng) if side.method is not None else None
    if device is None and side.rounds:
        notes.append("no device time: no activity was recorded on the device")
    if side.method is Method.CUPTI and (imprecise := [b for pair in side.rounds for b in pair if not b.precise]):
        notes.append(f"{len(imprecise)} of {2 * len(side.rounds)} chunks have no precise times: {side.reason}")
    activities = [batch.activities for pair in side.rounds for batch in pair]
    return Timing(
        side=side.name,
        method=side.method if device is not None else None,
        device_us=device,
        call_us=_call_interval(side, notes, rng),
        graph_us=_graph_interval(side, notes, rng),
        stream_us=device_interval(side, Method.EVENTS, rng),
        samples_us=side.samples_us(side.method) if side.method is not None else (),
        activities=max(activities) if side.method is Method.CUPTI and activities else None,
        notes=tuple(notes),
    )


def device_interval(side: SideFacts, method: Method, rng: random.Random) -> Interval | None:
    """The device time of one call by this method; None with fewer than two samples.

    Raises:
        ValueError: a sample that no clock can give.
    """
    rounds = [samples for first, second in side.chunks_us(method) if (samples := [*first, *second])]
    return median_interval(rounds, rng=rng) if sum(map(len, rounds)) > 1 else None


def without_times(side: SideFacts, why: str) -> Timing:
    """Timing of a side whose times are not credible, or were not taken."""
    return Timing(side=side.name, method=None, device_us=None, call_us=None, notes=(*side.notes, why))


def compared(candidate: SideFacts, side: SideFacts, rng: random.Random) -> tuple[Comparison, Method]:
    """The candidate against `side`, and the method: the candidate's if both have it, otherwise events.

    Raises:
        ValueError: there is no such comparison; the message has the reason.
    """
    if not side.rounds:
        raise ValueError("no round with it was completed")
    methods = (candidate.method, Method.EVENTS)
    method = next((each for each in methods if each and candidate.has(each) and side.has(each)), None)
    if method is None:
        raise ValueError("no method timed both sides in every round")
    mine, theirs = candidate.chunks_us(method), side.chunks_us(method)
    mine = mine[: len(theirs)]
    rounds = [(first, *between, last) for (first, last), between in zip(mine, theirs, strict=True)]
    tick = tick_us((*candidate.samples_us(method), *side.samples_us(method)))
    comparison = compare(side.name, abba_pairs(rounds), _pairs(candidate, method), rng, tick_us=tick or 0.0)
    return comparison, method


def to_itself(candidate: SideFacts, rng: random.Random) -> Interval | None:
    """The A/A run: the second chunk of each round against the first; None without two complete rounds."""
    if candidate.method is None or not candidate.has(candidate.method) or len(candidate.rounds) < 2:
        return None
    return ratio_interval(_pairs(candidate, candidate.method), rng=rng)


def noted(timing: Timing, note: str) -> Timing:
    """The same times, with one more note."""
    return replace(timing, notes=(*timing.notes, note))


def beside_s(many: Sequence[Stretch], one: Sequence[Stretch], round_trips_s: Sequence[float]) -> float:
    """Overhead by the parent's clock beside the calls: the exchange, and the launch of a graph.

    From stretches of two lengths; if there is only one, from exchanges without a call.
    """
    if many and one and many[0].calls > one[0].calls:
        calls, fewer = many[0].calls, one[0].calls
        many_s = statistics.median(stretch.wall_s for stretch in many)
        one_s = statistics.median(stretch.wall_s for stretch in one)
        return max(0.0, (calls * one_s - fewer * many_s) / (calls - fewer))
    return statistics.median(round_trips_s) if round_trips_s else 0.0


def accepted_us(stretches: Sequence[Stretch], fixed_s: float, *, trusted: bool) -> list[float | None]:
    """One call of each of these stretches; None if the exchange dominates it.

    An untrusted side's claim counts only if the parent's clock confirms it.  The parent may have a screen to draw,
    which makes a stretch longer by its clock: if most claims are confirmed, another counts as well unless it is shorter
    than the quickest stretch allows.
    """
    if trusted:
        return [stretch.claimed_us for stretch in stretches]
    needed_us = [(stretch.wall_s - fixed_s) / stretch.calls * 1e6 for stretch in stretches]
    confirmed = [_is_confirmed(stretch, least_us) for stretch, least_us in zip(stretches, needed_us, strict=True)]
    if 2 * sum(confirmed) >= len(stretches) > 0:
        confirmed = [_is_confirmed(stretch, min(needed_us)) for stretch in stretches]
    return [
        stretch.claimed_us if is_confirmed else time_us if time_us > 0 else None
        for stretch, is_confirmed, time_us in zip(stretches, confirmed, needed_us, strict=True)
    ]


def _is_confirmed(stretch: Stretch, needed_us: float) -> bool:
    """Whether the claimed time is neither longer than the whole stretch nor shorter than a call needs."""
    if stretch.claimed_us is None:
        return False
    too_long = stretch.claimed_us * stretch.calls * 1e-6 > CLOCK_MARGIN * stretch.wall_s
    slack_us = max((1 - _CLAIMED_SHARE) * needed_us, _CLAIM_SLACK_S / stretch.calls * 1e6)
    return not too_long and needed_us - stretch.claimed_us <= slack_us


def tick_us(samples: Sequence[float]) -> float | None:
    """The resolution of the clock of these times: the smallest difference between two of them.

    None for fewer than two different times.
    """
    return min((after - before for before, after in pairwise(sorted(set(samples)))), default=None)


def _pairs(candidate: SideFacts, method: Method) -> list[tuple[float, float]]:
    return [(statistics.median(first), statistics.median(last)) for first, last in candidate.chunks_us(method)]


def _call_interval(side: SideFacts, notes: list[str], rng: random.Random) -> Interval | None:
    """One call end to end, from bursts: by events, or by the parent's clock where that contradicts them."""
    if not side.bursts:
        return None
    if not all(stretch.verified for stretch in side.bursts):
        notes.append("no time of a whole call: calls return the same memory, so only the last could be verified")
        return None
    exchange_s = beside_s(side.bursts, side.short_bursts, side.round_trips_s)
    each_us = accepted_us(side.bursts, exchange_s, trusted=side.trusted)
    if any(time != stretch.claimed_us for time, stretch in zip(each_us, side.bursts, strict=True)):
        notes.append("the time of a whole call is by the parent's clock: the worker's clock disagreed")
    usable = [[time] for time in each_us if time is not None and time > 0]
    if len(usable) < max(2, len(side.bursts) / 2):
        notes.append("no time of a whole call: it cannot be separated from the exchange with the process")
        return None
    return median_interval(usable, rng=rng)


def _graph_interval(side: SideFacts, notes: list[str], rng: random.Random) -> Interval | None:
    """One call inside a replayed graph: by events, or by the parent's clock where that contradicts them."""
    launch_s = beside_s(side.replays, side.short_replays, side.round_trips_s)
    each_us = accepted_us(side.replays, launch_s, trusted=side.trusted)
    if any(time != stretch.claimed_us for time, stretch in zip(each_us, side.replays, strict=True)):
        notes.append("the time in a graph is by the parent's clock: the worker's clock disagreed")
    usable = [[time] for time in each_us if time is not None and time > 0]
    return median_interval(usable, rng=rng) if len(usable) > 1 else None
