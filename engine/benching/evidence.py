"""The findings of a timed case: what contradicts its times, and what makes them uncertain.  Pure."""

from __future__ import annotations

import statistics

from engine.benching.facts import CaseFacts
from engine.benching.figures import tick_us
from engine.benchmark import Method, Peaks, Timing
from engine.floors import faster_than_physics, permitted_precision
from engine.model import Finding, Problem, Severity
from engine.timing_checks import (
    contention,
    contradicted_by_the_clock,
    differs_from_stored_baseline,
    noisy,
    precise_timer_missing,
    work_after_return,
    work_on_other_streams,
)

UNEVEN_FACTOR = 1.5


def findings_of(
    facts: CaseFacts, timing: Timing, baselines: tuple[Timing, ...], problem: Problem, peaks: Peaks | None
) -> tuple[Finding, ...]:
    """Everything that is to be said of a case whose outputs were right."""
    name = facts.case.name
    found = [timer_missing(facts), *seen_without_times(facts), idle_calls(facts), early_calls(facts)]
    found.append(uneven_calls(facts))
    if timing.device_us is not None:
        found += [noisy(name, timing.device_us), against_the_clock(facts, timing, _drain_us(facts, problem, peaks))]
        if timing.method is Method.CUPTI and timing.stream_us is not None:
            found.append(work_on_other_streams(name, timing.device_us.value, timing.stream_us.value))
        if peaks is not None:
            found.append(_too_fast(facts, timing.device_us.value, problem, peaks))
    for baseline in baselines:
        stored_us = facts.stored_us_by_baseline.get(baseline.side)
        if stored_us is not None and baseline.device_us is not None:
            found.append(differs_from_stored_baseline(name, baseline.side, stored_us, baseline.device_us.value))
    found += contention(name, facts.before, facts.after)
    return tuple(finding for finding in found if finding is not None)


def seen_without_times(facts: CaseFacts) -> tuple[Finding, ...]:
    """What is worth telling even of a case that came to no times."""
    late = work_after_return(facts.case.name, facts.late)
    return (late,) if late is not None else ()


def impossible_times(facts: CaseFacts, why: str) -> Finding:
    """SUSPECT: the worker's times are none that a clock can give."""
    return _suspect("impossible_times", f"the worker's times are impossible: {why}", facts)


def timer_missing(facts: CaseFacts) -> Finding | None:
    """NOTE which timer stood in for CUPTI, and the step of its clock as the samples show it."""
    candidate = facts.candidate
    if candidate.method is Method.CUPTI:
        return None
    step_us = tick_us(candidate.samples_us(candidate.method)) if candidate.method is not None else None
    return precise_timer_missing(facts.case.name, candidate.reason, candidate.method, step_us)


def idle_calls(facts: CaseFacts) -> Finding | None:
    """SUSPECT when calls left right outputs without putting anything on the device."""
    batches = [batch for pair in facts.candidate.rounds for batch in pair]
    idle, calls = sum(batch.idle for batch in batches), sum(batch.calls for batch in batches)
    if facts.candidate.method is not Method.CUPTI or not idle:
        return None
    message = f"{idle} of {calls} timed calls put nothing on the device, and their outputs were right all the same"
    return _suspect("idle_calls", f"{message}; look for work that is done outside of the call", facts)


def early_calls(facts: CaseFacts) -> Finding | None:
    """SUSPECT when nothing that a call put on the device waited for the stream that it was made on.

    Honest code that forks to streams of its own has them wait for the caller's stream: its inputs may
    still be on their way there.
    """
    batches = [batch for both in facts.candidate.rounds for batch in both]
    early, calls = sum(batch.early for batch in batches), sum(batch.calls for batch in batches)
    if facts.candidate.method is not Method.CUPTI or not early:
        return None
    message = (
        f"{early} of {calls} timed calls were at work before what was queued ahead of them on the caller's stream was "
        "done; have streams of your own wait for it, and it for them"
    )
    return _suspect("other_streams", message, facts)


def uneven_calls(facts: CaseFacts) -> Finding | None:
    """SUSPECT when in most chunks the mean call takes much longer than a call is said to take.

    The inputs of a whole chunk exist when it begins, so its first call could do the work of all and leave
    the median to the others.  Honest kernels have outliers too, but not in every other chunk.
    """
    method = facts.candidate.method
    if method is None:
        return None
    chunks = [chunk for pair in facts.candidate.batches_us(method) for chunk in pair if len(chunk) > 1]
    samples = [time_us for chunk in chunks for time_us in chunk]
    if not samples:
        return None
    typical_us, mean_us = statistics.median(samples), statistics.fmean(samples)
    uneven = sum(statistics.fmean(chunk) > UNEVEN_FACTOR * typical_us for chunk in chunks)
    if mean_us <= UNEVEN_FACTOR * typical_us or 2 * uneven < len(chunks):
        return None
    message = (
        f"work of several calls was done in one: the median call takes {typical_us:.4g} us, but the mean is "
        f"{mean_us:.4g} us, and {uneven} of {len(chunks)} chunks have such a call"
    )
    return _suspect("uneven_calls", message, facts)


def against_the_clock(facts: CaseFacts, timing: Timing, drain_us: float | None) -> Finding | None:
    """SUSPECT when bursts or replays, by the parent's clock, rule out the device time.

    `drain_us` is what the caches may still have to write when a single call has ended, and what the next call
    of a graph then waits for; None when that is not known, and then no graph rules anything out.

    Bursts only where a call is one activity, or was taken in a graph: the span of several has the gaps in
    it that the host leaves between their launches, and these shrink when calls follow one another.
    """
    side = facts.candidate
    if timing.device_us is None:
        return None
    device_us, found = timing.device_us.value, None
    if side.bursts and (timing.method is Method.GRAPH or timing.activities == 1):
        burst = min(side.bursts, key=lambda stretch: stretch.wall_s / stretch.calls)
        found = contradicted_by_the_clock(
            facts.case.name, device_us, calls=burst.calls, wall_s=burst.wall_s, round_trip_s=0.0
        )
    if found is None and drain_us is not None and side.clock_replays and side.short_clock_replays:
        calls = side.clock_replays[0].calls
        long_s = sorted(stretch.wall_s for stretch in side.clock_replays)
        short_s = sorted(stretch.wall_s for stretch in side.short_clock_replays)
        # The fastest of each tell what the work takes; how far the middle ones lie above, how sure that is.
        doubt_s = statistics.median(long_s) - long_s[0] + statistics.median(short_s) - short_s[0]
        wall_s = long_s[0]
        found = contradicted_by_the_clock(
            facts.case.name, device_us, calls=calls, round_trip_s=short_s[0] + doubt_s + drain_us * calls * 1e-6,
            graph_wall_us=wall_s / calls * 1e6,
            wall_s=max(wall_s, device_us * calls * 1e-6),  # several launches take longer outside of a graph than in it
        )  # fmt: skip
    return found


def _drain_us(facts: CaseFacts, problem: Problem, peaks: Peaks | None) -> float | None:
    """How long it takes to write what a call leaves in the second-level cache, at most all of that."""
    if peaks is None or facts.l2_bytes is None:
        return None
    return min(problem.cost(facts.case).bytes_written, facts.l2_bytes) / peaks.copy_bytes_per_s * 1e6


def _too_fast(facts: CaseFacts, device_us: float, problem: Problem, peaks: Peaks) -> Finding | None:
    return faster_than_physics(
        facts.case.name, problem.cost(facts.case), peaks, permitted_precision(facts.case.dtype), device_us=device_us,
        resident_bytes=facts.slots * facts.slot_bytes, l2_bytes=facts.l2_bytes, cache=facts.cache,
    )  # fmt: skip


def _suspect(check: str, message: str, facts: CaseFacts) -> Finding:
    return Finding(check=check, severity=Severity.SUSPECT, message=message, case=facts.case.name)
