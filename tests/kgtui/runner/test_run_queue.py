"""Requests from the queue to their verdict, with an engine that replays and a store in memory."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from engine.errors import EngineError
from engine.model import CaseResult, Outcome
from engine.model.events import CaseFinished, Event, PortingFinished, RunFinished, RunStarted
from kgtui.ports.requests import Priority, RetargetRequest, RunHeader, RunRequest
from kgtui.runner.driver import Request, RunDriver
from kgtui.runner.run_queue import RunQueue, Ticket
from tests.guards import PATIENCE_S
from tests.kgtui import fakes
from tests.kgtui.fakes import timed_runs


@dataclass
class Listener:
    """Receives runs, and counts what the store did not hold at that moment."""

    recording: Any = None
    headers: list[RunHeader] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    unrecorded: int = 0
    finished: asyncio.Event = field(default_factory=asyncio.Event)
    judging: asyncio.Event = field(default_factory=asyncio.Event)
    ported: asyncio.Event = field(default_factory=asyncio.Event)

    def run_began(self, header: RunHeader) -> None:
        self.headers.append(header)

    def events_happened(self, events: Sequence[Event]) -> None:
        number = self.headers[-1].number
        if self.recording is not None and number is not None and not self.headers[-1].cached:
            self.unrecorded += sum(event not in self.recording.events_by_run[number] for event in events)
        self.events += events
        if any(isinstance(event, CaseFinished) for event in events):
            self.judging.set()
        if verdicts := [event.verdict.outcome for event in events if isinstance(event, RunFinished)]:
            self.outcomes += verdicts
            self.finished.set()
        if any(isinstance(event, PortingFinished) for event in events):
            self.ported.set()

    def trouble_arose(self, message: str) -> None:
        self.troubles.append(message)

    async def first_case(self) -> None:
        await asyncio.wait_for(self.judging.wait(), PATIENCE_S)

    async def verdict(self) -> Outcome:
        """The next verdict, each once."""
        while not self.outcomes:
            self.finished.clear()
            await asyncio.wait_for(self.finished.wait(), PATIENCE_S)
        return self.outcomes.pop(0)


@dataclass
class Setting:
    """A queue that serves, and everything around it."""

    queue: RunQueue
    driver: RunDriver
    engine: Any
    recording: Any
    listener: Listener
    request: RunRequest

    def submit(self, request: Request, listener: Listener | None = None) -> Ticket:
        slot = str(request.path) if isinstance(request, RunRequest) else str(self.request.path)
        return self.queue.submit(request, listener or self.listener, slot=slot)

    def submit_batch(self, *contents: bytes) -> list[Ticket]:
        batched = replace(self.request, again=True, priority=Priority.BATCH, stops_at_verdict=True)
        return [self.queue.submit(replace(batched, content=content), self.listener) for content in contents]

    async def idle(self) -> None:
        """Until the queue has nothing left to do."""
        while self.queue.busy:
            await asyncio.sleep(0)

    @property
    def sources(self) -> list[bytes]:
        """What the engine has run, in this order."""
        return [candidate.source for candidate, _ in self.engine.judged]


@pytest.fixture
async def setting() -> AsyncIterator[Setting]:
    engine, recording = fakes.FakeEngine(), fakes.MemoryRecording()
    listener = Listener(recording=recording)
    queue = RunQueue(on_trouble=listener.trouble_arose)
    driver = RunDriver(engine, recording=recording, on_trouble=listener.trouble_arose)
    request = RunRequest(
        problem=fakes.softmax_problem(),
        path=Path("/k/softmax.py"),
        content=fakes.SOURCE,
        device="cpu",
        target="sm_90",
    )
    serving = asyncio.create_task(queue.serve(driver))
    yield Setting(queue=queue, driver=driver, engine=engine, recording=recording, listener=listener, request=request)
    serving.cancel()
    await asyncio.wait([serving])


async def test_save_is_verified_and_events_stored_before_shown(setting: Setting) -> None:
    setting.submit(setting.request)
    assert await setting.listener.verdict() is Outcome.PASS
    await setting.idle()
    assert setting.listener.headers == [RunHeader(number=1, cached=False, digest=setting.request.candidate.digest)]
    assert setting.recording.events_by_run[1] == setting.listener.events
    assert setting.listener.unrecorded == 0


async def test_the_same_content_is_answered_from_the_store(setting: Setting) -> None:
    setting.submit(setting.request)
    await setting.listener.verdict()
    await setting.idle()
    live, setting.listener.events = setting.listener.events, []
    setting.submit(setting.request)
    assert await setting.listener.verdict() is Outcome.PASS
    assert setting.listener.events == live
    assert setting.listener.headers[-1] == RunHeader(number=1, cached=True, digest=setting.request.candidate.digest)
    assert len(setting.engine.judged) == 1
    assert setting.recording.answers == [(1, 1)]


async def test_request_with_seed_is_not_answered_from_store(setting: Setting) -> None:
    for draw_seed in (None, 7):
        setting.submit(replace(setting.request, draw_seed=draw_seed))
        await setting.listener.verdict()
    assert [plan.draw_seed for _, plan in setting.engine.judged] == [None, 7]


async def test_untimed_run_does_not_answer_timing_request(setting: Setting) -> None:
    problem = timed_runs.timed_problem()
    setting.engine.script = timed_runs.all_timed
    request, wanted = replace(setting.request, problem=problem), timed_runs.bench_plan(problem).benchmark
    for benchmark in (None, wanted, wanted):
        setting.submit(replace(request, benchmark=benchmark))
        await setting.listener.verdict()
    assert [plan.benchmark for _, plan in setting.engine.judged] == [None, wanted]
    assert [(header.number, header.cached) for header in setting.listener.headers] == [
        (1, False),
        (2, False),
        (2, True),
    ]


async def test_failure_lines_are_found_outside_event_loop(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_for: list[tuple[str, int, bool]] = []

    def suspects(result: CaseResult, source: bytes) -> None:
        assert source == fakes.SOURCE
        shown = any(isinstance(event, CaseFinished) and event.result == result for event in setting.listener.events)
        looked_for.append((result.case, threading.get_ident(), shown))

    monkeypatch.setattr("kgtui.runner.run_queue.suspects", suspects)
    setting.engine.script = fakes.some_fail
    for again in (True, False):
        looked_for.clear()
        setting.listener.events.clear()
        setting.submit(replace(setting.request, again=again))
        await setting.listener.verdict()
        failed = [event.result for event in setting.listener.events if isinstance(event, CaseFinished)]
        cases = [result.case for result in failed if result.outcome is not Outcome.PASS]
        assert [case for case, _, _ in looked_for] == cases != []
        assert {(thread == threading.get_ident(), shown) for _, thread, shown in looked_for} == {(False, False)}


async def test_running_again_judges_the_same_content_again(setting: Setting) -> None:
    for again in (False, True):
        setting.submit(replace(setting.request, again=again))
        await setting.listener.verdict()
    assert [header.number for header in setting.listener.headers] == [1, 2]


async def test_save_while_busy_replaces_running_request(setting: Setting) -> None:
    setting.engine.script = fakes.stops_half_way
    setting.submit(setting.request)
    await setting.listener.first_case()
    setting.engine.script = fakes.all_pass
    setting.submit(replace(setting.request, content=b"new"))
    assert await setting.listener.verdict() is Outcome.CANCELLED
    assert await setting.listener.verdict() is Outcome.PASS
    assert [candidate.source for candidate, _ in setting.engine.judged] == [fakes.SOURCE, b"new"]


async def test_save_overtaken_in_queue_never_runs(setting: Setting) -> None:
    for content in (b"one", b"two", b"three"):
        setting.submit(replace(setting.request, content=content))
    await setting.listener.verdict()
    assert [candidate.source for candidate, _ in setting.engine.judged] == [b"three"]


async def test_cancelling_ends_run_and_reports_whether_any(setting: Setting) -> None:
    assert setting.queue.cancel() is False
    setting.engine.script = fakes.stops_half_way
    setting.submit(setting.request)
    await setting.listener.first_case()
    assert setting.queue.cancel() is True
    assert await setting.listener.verdict() is Outcome.CANCELLED


async def test_cancel_before_engine_knows_run_ends_it(setting: Setting) -> None:
    loop, begin = asyncio.get_running_loop(), setting.recording.begin

    def cancel_and_begin(request: RunRequest) -> int:
        loop.call_soon_threadsafe(setting.queue.cancel)
        return int(begin(request))

    setting.recording.begin = cancel_and_begin
    setting.engine.script = fakes.stops_half_way
    setting.submit(setting.request)
    assert await setting.listener.verdict() is Outcome.CANCELLED


async def test_cancelled_run_does_not_answer_next_save(setting: Setting) -> None:
    setting.engine.script = fakes.stops_half_way
    setting.submit(setting.request)
    await setting.listener.first_case()
    setting.queue.cancel()
    await setting.listener.verdict()
    setting.engine.script = fakes.all_pass
    setting.submit(setting.request)
    assert await setting.listener.verdict() is Outcome.PASS


async def test_cases_failed_last_time_run_first(setting: Setting) -> None:
    setting.engine.script = fakes.some_fail
    setting.submit(setting.request)
    await setting.listener.verdict()
    setting.submit(replace(setting.request, content=b"new"))
    await setting.listener.verdict()
    assert [case.name for case in setting.engine.judged[1][1].cases][:3] == ["127x128 f32", "127x128 f16", "1x781 f32"]


async def test_picked_cases_are_the_only_ones_judged(setting: Setting) -> None:
    setting.submit(replace(setting.request, cases=("4x1 f32",), again=True))
    await setting.listener.verdict()
    assert [case.name for case in setting.engine.judged[0][1].cases] == ["4x1 f32"]


async def test_stream_without_verdict_is_engine_error(setting: Setting) -> None:
    class Broken(fakes.FakeEngine):
        async def evaluate(self, candidate: Any, plan: Any, *, run_id: Any = None) -> AsyncIterator[Event]:
            yield fakes.all_pass(candidate, plan)[0]

    setting.driver._engine = Broken()
    setting.submit(setting.request)
    assert await setting.listener.verdict() is Outcome.ENGINE_ERROR


@pytest.mark.parametrize("error", [EngineError("the judge died"), ZeroDivisionError("oops")])
async def test_failing_engine_ends_run_with_its_message(setting: Setting, error: Exception) -> None:
    def fail(candidate: Any, plan: Any) -> Any:
        raise error

    setting.engine.script = fail
    setting.submit(setting.request)
    assert await setting.listener.verdict() is Outcome.ENGINE_ERROR
    first, last = setting.listener.events
    assert isinstance(first, RunStarted) and isinstance(last, RunFinished)
    assert str(error) in last.verdict.sentence
    setting.engine.script = fakes.all_pass
    setting.submit(replace(setting.request, content=b"new"))
    assert await setting.listener.verdict() is Outcome.PASS


async def test_refusing_store_is_reported_and_run_continues(setting: Setting) -> None:
    setting.recording.refuses = "the disk is full"
    setting.submit(replace(setting.request, again=True))
    assert await setting.listener.verdict() is Outcome.PASS
    assert setting.listener.headers[0].number is None
    assert setting.listener.troubles == ["run not saved: the disk is full"]


async def test_store_failing_midway_is_reported_once(setting: Setting) -> None:
    def break_then_go_on(candidate: Any, plan: Any) -> Any:
        for event in fakes.all_pass(candidate, plan):
            yield event
            setting.recording.refuses = "the disk is full"

    setting.engine.script = break_then_go_on
    setting.submit(setting.request)
    assert await setting.listener.verdict() is Outcome.PASS
    assert setting.listener.troubles == ["rest of the run not saved: the disk is full"]


async def test_request_without_a_store_runs_and_records_nothing(setting: Setting) -> None:
    setting.driver.recording = None
    setting.listener.recording = None
    setting.submit(setting.request)
    assert await setting.listener.verdict() is Outcome.PASS
    assert setting.listener.headers[0].number is None


async def test_a_flood_of_events_leaves_others_their_turn(setting: Setting) -> None:
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    def flood(candidate: Any, plan: Any) -> Any:
        events = fakes.all_pass(candidate, plan)
        yield events[0]
        for _ in range(20_000):
            yield events[7]
        yield events[-2]

    setting.engine.script = flood
    counting = asyncio.create_task(count_turns())
    setting.submit(setting.request)
    await setting.listener.verdict()
    counting.cancel()
    assert len(setting.listener.events) == 20_002
    assert turns > 10_000


# Other targets


def retarget(setting: Setting, *, targets: tuple[str, ...] = ("sm_80", "gfx942")) -> RetargetRequest:
    return RetargetRequest(
        candidate=setting.request.candidate,
        entry="softmax",
        launches=(fakes.softmax_launch(),),
        targets=targets,
        number=1,
        after_s=0.9,
    )


async def ports_of_run(setting: Setting) -> PortingFinished:
    await asyncio.wait_for(setting.listener.ported.wait(), PATIENCE_S)
    return [event for event in setting.listener.events if isinstance(event, PortingFinished)][-1]


async def test_builds_for_other_targets_are_stored_before_shown(setting: Setting) -> None:
    setting.submit(setting.request)
    await setting.listener.verdict()
    setting.submit(retarget(setting))
    assert (await ports_of_run(setting)).outcome is Outcome.PASS
    assert len(setting.listener.headers) == 1
    assert setting.recording.events_by_run[1] == setting.listener.events
    assert setting.listener.unrecorded == 0


async def test_a_save_stops_the_builds_for_other_targets(setting: Setting) -> None:
    setting.submit(setting.request)
    await setting.listener.verdict()
    setting.engine.ports_only = 2
    setting.submit(retarget(setting))
    while not setting.engine.ported:
        await asyncio.sleep(0)
    setting.submit(replace(setting.request, content=b"new"))
    assert (await ports_of_run(setting)).outcome is Outcome.CANCELLED
    assert await setting.listener.verdict() is Outcome.PASS


@pytest.mark.parametrize("error", [EngineError("no compiler got ready"), ZeroDivisionError("oops")])
async def test_failing_engine_ends_builds_with_its_message(setting: Setting, error: Exception) -> None:
    class Broken(fakes.FakeEngine):
        async def retarget(self, candidate: Any, **_: Any) -> AsyncIterator[Event]:
            raise error
            yield

    setting.driver._engine = Broken()
    setting.submit(retarget(setting))
    setting.listener.headers.append(RunHeader(number=None, cached=False, digest=""))
    setting.recording.events_by_run[1] = []
    finished = await ports_of_run(setting)
    assert finished.outcome is Outcome.ENGINE_ERROR
    assert str(error) in finished.message


# Batches


async def test_requests_of_a_batch_run_in_their_order(setting: Setting) -> None:
    listeners = [Listener(recording=setting.recording) for _ in range(2)]
    batched = replace(setting.request, again=True, priority=Priority.BATCH)
    for content, listener in zip((b"one", b"two"), listeners, strict=True):
        setting.queue.submit(replace(batched, content=content), listener)
    assert [await listener.verdict() for listener in listeners] == [Outcome.PASS, Outcome.PASS]
    assert setting.sources == [b"one", b"two"]
    assert [[header.number for header in listener.headers] for listener in listeners] == [[1], [2]]
    assert [listener.unrecorded for listener in listeners] == [0, 0]


async def test_save_runs_before_a_waiting_batch(setting: Setting) -> None:
    setting.submit_batch(b"one", b"two")
    setting.submit(replace(setting.request, content=b"saved"))
    for _ in range(3):
        await setting.listener.verdict()
        await asyncio.sleep(0)
    assert setting.sources == [b"saved", b"one", b"two"]


async def test_save_interrupts_batch_request_which_runs_again(setting: Setting) -> None:
    setting.engine.script = fakes.stops_half_way
    setting.submit_batch(b"one", b"two")
    await setting.listener.first_case()
    setting.engine.script = fakes.all_pass
    setting.submit(replace(setting.request, content=b"saved"))
    outcomes = [await setting.listener.verdict() for _ in range(4)]
    assert outcomes == [Outcome.CANCELLED, Outcome.PASS, Outcome.PASS, Outcome.PASS]
    assert setting.sources == [b"one", b"saved", b"one", b"two"]


async def test_dropped_interrupted_request_does_not_run_again(setting: Setting) -> None:
    setting.engine.script = fakes.stops_half_way
    one, two = setting.submit_batch(b"one", b"two")
    await setting.listener.first_case()
    setting.engine.script = fakes.all_pass
    setting.submit(replace(setting.request, content=b"saved"))
    setting.queue.drop(one)
    setting.queue.drop(two)
    assert [await setting.listener.verdict() for _ in range(2)] == [Outcome.CANCELLED, Outcome.PASS]
    assert setting.sources == [b"one", b"saved"]
    assert not setting.queue.waits


async def test_waiting_request_that_is_dropped_never_runs(setting: Setting) -> None:
    one, _ = setting.submit_batch(b"one", b"two")
    setting.queue.drop(one)
    await setting.listener.verdict()
    assert setting.sources == [b"two"]


async def test_newer_save_leaves_requests_of_other_slots(setting: Setting) -> None:
    other = replace(setting.request, path=setting.request.path.with_name("other.py"), content=b"other")
    setting.submit(other)
    setting.submit(replace(setting.request, content=b"old"))
    setting.submit(replace(setting.request, content=b"new"))
    for _ in range(2):
        await setting.listener.verdict()
    assert setting.sources == [b"other", b"new"]


async def test_cancelling_drops_the_running_and_all_waiting_requests(setting: Setting) -> None:
    setting.engine.script = fakes.stops_half_way
    setting.submit_batch(b"one", b"two")
    await setting.listener.first_case()
    assert setting.queue.cancel() is True
    assert await setting.listener.verdict() is Outcome.CANCELLED
    assert setting.sources == [b"one"]
    assert not setting.queue.waits


async def test_failure_of_one_request_keeps_the_queue(setting: Setting) -> None:
    class Faulty(Listener):
        def run_began(self, header: RunHeader) -> None:
            raise ZeroDivisionError("oops")

    setting.submit(setting.request, Faulty())
    setting.submit(replace(setting.request, path=setting.request.path.with_name("other.py"), content=b"other"))
    assert await setting.listener.verdict() is Outcome.PASS
    assert setting.listener.troubles == ["kgtui itself failed: ZeroDivisionError: oops; r runs it again"]
    assert setting.sources == [b"other"]


async def test_request_ending_at_verdict_waits_for_nothing(setting: Setting) -> None:
    setting.submit(replace(setting.request, stops_at_verdict=True))
    await setting.listener.verdict()
    setting.submit_batch(b"one")
    await setting.listener.verdict()
    assert isinstance(setting.recording.events_by_run[1][-1], RunFinished)


async def test_request_before_engine_is_answered_from_store(setting: Setting) -> None:
    setting.submit(setting.request)
    await setting.listener.verdict()
    early, listener = RunQueue(on_trouble=setting.listener.trouble_arose), Listener()
    early.submit(setting.request, listener)
    early.submit(replace(setting.request, content=b"new", priority=Priority.BATCH), listener)
    await early.answer(setting.driver)
    assert listener.headers == [RunHeader(number=1, cached=True, digest=setting.request.candidate.digest)]
    assert (early.waits, await listener.verdict()) == (True, Outcome.PASS)


async def test_run_with_other_targets_compiles_for_them(setting: Setting) -> None:
    setting.submit(replace(setting.request, again=True, targets=("sm_80",)))
    assert (await ports_of_run(setting)).outcome is Outcome.PASS
    assert setting.recording.events_by_run[1] == setting.listener.events
