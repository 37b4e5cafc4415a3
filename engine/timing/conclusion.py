"""The record and the findings of one case, from all of its observations.  Pure."""

from __future__ import annotations

import contextlib
import random

from engine.model import Finding, Outcome, Problem
from engine.model.benchmark import CaseBenchmark, CaseEstimate, Comparison, Interval, Peaks, Timing
from engine.timing.checks import evidence
from engine.timing.facts import CaseFacts
from engine.timing.numbers import figures
from engine.timing.numbers.roofline import floor_of, permitted_precision
from engine.verdict.decide import Stop


def of_ended(facts: CaseFacts, stop: Stop, elapsed_s: float) -> tuple[CaseBenchmark, tuple[Finding, ...]]:
    """The record of a case that was not timed, with the observations until then."""
    benchmark = CaseBenchmark(
        case=facts.case.name,
        outcome=stop.outcome,
        cache=facts.cache,
        elapsed_s=elapsed_s,
        message=stop.message,
        slots=facts.slots,
        slot_bytes=facts.slot_bytes,
        calls=facts.calls,
        verified=facts.verified,
        before=facts.before,
        after=facts.after,
    )
    return benchmark, evidence.seen_without_times(facts)


def estimate_of(facts: CaseFacts, rng: random.Random) -> CaseEstimate | None:
    """The times of a case by its rounds so far; None without a device time, or with an impossible one."""
    method = facts.candidate.method
    if method is None:
        return None
    try:
        device_us = figures.device_interval(facts.candidate, method, rng)
    except ValueError:
        return None
    if device_us is None:
        return None
    comparisons: list[Comparison] = []
    for side in facts.baselines:
        with contextlib.suppress(ValueError):  # the record of the case has the reason
            comparisons.append(figures.compared(facts.candidate, side, rng)[0])
    return CaseEstimate(
        case=facts.case.name,
        rounds=len(facts.candidate.rounds),
        method=method,
        device_us=device_us,
        comparisons=tuple(comparisons),
    )


def of_timed(
    facts: CaseFacts, problem: Problem, peaks: Peaks | None, elapsed_s: float, rng: random.Random
) -> tuple[CaseBenchmark, tuple[Finding, ...]]:
    """The record of a case whose every call was right, and its findings."""
    impossible: tuple[Finding, ...] = ()
    itself: Interval | None = None
    try:
        timing = figures.timing_of(facts.candidate, rng)
        itself = figures.to_itself(facts.candidate, rng)
    except ValueError as error:
        timing = figures.without_times(facts.candidate, f"its times are impossible: {error}")
        impossible = (evidence.impossible_times(facts, str(error)),)
    if peaks is None and facts.candidate.short_replays:
        note = "the time in a graph was not compared with the device time: the device's peaks are unknown"
        timing = figures.noted(timing, note)
    baselines, comparisons = _baselines(facts, rng)
    device_us = timing.device_us.value if timing.device_us is not None else None
    floor = None
    if peaks is not None:
        floor = floor_of(
            problem.cost(facts.case),
            peaks,
            permitted_precision(facts.case.dtype),
            device_us,
            l2_bytes=facts.l2_bytes,
            cache=facts.cache,
        )
    kernels, kernel_note = _kernel_times(facts, rng)
    benchmark = CaseBenchmark(
        case=facts.case.name, outcome=Outcome.PASS, cache=facts.cache, elapsed_s=elapsed_s, timing=timing,
        baselines=baselines, comparisons=comparisons if device_us is not None else (), ratio_to_self=itself,
        floor=floor, slots=facts.slots, slot_bytes=facts.slot_bytes, calls=facts.calls, verified=facts.verified,
        before=facts.before, after=facts.after, kernel_us=kernels.device_us if kernels is not None else None,
        kernel_note=kernel_note,
    )  # fmt: skip
    found = evidence.findings_of(facts, timing, baselines, problem, peaks)
    apart = evidence.kernels_apart(facts.case.name, timing, kernels) if kernels is not None else None
    return benchmark, (*impossible, *found, *((apart,) if apart is not None else ()))


def _kernel_times(facts: CaseFacts, rng: random.Random) -> tuple[Timing | None, str]:
    """The times of the launches alone, and a note on them."""
    if facts.kernels is None:
        return None, ""
    try:
        timing = figures.timing_of(facts.kernels, rng)
    except ValueError as error:
        return None, f"its times are impossible: {error}"
    return timing, "; ".join(timing.notes)


def _baselines(facts: CaseFacts, rng: random.Random) -> tuple[tuple[Timing, ...], tuple[Comparison, ...]]:
    """The times of each baseline, and the possible comparisons; a note has the reason for a missing one."""
    timings: list[Timing] = []
    comparisons: list[Comparison] = []
    for side in facts.baselines:
        if not side.rounds:
            timings.append(figures.without_times(side, "not compared"))
            continue
        try:
            timing = figures.timing_of(side, rng)
        except ValueError as error:
            timings.append(figures.without_times(side, f"its times are impossible: {error}"))
            continue
        try:
            comparison, method = figures.compared(facts.candidate, side, rng)
            comparisons.append(comparison)
            if method is not facts.candidate.method:
                timing = figures.noted(
                    timing, f"compared by {method.value}: the candidate's method did not time both sides in every round"
                )
        except ValueError as error:
            timing = figures.noted(timing, f"not compared: {error}")
        timings.append(timing)
    return tuple(timings), tuple(comparisons)
