"""Each cross-check: what it finds, and the honest look-alike that it leaves alone."""

from __future__ import annotations

import dataclasses
import math
from functools import partial

import pytest

from engine.model import Finding, Severity
from engine.model.benchmark import DeviceState, Interval, Method
from engine.timing.checks.plausibility import (
    contention,
    contradicted_by_the_clock,
    differs_from_stored_baseline,
    noisy,
    precise_timer_missing,
    replays_that_differ,
    unconfirmed_by_a_graph,
    work_after_return,
    work_on_other_streams,
)

NO_TIMES = [math.nan, math.inf, -math.inf, 0.0, -1.0]
QUIET = DeviceState(
    sm_clock_mhz=1980,
    memory_clock_mhz=2619,
    temperature_c=50,
    power_w=400.0,
    utilisation_percent=100,
    throttled_by=(),
    other_processes=(),
)


def severity(finding: Finding | None) -> Severity | None:
    return finding.severity if finding else None


# The parent's clock.

by_the_clock = partial(contradicted_by_the_clock, "a case", calls=1000, round_trip_s=0.0005)


def test_calls_close_to_device_time_are_accepted() -> None:
    assert by_the_clock(10.0, wall_s=0.0103, graph_wall_us=10.9) is None


def test_more_device_time_than_passed_is_impossible() -> None:
    finding = by_the_clock(10.0, wall_s=0.009)
    assert finding == Finding(
        check="wall_clock",
        severity=Severity.SUSPECT,
        message="1000 calls of 10 us are 10 ms of device time, but they ended after 9 ms; "
        "the device times of this case are not credible",
        case="a case",
    )


@pytest.mark.parametrize(("wall_s", "expected"), [(0.0096, None), (0.0095, Severity.SUSPECT)])
def test_two_clocks_may_differ_by_a_twentieth(wall_s: float, expected: Severity | None) -> None:
    assert severity(by_the_clock(10.0, wall_s=wall_s)) is expected


def test_slow_launches_are_not_a_contradiction() -> None:
    assert by_the_clock(3.0, wall_s=0.020) is None


def test_replay_much_longer_than_claimed_is_contradiction() -> None:
    finding = by_the_clock(10.0, wall_s=0.050, graph_wall_us=40.5)
    assert severity(finding) is Severity.SUSPECT
    assert finding is not None
    assert "the device time is 10 us, but a replayed graph needs 40 us a call by the wall clock" in finding.message


@pytest.mark.parametrize(
    ("device_us", "graph_wall_us", "expected"),
    [
        (100.0, 124.0, None),
        (100.0, 126.0, Severity.SUSPECT),
        (1.0, 2.9, None),  # not a fifth, but within the gap between two calls
        (1.0, 3.1, Severity.SUSPECT),
        (100.0, 60.0, None),  # a graph may well be faster: it spares gaps within a call
    ],
)
def test_graph_contradicts_beyond_fifth_and_call_gap(
    device_us: float, graph_wall_us: float, expected: Severity | None
) -> None:
    finding = contradicted_by_the_clock(
        "a case", device_us, calls=1000, wall_s=1.0, round_trip_s=0.0, graph_wall_us=graph_wall_us
    )
    assert severity(finding) is expected


def test_exchange_with_child_is_not_counted() -> None:
    found = partial(contradicted_by_the_clock, "a case", 10.0, calls=10, wall_s=1.0, graph_wall_us=60.0)
    assert found(round_trip_s=0.0005) is None
    assert severity(found(round_trip_s=0.0)) is Severity.SUSPECT


@pytest.mark.parametrize("bad", NO_TIMES)
@pytest.mark.parametrize("name", ["device_us", "wall_s", "graph_wall_us"])
def test_time_that_is_invalid_is_refused_by_name(bad: float, name: str) -> None:
    facts = {"device_us": 10.0, "wall_s": 1.0, "graph_wall_us": 10.0, name: bad}
    with pytest.raises(ValueError, match=f"{name} should be finite and above zero, is {bad}"):
        contradicted_by_the_clock("a case", calls=10, round_trip_s=0.0, **facts)


def test_no_calls_cannot_be_checked() -> None:
    with pytest.raises(ValueError, match="calls should be finite and above zero, is 0"):
        contradicted_by_the_clock("a case", 10.0, calls=0, wall_s=1.0, round_trip_s=0.0)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -0.001])
def test_an_exchange_that_cannot_be_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match=f"round_trip_s should be finite and not negative, is {bad}"):
        contradicted_by_the_clock("a case", 10.0, calls=10, wall_s=1.0, round_trip_s=bad)


# Without a graph, and graphs among themselves.


def test_slow_launches_are_doubt_with_both_times() -> None:
    assert unconfirmed_by_a_graph("a case", 8.0, burst_us=60.0, launches=1) == Finding(
        check="wall_clock",
        severity=Severity.HINT,
        message="the device time is 8 us, but calls back to back take 60 us each by the wall clock: launch overhead "
        "may be the reason, but the calls could not be captured in a graph, which would decide; make them capturable",
        case="a case",
    )


def test_more_than_launches_explain_is_suspect() -> None:
    finding = unconfirmed_by_a_graph("a case", 8.0, burst_us=700.0, launches=2)
    assert severity(finding) is Severity.SUSPECT
    assert finding is not None
    assert "700 us each by the wall clock: launches do not explain 692 us; look for work" in finding.message


@pytest.mark.parametrize(
    ("device_us", "burst_us", "launches", "expected"),
    [
        (80.0, 100.0, 1, None),
        (79.0, 100.0, 1, Severity.HINT),
        (1.0, 3.0, 1, None),  # as far apart as two calls of a graph may be
        (8.0, 308.0, 1, Severity.HINT),
        (8.0, 309.0, 1, Severity.SUSPECT),
        (8.0, 1208.0, 10, Severity.HINT),  # many small kernels, each launched slowly
        (20_000.0, 22_000.0, 1, None),  # two milliseconds more, but a device at work is slower than an idle one
        (50.0, 10.0, 1, None),
    ],
)
def test_burst_slightly_longer_than_time_confirms(
    device_us: float, burst_us: float, launches: int, expected: Severity | None
) -> None:
    assert severity(unconfirmed_by_a_graph("a case", device_us, burst_us=burst_us, launches=launches)) is expected


@pytest.mark.parametrize("bad", NO_TIMES)
@pytest.mark.parametrize("name", ["device_us", "burst_us"])
def test_burst_without_valid_time_is_refused_by_name(bad: float, name: str) -> None:
    facts = {"device_us": 10.0, "burst_us": 20.0, name: bad}
    with pytest.raises(ValueError, match=f"{name} should be finite and above zero, is {bad}"):
        unconfirmed_by_a_graph("a case", launches=1, **facts)


@pytest.mark.parametrize(
    ("verified_us", "unverified_us", "doubt_us", "expected"),
    [
        (20.0, 16.0, 0.0, None),
        (20.0, 15.9, 0.0, Severity.SUSPECT),
        (15.9, 20.0, 0.0, Severity.SUSPECT),
        (20.0, 15.9, 0.2, None),
        (3.0, 1.0, 0.0, None),
        (3.1, 1.0, 0.0, Severity.SUSPECT),
        (30.0, -0.1, 0.0, Severity.SUSPECT),  # what is lost in the exchange may come out below zero
        (-0.1, 0.1, 0.0, None),
    ],
)
def test_both_replay_kinds_agree_within_clock_resolution(
    verified_us: float, unverified_us: float, doubt_us: float, expected: Severity | None
) -> None:
    found = replays_that_differ("a case", verified_us=verified_us, unverified_us=unverified_us, doubt_us=doubt_us)
    assert severity(found) is expected


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_replays_of_no_finite_time_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match=f"times should be finite, are 1.0, {bad} and 0.0"):
        replays_that_differ("a case", verified_us=1.0, unverified_us=bad, doubt_us=0.0)


# Other streams.


def test_joined_streams_agree_with_the_callers_stream() -> None:
    assert work_on_other_streams("a case", 100.0, 104.0) is None


def test_work_not_awaited_by_callers_stream_is_suspect() -> None:
    assert work_on_other_streams("a case", 100.0, 4.0) == Finding(
        check="other_streams",
        severity=Severity.SUSPECT,
        message="a call takes 100 us over all streams, but only 4 us on the current one: its work is on "
        "a stream that the caller does not wait for; join it before returning",
        case="a case",
    )


@pytest.mark.parametrize(
    ("device_us", "stream_us", "expected"),
    [
        (15.0, 10.0, None),
        (15.1, 10.0, Severity.SUSPECT),
        (1.8, 0.8, None),  # more than double, but only 1 us
        (1.9, 0.8, Severity.SUSPECT),
        (149.0, 100.0, None),
        (3.0, 9.0, None),  # events see launch gaps too
    ],
)
def test_factor_and_difference_must_both_be_exceeded(
    device_us: float, stream_us: float, expected: Severity | None
) -> None:
    assert severity(work_on_other_streams("a case", device_us, stream_us)) is expected


@pytest.mark.parametrize("bad", NO_TIMES)
def test_invalid_spans_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="device_us"):
        work_on_other_streams("a case", bad, 1.0)
    with pytest.raises(ValueError, match="stream_us"):
        work_on_other_streams("a case", 1.0, bad)


# After the return.


def test_no_late_work_has_no_finding() -> None:
    assert work_after_return("a case", ()) is None


def test_a_late_kernel_is_suspect_by_name() -> None:
    assert work_after_return("a case", ["sneak"]) == Finding(
        check="after_return",
        severity=Severity.SUSPECT,
        message="work started outside the calls that it belongs to: sneak; start all of it before returning",
        case="a case",
    )


def test_many_late_kernels_are_counted_and_summarised() -> None:
    finding = work_after_return("a case", ["a", "b", "b", "c", "d", "e", "f"])
    assert finding is not None
    assert "belongs to: b (2x), a, c, d and 2 more; start" in finding.message


# The timer.


def test_substitute_timer_is_named_with_its_resolution() -> None:
    assert precise_timer_missing("a case", "no permission", Method.EVENTS, 0.5) == Finding(
        check="timer",
        severity=Severity.NOTE,
        message="device times are by events, no finer than 0.5 us: CUPTI could not be used: no permission",
        case="a case",
    )


def test_unknown_resolution_is_reported() -> None:
    message = precise_timer_missing("a case", "not installed", Method.GRAPH).message
    assert message == "device times are by graph, of unknown resolution: CUPTI could not be used: not installed"


def test_missing_timer_is_reported() -> None:
    message = precise_timer_missing("a case", "not installed", None).message
    assert message == "no device time was taken: CUPTI could not be used: not installed"


# Contention.


def test_quiet_device_with_steady_clock_gives_nothing() -> None:
    assert contention("a case", QUIET, dataclasses.replace(QUIET, sm_clock_mhz=1800, temperature_c=70)) == ()


def test_other_processes_are_hint_naming_each_once() -> None:
    before = dataclasses.replace(QUIET, other_processes=(30, 7))
    after = dataclasses.replace(QUIET, other_processes=(30, 100))
    (finding,) = contention("a case", before, after)
    assert finding == Finding(
        check="contention",
        severity=Severity.HINT,
        message="other processes use the device: 7, 30, 100; stop them and measure again",
        case="a case",
    )


def test_throttled_clocks_are_note_with_reasons() -> None:
    after = dataclasses.replace(QUIET, throttled_by=("power cap", "heat"))
    (finding,) = contention("a case", dataclasses.replace(QUIET, throttled_by=("brake", "power cap")), after)
    assert (finding.check, finding.severity) == ("throttled", Severity.NOTE)
    assert finding.message == "clocks are limited by brake, heat, power cap"


@pytest.mark.parametrize(
    ("after_mhz", "expected"), [(1782, []), (1781, [Severity.HINT]), (2178, []), (2179, [Severity.HINT])]
)
def test_clock_change_above_a_tenth_is_hint(after_mhz: int, expected: list[Severity]) -> None:
    found = contention("a case", QUIET, dataclasses.replace(QUIET, sm_clock_mhz=after_mhz))
    assert [finding.severity for finding in found] == expected
    assert all(f"went from 1980 to {after_mhz} MHz" in finding.message for finding in found)


@pytest.mark.parametrize(
    ("before", "after", "when"), [(None, QUIET, "before"), (QUIET, None, "after"), (None, None, "before")]
)
def test_unread_state_is_reported(before: DeviceState | None, after: DeviceState | None, when: str) -> None:
    (finding,) = contention("a case", before, after)
    assert finding.severity is Severity.NOTE
    assert finding.message == (f"the device's state {when} the benchmark could not be read: contention was not checked")


@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize(
    ("field", "what", "check", "message"),
    [
        ("other_processes", "other processes", "contention", "contention was not checked"),
        ("throttled_by", "throttling", "throttled", "clock limits were not checked"),
    ],
)
def test_missing_driver_value_is_noted(side: str, field: str, what: str, check: str, message: str) -> None:
    mute = dataclasses.replace(QUIET, **{field: None}, refused=("power: no", f"{what}: Not Supported"))  # type: ignore[arg-type]  # two fields of one kind
    (finding,) = contention("a case", mute if side == "before" else QUIET, mute if side == "after" else QUIET)
    assert (finding.check, finding.severity) == (check, Severity.NOTE)
    assert finding.message == f"{message}: {what}: Not Supported"


def test_other_processes_seen_once_are_hint() -> None:
    mute = dataclasses.replace(QUIET, other_processes=None)
    found = contention("a case", mute, dataclasses.replace(QUIET, other_processes=(5,)))
    assert [(finding.check, finding.severity) for finding in found] == [("contention", Severity.HINT)]


@pytest.mark.parametrize("side", ["before", "after"])
def test_unknown_clock_is_reported(side: str) -> None:
    mute = dataclasses.replace(QUIET, sm_clock_mhz=None)
    (finding,) = contention("a case", mute if side == "before" else QUIET, mute if side == "after" else QUIET)
    assert (finding.severity, finding.message) == (
        Severity.NOTE,
        "the driver does not report the SM clock, so clock changes were not checked",
    )


def test_simultaneous_disturbances_have_separate_findings() -> None:
    after = DeviceState(sm_clock_mhz=900, throttled_by=("heat",), other_processes=(5,))
    found = contention("a case", QUIET, after)
    assert [finding.check for finding in found] == ["contention", "throttled", "clock"]


# The stored baseline.


@pytest.mark.parametrize("measured_us", [1.0, 99.0, 130.0])
def test_baseline_as_fast_as_before_gives_nothing(measured_us: float) -> None:
    assert differs_from_stored_baseline("a case", "eager", 100.0, measured_us) is None


def test_baseline_much_slower_than_before_is_hint() -> None:
    assert differs_from_stored_baseline("a case", "eager", 100.0, 131.0) == Finding(
        check="slow_baseline",
        severity=Severity.HINT,
        message="eager took 131 us, 1.31 times the 100 us that it took on this device before; "
        "look for other load on it, then measure again",
        case="a case",
    )


@pytest.mark.parametrize("bad", NO_TIMES)
def test_invalid_baseline_time_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="stored_us"):
        differs_from_stored_baseline("a case", "eager", bad, 1.0)
    with pytest.raises(ValueError, match="measured_us"):
        differs_from_stored_baseline("a case", "eager", 1.0, bad)


# Noise.


@pytest.mark.parametrize(
    ("low", "high", "expected"), [(100.0, 100.0, None), (95.0, 105.0, None), (94.0, 105.0, Severity.NOTE)]
)
def test_interval_above_a_twentieth_is_note(low: float, high: float, expected: Severity | None) -> None:
    assert severity(noisy("a case", Interval(value=100.0, low=low, high=high))) is expected


def test_noise_note_states_the_uncertainty() -> None:
    finding = noisy("a case", Interval(value=10.0, low=8.0, high=14.0))
    assert finding is not None
    assert finding.message == "the device time is 10 us only within 30 %; measure for longer"


@pytest.mark.parametrize("value", [0.0, -1.0])
def test_interval_around_invalid_time_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="device_us"):
        noisy("a case", Interval(value=value, low=value, high=value))
