"""Where the time goes, by a clock that is written here."""

from __future__ import annotations

import pytest

from engine.model.benchmark import Span
from engine.profile import Profile

STARTED = 1000.0


class Watch:
    """A clock that stands where it was put, in seconds after the start of the run."""

    def __init__(self) -> None:
        self.at_s = 0.0

    def __call__(self) -> float:
        return STARTED + self.at_s


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def profile(watch: Watch) -> Profile:
    return Profile(watch, started=STARTED)


def test_run_without_measurement_has_no_spans(profile: Profile) -> None:
    assert profile.spans() == ()


def test_single_span_keeps_measured_start(profile: Profile, watch: Watch) -> None:
    watch.at_s = 1.0
    with profile.span("load") as measured:
        watch.at_s = 1.5
    assert measured.elapsed_s == 0.5
    assert profile.spans() == (Span(name="load", count=1, busy_s=0.5, began_s=1.0, ended_s=1.5),)


def test_spans_of_one_kind_are_added(profile: Profile, watch: Watch) -> None:
    for began_s, ended_s in ((0.0, 0.25), (1.0, 1.5)):
        watch.at_s = began_s
        with profile.span("call"):
            watch.at_s = ended_s
    assert profile.spans() == (Span(name="call", count=2, busy_s=0.75, began_s=0.0, ended_s=1.5),)


def test_work_that_overlaps_counts_in_full(profile: Profile, watch: Watch) -> None:
    first, second = profile.span("compile"), profile.span("compile")
    first.__enter__()
    watch.at_s = 1.0
    second.__enter__()
    watch.at_s = 3.0
    first.__exit__(None, None, None)
    watch.at_s = 4.0
    second.__exit__(None, None, None)
    assert profile.spans() == (Span(name="compile", count=2, busy_s=6.0, began_s=0.0, ended_s=4.0),)


def test_external_work_is_recorded_by_clock_times(profile: Profile, watch: Watch) -> None:
    with profile.span("start"):
        watch.at_s = 1.0
    profile.note("start", STARTED + 2.0, STARTED + 2.5)
    assert profile.spans() == (Span(name="start", count=2, busy_s=1.5, began_s=0.0, ended_s=2.5),)


def test_span_end_is_latest_in_any_order(profile: Profile) -> None:
    profile.note("wait", STARTED + 3.0, STARTED + 4.0)
    profile.note("wait", STARTED + 1.0, STARTED + 2.0)
    [span] = profile.spans()
    assert (span.count, span.busy_s, span.ended_s) == (2, 2.0, 4.0)


def test_kinds_are_reported_by_their_start(profile: Profile, watch: Watch) -> None:
    outer = profile.span("dry run")
    outer.__enter__()
    watch.at_s = 1.0
    with profile.span("compile"):
        watch.at_s = 2.0
    outer.__exit__(None, None, None)
    assert [span.name for span in profile.spans()] == ["dry run", "compile"]


def test_nested_span_of_same_kind_counts_again(profile: Profile, watch: Watch) -> None:
    with profile.span("compile") as outer:
        watch.at_s = 1.0
        with profile.span("compile") as inner:
            watch.at_s = 3.0
        watch.at_s = 4.0
    assert (outer.elapsed_s, inner.elapsed_s) == (4.0, 2.0)
    assert profile.spans() == (Span(name="compile", count=2, busy_s=6.0, began_s=0.0, ended_s=4.0),)


def test_nested_span_with_equal_start_follows_outer(profile: Profile, watch: Watch) -> None:
    with profile.span("dry run"):
        with profile.span("compile"):
            watch.at_s = 1.0
        watch.at_s = 2.0
    assert [span.name for span in profile.spans()] == ["dry run", "compile"]


def test_work_that_failed_is_measured_too(profile: Profile, watch: Watch) -> None:
    with pytest.raises(OSError, match="no disk"), profile.span("publish"):
        watch.at_s = 0.5
        raise OSError("no disk")
    assert profile.spans() == (Span(name="publish", count=1, busy_s=0.5, began_s=0.0, ended_s=0.5),)
