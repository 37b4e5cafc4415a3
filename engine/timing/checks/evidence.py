"""The findings of a timed case: contradictions between its times, and conditions that make them uncertain.  Pure.

A check without a finding returns None.
"""

from __future__ import annotations

import statistics

from engine.model import Finding, FrameworkWork, Problem, Severity
from engine.model.benchmark import Method, Peaks, Timing
from engine.timing.checks.plausibility import (
    contention,
    differs_from_stored_baseline,
    noisy,
    precise_timer_missing,
    work_after_return,
    work_on_other_streams,
)
from engine.timing.checks.wall_clock import against_the_clock
from engine.timing.facts import CaseFacts
from engine.timing.numbers.figures import tick_us
from engine.timing.numbers.roofline import faster_than_physics, permitted_precision
from engine.verdict.device_activity import unknown_kernels

UNEVEN_FACTOR = 1.15  # allowed ratio of a chunk's mean to the median of its round
UNEVEN_SHARE = 2 / 3  # share of the chunks: outliers in every other chunk also occur in honest runs
EVENTS_SLACK_US = 5.0  # uncertainty of events for short kernels
KERNEL_SHARE, KERNEL_SLACK_US = 0.1, 2.0  # allowance for tensors at other addresses in another process
EARLY_SHARE = 0.1  # share of the calls: fewer do not change the median


def findings_of(
    facts: CaseFacts, timing: Timing, baselines: tuple[Timing, ...], problem: Problem, peaks: Peaks | None
) -> tuple[Finding, ...]:
    """All findings on a case whose outputs were right."""
    name = facts.case.name
    found = [timer_missing(facts), *seen_without_times(facts), idle_calls(facts, problem), early_calls(facts)]
    found += [uneven_calls(facts), shared_outputs(facts)]
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


def kernels_apart(case: str, timing: Timing, kernels: Timing) -> Finding | None:
    """SUSPECT when a call takes less device time than its launches do alone; HINT when it takes more.

    They differ if their intervals, by one method, are farther apart than KERNEL_SHARE of the time and KERNEL_SLACK_US.
    """
    call_us, kernel_us = timing.device_us, kernels.device_us
    if call_us is None or kernel_us is None or timing.method is not kernels.method:
        return None
    gap_us = max(kernel_us.low - call_us.high, call_us.low - kernel_us.high)
    if gap_us <= max(KERNEL_SLACK_US, KERNEL_SHARE * kernel_us.value):
        return None
    times = f"a call takes {call_us.value:.4g} us of device time, its launches alone take {kernel_us.value:.4g} us"
    is_less = call_us.value < kernel_us.value
    severity = Severity.SUSPECT if is_less else Severity.HINT
    message = f"{times}: timed calls do {'less' if is_less else 'more'} than the recorded launches"
    return Finding(check="kernel_time", severity=severity, message=message, case=case)


def seen_without_times(facts: CaseFacts) -> tuple[Finding, ...]:
    """Findings that hold even for a case without times."""
    late = work_after_return(facts.case.name, facts.late)
    name, own, native = facts.case.name, facts.own, facts.native
    strange = unknown_kernels(name, facts.kernels_ns, own=own, of="device time in timed calls", native=native)
    if not strange:
        strange = unknown_kernels(name, facts.nodes, own=own, of="the kernels in a graph of its calls", native=native)
    return (*((late,) if late is not None else ()), *strange)


def impossible_times(facts: CaseFacts, why: str) -> Finding:
    """SUSPECT: no clock can give the worker's times."""
    return _suspect("impossible_times", f"the worker's times are impossible: {why}", facts)


def timer_missing(facts: CaseFacts) -> Finding | None:
    """NOTE which timer replaced CUPTI, and the resolution of its clock as the samples show it."""
    candidate = facts.candidate
    if candidate.method is Method.CUPTI:
        return None
    step_us = tick_us(candidate.samples_us(candidate.method)) if candidate.method is not None else None
    return precise_timer_missing(facts.case.name, candidate.reason, candidate.method, step_us)


def idle_calls(facts: CaseFacts, problem: Problem) -> Finding | None:
    """SUSPECT when calls had right outputs without any activity on the device.

    NOTE where views, metadata or an allocation may be the whole answer: these need nothing of the device.
    """
    batches = [batch for pair in facts.candidate.rounds for batch in pair]
    idle, calls = sum(batch.idle for batch in batches), sum(batch.calls for batch in batches)
    if facts.candidate.method is not Method.CUPTI or not idle:
        return None
    message = f"{idle} of {calls} timed calls launched no device work, but their outputs were correct"
    if problem.framework and FrameworkWork.COPIES not in problem.framework:
        return Finding(check="idle_calls", severity=Severity.NOTE, message=message, case=facts.case.name)
    return _suspect("idle_calls", f"{message}; look for work done outside the call", facts)


def early_calls(facts: CaseFacts) -> Finding | None:
    """SUSPECT when no device activity of a call waited for the stream that the call was made on.

    Honest code that forks to streams of its own makes them wait for the caller's stream: its inputs may still be
    written there.  A few such calls are ignored: two clocks can differ that much for a moment.
    """
    batches = [batch for both in facts.candidate.rounds for batch in both]
    early, calls = sum(batch.early for batch in batches), sum(batch.calls for batch in batches)
    if facts.candidate.method is not Method.CUPTI or early <= EARLY_SHARE * calls:
        return None
    message = (
        f"{early} of {calls} timed calls started before earlier work on the caller's stream was done; "
        "synchronize your own streams with it in both directions"
    )
    return _suspect("other_streams", message, facts)


def uneven_calls(facts: CaseFacts) -> Finding | None:
    """SUSPECT when in most chunks the mean device time of the calls differs from the round's median.

    The inputs of a whole chunk exist when it begins, so one call could do the work of others and leave the median to
    those; if half of the calls do the work of all, chance decides on which side the median is.  Honest kernels have
    outliers too, but not in nearly every chunk; and when clocks change, they change for a round as a whole.
    """
    method = facts.candidate.method
    if method is None:
        return None
    slack_us = EVENTS_SLACK_US if method is Method.EVENTS else 0.0
    uneven_means: list[tuple[float, float]] = []
    chunks = 0
    for pair in facts.candidate.work_us(method):
        typical_us = statistics.median_low([time_us for chunk in pair for time_us in chunk] or [0.0])
        means_us = [statistics.fmean(chunk) for chunk in pair if len(chunk) > 1]
        chunks += len(means_us)
        uneven_means += [(mean_us, typical_us) for mean_us in means_us if _is_uneven(mean_us, typical_us, slack_us)]
    if not uneven_means or len(uneven_means) < UNEVEN_SHARE * chunks:
        return None
    mean_us, typical_us = max(uneven_means, key=lambda both: max(both) - min(both))
    message = (
        f"the work of several calls was done in one: in {len(uneven_means)} of {chunks} chunks the mean call time "
        f"differs from the median, for example {mean_us:.4g} us and {typical_us:.4g} us"
    )
    return _suspect("uneven_calls", message, facts)


def shared_outputs(facts: CaseFacts) -> Finding | None:
    """HINT that back-to-back calls could not be verified, for they return the same memory.

    Honest kernels may reuse an output to save an allocation; but a caller that keeps the output of an earlier call has
    it overwritten.
    """
    if all(burst.verified for burst in facts.candidate.bursts):
        return None
    message = (
        "calls return the same memory, so only the last of several back-to-back calls can be verified: "
        "whole calls and graphs were not timed; return new memory from every call"
    )
    return Finding(check="shared_outputs", severity=Severity.HINT, message=message, case=facts.case.name)


def _is_uneven(mean_us: float, typical_us: float, slack_us: float) -> bool:
    shorter_us, longer_us = sorted((mean_us, typical_us))
    return longer_us > UNEVEN_FACTOR * shorter_us and longer_us - shorter_us > slack_us


def _drain_us(facts: CaseFacts, problem: Problem, peaks: Peaks | None) -> float | None:
    """Time to write back the output that may still be in the second-level cache, at most a full cache."""
    if peaks is None or facts.l2_bytes is None:
        return None
    return min(problem.cost(facts.case).bytes_written, facts.l2_bytes) / peaks.copy_bytes_per_s * 1e6


def _too_fast(facts: CaseFacts, device_us: float, problem: Problem, peaks: Peaks) -> Finding | None:
    return faster_than_physics(
        facts.case.name,
        problem.cost(facts.case),
        peaks,
        permitted_precision(facts.case.dtype),
        device_us=device_us,
        resident_bytes=facts.slots * facts.slot_bytes,
        l2_bytes=facts.l2_bytes,
        cache=facts.cache,
    )


def _suspect(check: str, message: str, facts: CaseFacts) -> Finding:
    return Finding(check=check, severity=Severity.SUSPECT, message=message, case=facts.case.name)
