"""What happens is told in its order, with the seconds since the start of the run, until the end."""

from __future__ import annotations

import pytest

from engine.model import Finding, Location, Outcome, Severity, Stage, Stream, events
from engine.run.event_stream import EventEmitter

STARTED = 50.0


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
def emitter(watch: Watch) -> EventEmitter:
    return EventEmitter(watch, started=STARTED)


async def reported(emitter: EventEmitter) -> list[events.Event]:
    emitter.close()
    return [event async for event in emitter.stream()]


async def test_finished_stream_without_events_is_empty(emitter: EventEmitter) -> None:
    assert await reported(emitter) == []


async def test_stage_is_reported_with_its_duration(emitter: EventEmitter, watch: Watch) -> None:
    watch.at_s = 1.0
    began = emitter.begin(Stage.VERIFY, 3)
    watch.at_s = 1.5
    emitter.end(Stage.VERIFY, began, Outcome.TIMEOUT, "too long", Location(line=2))
    assert await reported(emitter) == [
        events.StageStarted(at_s=1.0, stage=Stage.VERIFY, total=3),
        events.StageFinished(
            at_s=1.5,
            stage=Stage.VERIFY,
            outcome=Outcome.TIMEOUT,
            elapsed_s=0.5,
            message="too long",
            location=Location(line=2),
        ),
    ]


async def test_stage_ends_ok_unless_stated_otherwise(emitter: EventEmitter) -> None:
    emitter.end(Stage.PARSE, emitter.begin(Stage.PARSE))
    _, finished = await reported(emitter)
    assert finished == events.StageFinished(at_s=0.0, stage=Stage.PARSE, outcome=Outcome.PASS, elapsed_s=0.0)


async def test_findings_are_reported_and_kept_for_verdict(emitter: EventEmitter, watch: Watch) -> None:
    watch.at_s = 2.0
    suspect = Finding(check="c", severity=Severity.SUSPECT, message="why?")
    emitter.find(suspect)
    emitter.note("d", "could not check")
    note = Finding(check="d", severity=Severity.NOTE, message="could not check")
    assert emitter.findings == [suspect, note]
    assert await reported(emitter) == [
        events.FindingRaised(at_s=2.0, finding=suspect),
        events.FindingRaised(at_s=2.0, finding=note),
    ]


async def test_empty_text_is_not_logged(emitter: EventEmitter) -> None:
    emitter.log(Stream.STDOUT, "")
    emitter.log(Stream.STDOUT, "\n")
    assert await reported(emitter) == [events.LogWritten(at_s=0.0, stream=Stream.STDOUT, text="\n")]


WAY = "Traceback\n  k.py, line 3\n"


async def test_same_error_of_many_cases_is_logged_once(emitter: EventEmitter) -> None:
    for trace in (f"{WAY}ValueError: 3", f"{WAY}ValueError: 4\n", "Traceback\n  k.py, line 9\nValueError: 3"):
        emitter.trace(trace)
    assert [event.text for event in await reported(emitter) if isinstance(event, events.LogWritten)] == [
        f"{WAY}ValueError: 3",
        "Traceback\n  k.py, line 9\nValueError: 3",
    ]
