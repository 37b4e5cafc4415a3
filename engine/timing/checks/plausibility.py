"""Cross-checks of times: results that no honest measurement has, and conditions that make one uncertain.

One function for each check, from raw facts to findings.  A time comes from a device whose clocks and streams the
candidate shares, so it is compared with the parent's own clock, the current stream and the device's driver.  No check
decides: the verdict reads severities.  An impossible value is a ValueError, since comparing with it would find nothing;
a missing value is a finding.  A check without a finding returns None.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from engine.model import Finding, Severity
from engine.model.benchmark import OTHER_PROCESSES, THROTTLING, DeviceState, Interval, Method
from engine.timing.numbers.figures import CLOCK_MARGIN

GRAPH_SHARE = 0.8
GRAPH_SLACK_US = 2.0  # the gap between two calls of a replayed graph
LAUNCH_US = 100.0  # far above the launch time of an ordinary host
HOST_US = 200.0  # for other work of the host in a call
STREAM_FACTOR = 1.5
STREAM_SLACK_US = 1.0  # resolution of events is half a microsecond, and they include their own overhead
CLOCK_CHANGE = 0.10
BASELINE_FACTOR = 1.3
NOISY_SHARE = 0.05
_NAMES = 4  # kernel names listed in a message


def contradicted_by_the_clock(
    case: str,
    device_us: float,
    *,
    calls: int,
    wall_s: float,
    round_trip_s: float,
    graph_wall_us: float | None = None,
) -> Finding | None:
    """SUSPECT when the parent's clock rules out that a call takes `device_us`, too long or too short.

    `wall_s` is what `calls` back-to-back calls took by the parent's clock, in the cache state that `device_us` was
    taken in.  `graph_wall_us` is one call of a replayed graph of as many calls, by the same clock; both contain the
    exchange with the child, which alone takes `round_trip_s`.

    Honest calls one after the other take at least the sum of their device times.  The wall clock alone cannot show a
    time that is too small, since a host that launches slowly leaves the device idle; in a replayed graph it does not,
    and honest calls then take their device time and a gap.

    Raises:
        ValueError: an impossible time, or no calls.
    """
    _refuse_impossible(device_us=device_us, calls=calls, wall_s=wall_s, graph_wall_us=graph_wall_us)
    if not 0 <= round_trip_s < math.inf:
        raise ValueError(f"round_trip_s should be finite and not negative, is {round_trip_s}")
    claimed_s = device_us * calls * 1e-6
    if claimed_s > CLOCK_MARGIN * wall_s:
        message = (
            f"{calls} calls of {device_us:.4g} us are {claimed_s * 1e3:.4g} ms of device time, "
            f"but they ended after {wall_s * 1e3:.4g} ms; the device times of this case are not credible"
        )
        return _finding("wall_clock", Severity.SUSPECT, message, case)
    if graph_wall_us is None:
        return None
    needed_us = graph_wall_us - round_trip_s * 1e6 / calls
    if device_us < GRAPH_SHARE * needed_us and needed_us - device_us > GRAPH_SLACK_US:
        message = (
            f"the device time is {device_us:.4g} us, but a replayed graph needs {needed_us:.4g} us a call by the "
            "wall clock; look for work missing in the device's record"
        )
        return _finding("wall_clock", Severity.SUSPECT, message, case)
    return None


def unconfirmed_by_a_graph(case: str, device_us: float, *, burst_us: float, launches: int) -> Finding | None:
    """HINT when back-to-back calls exceed their device time and no graph confirms it; SUSPECT far beyond.

    `burst_us` is one of the calls by the parent's clock, without the exchange; `launches` is the number of its device
    activities.  Honest code leaves the device idle while the host launches, above all from Python, which cannot be
    distinguished from work that the device's record does not show.  A time far beyond that of the launches is either
    such work, or work of the host.

    Raises:
        ValueError: an impossible time, or less than one launch.
    """
    _refuse_impossible(device_us=device_us, burst_us=burst_us, launches=launches)
    more_us = burst_us - device_us
    if device_us >= GRAPH_SHARE * burst_us or more_us <= GRAPH_SLACK_US:
        return None
    seen = (
        f"the device time is {device_us:.4g} us, but calls back to back take {burst_us:.4g} us each by the wall clock"
    )
    if more_us > HOST_US + LAUNCH_US * launches:
        why = f"launches do not explain {more_us:.4g} us; look for work missing in the device's record"
        return _finding("wall_clock", Severity.SUSPECT, f"{seen}: {why}, or reduce host work", case)
    why = (
        "launch overhead may be the reason, but the calls could not be captured in a graph, which would decide; "
        "make them capturable"
    )
    return _finding("wall_clock", Severity.HINT, f"{seen}: {why}", case)


def replays_that_differ(case: str, *, verified_us: float, unverified_us: float, doubt_us: float) -> Finding | None:
    """SUSPECT when replays of a graph with verified outputs take another time than unverified ones.

    Both are one call by the parent's clock, without the exchange; together they may be off by `doubt_us`. Honest graphs
    do the same work either way, on the same slots.

    Raises:
        ValueError: a time that is not finite.
    """
    shorter_us, longer_us = sorted((verified_us, unverified_us))
    if not all(map(math.isfinite, (shorter_us, longer_us, doubt_us))):
        raise ValueError(f"times should be finite, are {verified_us}, {unverified_us} and {doubt_us}")
    longer_us -= doubt_us
    if shorter_us >= GRAPH_SHARE * longer_us or longer_us - shorter_us <= GRAPH_SLACK_US:
        return None
    message = (
        f"a call of a replayed graph takes {verified_us:.4g} us where its answers are verified, and "
        f"{unverified_us:.4g} us where the replay is repeated on the same inputs; look for work that is done in one "
        "of the two only"
    )
    return _finding("wall_clock", Severity.SUSPECT, message, case)


def work_on_other_streams(case: str, device_us: float, stream_us: float) -> Finding | None:
    """SUSPECT when a call keeps the device busy for much longer than the work on the current stream.

    `device_us` is the span of one call over all streams, `stream_us` the time between events on the caller's stream.
    Honest code that forks to streams of its own joins them again before it returns, so that the caller's stream waits
    for all of its work and both times agree.

    Raises:
        ValueError: an impossible time.
    """
    _refuse_impossible(device_us=device_us, stream_us=stream_us)
    if device_us <= STREAM_FACTOR * stream_us or device_us - stream_us <= STREAM_SLACK_US:
        return None
    message = (
        f"a call takes {device_us:.4g} us over all streams, but only {stream_us:.4g} us on the current one: "
        "its work is on a stream that the caller does not wait for; join it before returning"
    )
    return _finding("other_streams", Severity.SUSPECT, message, case)


def work_after_return(case: str, late: Sequence[str]) -> Finding | None:
    """SUSPECT when kernels started outside of every call's window; `late` are their names, one for each start.

    Honest code has put all of its work on the device when it returns, and waits for work on other streams.  A library
    that clears its workspace later is reported here too; its names show that.
    """
    if not late:
        return None
    starts_by_name = Counter(late).most_common()
    shown = ", ".join(f"{name} ({starts}x)" if starts > 1 else name for name, starts in starts_by_name[:_NAMES])
    more = f" and {len(starts_by_name) - _NAMES} more" if len(starts_by_name) > _NAMES else ""
    message = f"work started outside the calls that it belongs to: {shown}{more}; start all of it before returning"
    return _finding("after_return", Severity.SUSPECT, message, case)


def precise_timer_missing(case: str, reason: str, method: Method | None, resolution_us: float | None = None) -> Finding:
    """NOTE which method replaces the device's own timestamps, its resolution, and why.

    `method` of None means that nothing replaced them.  This is about the machine, never about the candidate.
    """
    if method is None:
        instead = "no device time was taken"
    else:
        fine = "of unknown resolution" if resolution_us is None else f"no finer than {resolution_us:.3g} us"
        instead = f"device times are by {method.value}, {fine}"
    return _finding("timer", Severity.NOTE, f"{instead}: CUPTI could not be used: {reason}", case)


def contention(case: str, before: DeviceState | None, after: DeviceState | None) -> tuple[Finding, ...]:
    """Conditions of the device that make this case's times uncertain, one finding each.

    HINT for processes of others and for a clock that changed by more than CLOCK_CHANGE: both change times, although
    interleaving keeps the ratios.  NOTE for throttled clocks, which is the normal state of a device at its power limit,
    and for values that could not be read.  `before` is to be taken after the warm-up: an idle device always has lower
    clocks than a busy one.  None of this is the candidate's fault, unless it heats or shares the device on purpose.
    """
    if before is None or after is None:
        when = "before" if before is None else "after"
        message = f"the device's state {when} the benchmark could not be read: contention was not checked"
        return (_finding("contention", Severity.NOTE, message, case),)
    found: list[Finding] = []
    others = sorted({*(before.other_processes or ()), *(after.other_processes or ())})
    unknown = next((state for state in (before, after) if state.other_processes is None), None)
    if others:
        message = f"other processes use the device: {', '.join(map(str, others))}; stop them and measure again"
        found.append(_finding("contention", Severity.HINT, message, case))
    elif unknown is not None:
        message = f"contention was not checked: {unknown.why_unknown(OTHER_PROCESSES)}"
        found.append(_finding("contention", Severity.NOTE, message, case))
    reasons = sorted({*(before.throttled_by or ()), *(after.throttled_by or ())})
    unknown = next((state for state in (before, after) if state.throttled_by is None), None)
    if reasons:
        found.append(_finding("throttled", Severity.NOTE, f"clocks are limited by {', '.join(reasons)}", case))
    elif unknown is not None:
        message = f"clock limits were not checked: {unknown.why_unknown(THROTTLING)}"
        found.append(_finding("throttled", Severity.NOTE, message, case))
    if (moved := _moved_clock(case, before.sm_clock_mhz, after.sm_clock_mhz)) is not None:
        found.append(moved)
    return tuple(found)


def differs_from_stored_baseline(case: str, baseline: str, stored_us: float, measured_us: float) -> Finding | None:
    """HINT when a baseline is much slower than it was on this very device before.

    `stored_us` was measured with the same versions and the same cache state.  A slow baseline makes any candidate look
    fast.  The honest reason is a device that is shared, hot or otherwise clocked; the other one is a candidate that
    slows it down.

    Raises:
        ValueError: an impossible time.
    """
    _refuse_impossible(stored_us=stored_us, measured_us=measured_us)
    if measured_us <= BASELINE_FACTOR * stored_us:
        return None
    message = (
        f"{baseline} took {measured_us:.4g} us, {measured_us / stored_us:.2f} times the {stored_us:.4g} us that it "
        "took on this device before; look for other load on it, then measure again"
    )
    return _finding("slow_baseline", Severity.HINT, message, case)


def noisy(case: str, interval: Interval) -> Finding | None:
    """NOTE when the interval of the device time extends more than NOISY_SHARE to each side.

    Honest kernels are noisy too: those of a few microseconds, those that depend on their data, and all on a shared
    device.

    Raises:
        ValueError: the interval's value is not a time.
    """
    _refuse_impossible(device_us=interval.value)
    half = (interval.high - interval.low) / 2 / interval.value
    if half <= NOISY_SHARE:
        return None
    message = f"the device time is {interval.value:.4g} us only within {100 * half:.0f} %; measure for longer"
    return _finding("noisy", Severity.NOTE, message, case)


def _moved_clock(case: str, before_mhz: int | None, after_mhz: int | None) -> Finding | None:
    if before_mhz is None or after_mhz is None:
        message = "the driver does not report the SM clock, so clock changes were not checked"
        return _finding("clock", Severity.NOTE, message, case)
    if abs(after_mhz - before_mhz) <= CLOCK_CHANGE * before_mhz:
        return None
    message = f"the SM clock went from {before_mhz} to {after_mhz} MHz; let the device settle and measure again"
    return _finding("clock", Severity.HINT, message, case)


def _finding(check: str, severity: Severity, message: str, case: str) -> Finding:
    return Finding(check=check, severity=severity, message=message, case=case)


def _refuse_impossible(**facts: float | None) -> None:
    """Raise ValueError for a value that is neither None nor finite and above zero."""
    for name, fact in facts.items():
        if fact is not None and not (math.isfinite(fact) and fact > 0):
            raise ValueError(f"{name} should be finite and above zero, is {fact}")
