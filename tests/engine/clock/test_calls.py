"""Device activity is assigned to windows of calls, to our own windows, or to none."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from engine import protocol
from engine.clock.calls import Calls, Record, Window, attributed
from engine.clock.cupti import Activity, CuptiError, Kind
from engine.clock.instruments import HOLD
from engine.clock.scripted import ScriptedDevice


def activity(name: str, start_ns: int, end_ns: int = 0) -> Activity:
    return Activity(
        kind=Kind.KERNEL, name=name, start_ns=start_ns, end_ns=end_ns or start_ns + 5, stream=0, correlation=0
    )


def test_activity_belongs_to_window_of_its_start() -> None:
    windows = [Window(begin_ns=100, call=0), Window(begin_ns=200, call=1), Window(begin_ns=300)]
    found, late = attributed([activity("b", 299, 400), activity("a", 100), activity("c", 200)], windows, calls=2)
    assert [[one.name for one in call] for call in found] == [["a"], ["c", "b"]]
    assert late == ()


def test_activity_outside_all_windows_is_late() -> None:
    windows = [Window(begin_ns=100, call=0), Window(begin_ns=200)]
    found, late = attributed([activity("behind", 200), activity("before", 99)], windows, calls=1)
    assert (found, late) == ([[]], ("before", "behind"))
    assert attributed([activity("before", 99)], windows[:1], calls=1) == ([[]], ("before",))


def test_own_window_may_hold_only_own_activity() -> None:
    windows = [Window(begin_ns=100, most=2), Window(begin_ns=200)]
    assert attributed([activity("copy", 110), activity("copy", 120)], windows, calls=0) == ([], ())
    more = [activity("copy", 110), activity("copy", 120), activity("secret", 130)]
    assert attributed(more, windows, calls=0) == ([], ("copy", "copy", "secret"))


def single(device: ScriptedDevice, *works: Callable[[], object], calls: Calls | None = None, copies: int = 0) -> Record:
    """Single calls after which something is copied, one activity."""

    def after(number: int, returned: object) -> int:
        if copies:
            device.put("copy", 10)
        return copies

    side = calls or Calls(device.instruments())
    return side.single(works, before=lambda number: device.evict(), after=after)


def test_span_is_first_start_to_last_end() -> None:
    device = ScriptedDevice()

    def work() -> None:
        device.put("first", 100)
        device.put("second", 200, after_ns=50)

    assert single(device, work, copies=1) == Record(
        calls=(protocol.CallTime(span_ns=350, stream_ns=350, activities=2, busy_ns=300),),
        late=(),
        method="cupti",
        reason="",
        kernels=(protocol.KernelTime(name="second", device_ns=200), protocol.KernelTime(name="first", device_ns=100)),
    )


def test_record_inconsistent_with_clock_has_no_times() -> None:
    device = ScriptedDevice()
    ahead = replace(device.instruments(), hold=lambda duration_ns: device.put(HOLD, duration_ns, after_ns=-20_000))
    calls = Calls(ahead)
    record = single(device, lambda: device.put("kernel", 30), calls=calls)
    assert (record.method, record.late, record.calls[0].span_ns) == ("", (), None)
    assert record.reason == (
        "the device's record and its clock disagree: the kernel that held the stream is not adjacent to the call"
    )


def test_concurrent_activities_count_busy_time_once() -> None:
    device = ScriptedDevice()

    def work() -> None:
        device.put("long", 100)
        device.put("beside it", 30, after_ns=-80)
        device.put("past it", 50, after_ns=30)
        device.put("later", 5, after_ns=10)

    (call,) = single(device, work).calls
    assert (call.span_ns, call.busy_ns) == (145, 135)


def test_every_call_is_timed_with_kernels_of_all() -> None:
    device = ScriptedDevice()
    record = single(device, *(lambda ns=ns: device.put(f"k{ns % 3}", ns) for ns in (30, 20, 45)))
    assert [call.span_ns for call in record.calls] == [30, 20, 45]
    assert device.evictions == 3
    assert record.kernels == (
        protocol.KernelTime(name="k0", device_ns=75, count=2),
        protocol.KernelTime(name="k2", device_ns=20),
    )


def test_call_without_device_work_has_no_span() -> None:
    device = ScriptedDevice()
    record = single(device, lambda: None, lambda: device.put("k", 7))
    assert record.calls == (
        protocol.CallTime(span_ns=None, stream_ns=0, activities=0),
        protocol.CallTime(span_ns=7, stream_ns=7, activities=1, busy_ns=7),
    )
    assert record.kernels == (protocol.KernelTime(name="k", device_ns=7),)


def test_work_between_two_runs_is_reported_with_second() -> None:
    device = ScriptedDevice()
    calls = Calls(device.instruments())
    assert single(device, lambda: device.put("k", 5), calls=calls).late == ()
    device.put("secret", 5)
    assert single(device, lambda: device.put("k", 5), calls=calls).late == ("secret",)


def test_work_before_rest_is_reported_but_not_after() -> None:
    device = ScriptedDevice()
    calls = Calls(device.instruments())
    single(device, lambda: None, calls=calls)
    device.put("secret", 5)
    calls.rest()
    device.put("the judge's", 5)
    assert single(device, lambda: None, calls=calls).late == ("secret",)
    assert single(device, lambda: None, calls=calls).late == ()


@pytest.mark.parametrize("copies", [1, 3])
def test_foreign_kernel_among_own_copies_is_late(copies: int) -> None:
    device = ScriptedDevice()

    def after(number: int, returned: object) -> int:
        for _ in range(copies):
            device.put("copy", 10)
        device.put("hidden", 10)
        return copies

    record = Calls(device.instruments()).single([lambda: None], before=lambda number: 0, after=after)
    assert record.late == (*["copy"] * copies, "hidden")


def test_missing_recorder_gives_stream_times_with_reason() -> None:
    device = ScriptedDevice()
    record = single(device, lambda: device.put("k", 25), calls=Calls(device.instruments(precise=False)))
    assert record == Record(
        calls=(protocol.CallTime(span_ns=None, stream_ns=25, activities=0),),
        kernels=(),
        late=(),
        method="",
        reason="scripted without a recorder",
    )


@pytest.mark.parametrize("fails_at", ["start", "take"])
def test_failing_recorder_is_replaced_only_with_reason(fails_at: str) -> None:
    device = ScriptedDevice()

    def work() -> None:
        device.put("k", 25)
        device.trouble = CuptiError("CUPTI dropped 3 records")

    if fails_at == "start":
        device.trouble = CuptiError("CUPTI dropped 3 records")
    record = single(device, work)
    assert (record.method, record.reason) == ("", "CUPTI dropped 3 records")
    assert record.calls == (protocol.CallTime(span_ns=None, stream_ns=25, activities=0),)


def test_call_error_is_raised_and_recording_stops() -> None:
    device = ScriptedDevice()

    def work() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        single(device, work)
    assert not device.is_recording


@pytest.mark.parametrize(("ahead_ns", "early"), [(0, 0), (990, 0), (1010, 1), (90_000, 1)])
def test_kernel_starting_long_before_release_is_early(ahead_ns: int, early: int) -> None:
    device = ScriptedDevice()
    record = single(device, lambda: device.put("k", 100, after_ns=-ahead_ns))
    assert (record.calls[0].early, record.calls[0].activities) == (early, 1)


@pytest.mark.parametrize(
    ("launching_ns", "held_ns"),
    [(49_000, [100_000] * 4), (50_000, [100_000] + [200_000] * 3), (300_000, [100_000, 200_000, 400_000, 800_000])],
)
def test_call_is_held_for_twice_its_launch_time(
    launching_ns: int, held_ns: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    device = ScriptedDevice()
    held: list[int] = []
    instruments = device.instruments()

    def hold(duration_ns: int) -> None:
        held.append(duration_ns)
        instruments.hold(duration_ns)

    ticking = itertools.count(0, launching_ns)
    monkeypatch.setattr("engine.clock.calls.time.perf_counter_ns", lambda: next(ticking))
    single(device, *[lambda: device.put("k", 100)] * 4, calls=Calls(replace(instruments, hold=hold)))
    assert held == held_ns


def test_calls_waiting_for_device_are_released_and_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    device = ScriptedDevice()
    calls = Calls(device.instruments())
    waiting = itertools.count(0, 2_000_000)  # every call takes longer than the longest hold
    monkeypatch.setattr("engine.clock.calls.time.perf_counter_ns", lambda: next(waiting))
    works = [lambda: device.put("k", 100)] * 6
    assert single(device, *works, calls=calls).notes == ()
    (note,) = single(device, *works, calls=calls).notes
    assert "the stream was not held while they launched" in note
    held_ns = device.clock_ns
    single(device, *works, calls=calls)
    assert device.clock_ns - held_ns < 1_000_000


def test_names_are_truncated_to_reply_size() -> None:
    device = ScriptedDevice()

    def work() -> None:
        for number in range(300):
            device.put(f"{number:03}" + "k" * 600, 1 + number)

    longest = [f"{number:03}" + "k" * 497 for number in range(299, 43, -1)]
    record = single(device, work)
    assert [kernel.name for kernel in record.kernels] == longest
    assert record.calls[0].activities == 300
    captured = Calls(device.instruments()).capture([work])
    assert [kernel.name for kernel in captured] == [f"{number:03}" + "k" * 497 for number in range(256)]


def test_burst_keeps_outputs_and_is_timed_without_recorder() -> None:
    device = ScriptedDevice()
    calls = Calls(device.instruments())

    def work(number: int) -> int:
        assert not device.is_recording
        device.put("k", 100)
        return number

    single(device, lambda: None, calls=calls)
    assert calls.burst([lambda number=number: work(number) for number in range(3)]) == 300
    assert calls.kept == (0, 1, 2)


def test_burst_releases_earlier_outputs_before_calls() -> None:
    calls = Calls(ScriptedDevice().instruments())
    held = [torch.zeros(3)]
    kept = weakref.ref(held[0])
    calls.burst([held.pop])
    assert kept() is not None
    calls.burst([kept])
    assert calls.kept == (None,)


def test_graph_is_replayed_as_whole_with_captured_outputs() -> None:
    device = ScriptedDevice()
    calls = Calls(device.instruments())
    captured = calls.capture([lambda: device.put("a", 40), lambda: device.put("b", 60)])
    assert captured == (protocol.KernelTime(name="a"), protocol.KernelTime(name="b"))
    assert (calls.captured, calls.kept) == (2, ())
    assert calls.replay() == 100
    assert calls.kept == (None, None)
    calls.forget()
    assert (calls.captured, calls.kept) == (0, ())


def test_a_capture_that_fails_leaves_no_graph() -> None:
    device = ScriptedDevice()
    calls = Calls(device.instruments())
    calls.capture([lambda: None])

    def work() -> None:
        raise RuntimeError("operation not permitted when stream is capturing")

    with pytest.raises(RuntimeError, match="not permitted"):
        calls.capture([work])
    assert calls.captured == 0
