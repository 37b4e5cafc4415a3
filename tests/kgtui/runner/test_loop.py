"""The loop from a save to its verdict, with an engine that replays and a store in memory."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

import pytest

from engine.errors import EngineError
from engine.model import CaseResult, Outcome
from engine.model.events import CaseFinished, Event, PortingFinished, RunFinished, RunStarted
from kgtui.ports.protocols import GridOrder, Order, PortOrder, RunHeader
from kgtui.runner.loop import Loop
from tests.guards import PATIENCE_S


@dataclass
class Listener:
    """Hears what the loop says, and how much of it the store held at that moment."""

    recording: Any = None
    headers: list[RunHeader] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
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
        if any(isinstance(event, RunFinished) for event in events):
            self.finished.set()
        if any(isinstance(event, PortingFinished) for event in events):
            self.ported.set()

    def trouble_arose(self, message: str) -> None:
        self.troubles.append(message)

    async def first_case(self) -> None:
        await asyncio.wait_for(self.judging.wait(), PATIENCE_S)

    async def verdict(self) -> Outcome:
        await asyncio.wait_for(self.finished.wait(), PATIENCE_S)
        self.finished.clear()
        return [event for event in self.events if isinstance(event, RunFinished)][-1].verdict.outcome


@dataclass
class Setting:
    """A loop that serves, and everything around it."""

    loop: Loop
    engine: Any
    recording: Any
    listener: Listener
    order: Order


@pytest.fixture
async def setting(fakes: ModuleType) -> AsyncIterator[Setting]:
    engine, recording = fakes.FakeEngine(), fakes.MemoryRecording()
    listener = Listener(recording=recording)
    loop = Loop(engine, audience=listener, clock=asyncio.get_running_loop().time, recording=recording)
    order = Order(
        problem=fakes.softmax_problem(),
        path=fakes.Path("/k/softmax.py"),
        content=fakes.SOURCE,
        device="cpu",
        target="sm_90",
    )
    serving = asyncio.create_task(loop.serve())
    yield Setting(loop=loop, engine=engine, recording=recording, listener=listener, order=order)
    serving.cancel()
    await asyncio.wait([serving])


async def test_a_save_is_judged_and_every_event_is_kept_before_it_is_shown(setting: Setting) -> None:
    setting.loop.submit(setting.order)
    assert await setting.listener.verdict() is Outcome.PASS
    assert setting.listener.headers == [RunHeader(number=1, cached=False, digest=setting.order.candidate.digest)]
    assert setting.recording.events_by_run[1] == setting.listener.events
    assert setting.listener.unrecorded == 0


async def test_the_same_content_is_answered_from_the_store(setting: Setting) -> None:
    setting.loop.submit(setting.order)
    await setting.listener.verdict()
    live, setting.listener.events = setting.listener.events, []
    setting.loop.submit(setting.order)
    assert await setting.listener.verdict() is Outcome.PASS
    assert setting.listener.events == live
    assert setting.listener.headers[-1] == RunHeader(number=1, cached=True, digest=setting.order.candidate.digest)
    assert len(setting.engine.judged) == 1
    assert setting.recording.answers == [(1, 1)]


async def test_a_run_that_timed_nothing_is_no_answer_where_times_are_asked_for(
    setting: Setting, bench_fakes: ModuleType
) -> None:
    problem = bench_fakes.timed_problem()
    setting.engine.script = bench_fakes.all_timed
    order, wanted = replace(setting.order, problem=problem), bench_fakes.bench_plan(problem).benchmark
    for benchmark in (None, wanted, wanted):
        setting.loop.submit(replace(order, benchmark=benchmark))
        await setting.listener.verdict()
    assert [plan.benchmark for _, plan in setting.engine.judged] == [None, wanted]
    assert [(header.number, header.cached) for header in setting.listener.headers] == [
        (1, False),
        (2, False),
        (2, True),
    ]


async def test_the_lines_that_failed_cases_point_to_are_looked_for_beside_the_loop_before_the_cases_are_shown(
    setting: Setting, fakes: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_for: list[tuple[str, int, bool]] = []

    def suspects(result: CaseResult, source: bytes) -> None:
        assert source == fakes.SOURCE
        shown = any(isinstance(event, CaseFinished) and event.result == result for event in setting.listener.events)
        looked_for.append((result.case, threading.get_ident(), shown))

    monkeypatch.setattr("kgtui.runner.loop.suspects", suspects)
    setting.engine.script = fakes.some_fail
    for again in (True, False):
        looked_for.clear()
        setting.listener.events.clear()
        setting.loop.submit(replace(setting.order, again=again))
        await setting.listener.verdict()
        failed = [event.result for event in setting.listener.events if isinstance(event, CaseFinished)]
        cases = [result.case for result in failed if result.outcome is not Outcome.PASS]
        assert [case for case, _, _ in looked_for] == cases != []
        assert {(thread == threading.get_ident(), shown) for _, thread, shown in looked_for} == {(False, False)}


async def test_running_again_judges_the_same_content_anew(setting: Setting) -> None:
    for again in (False, True):
        setting.loop.submit(replace(setting.order, again=again))
        await setting.listener.verdict()
    assert [header.number for header in setting.listener.headers] == [1, 2]


async def test_a_save_while_busy_stops_the_run_and_is_judged_instead(setting: Setting, fakes: ModuleType) -> None:
    setting.engine.script = fakes.stops_half_way
    setting.loop.submit(setting.order)
    await setting.listener.first_case()
    setting.engine.script = fakes.all_pass
    setting.loop.submit(replace(setting.order, content=b"new"))
    assert await setting.listener.verdict() is Outcome.CANCELLED
    assert await setting.listener.verdict() is Outcome.PASS
    assert [candidate.source for candidate, _ in setting.engine.judged] == [fakes.SOURCE, b"new"]


async def test_a_save_that_was_overtaken_before_its_turn_is_never_judged(setting: Setting) -> None:
    for content in (b"one", b"two", b"three"):
        setting.loop.submit(replace(setting.order, content=content))
    await setting.listener.verdict()
    assert [candidate.source for candidate, _ in setting.engine.judged] == [b"three"]


async def test_cancelling_ends_the_run_and_says_whether_there_was_one(setting: Setting, fakes: ModuleType) -> None:
    assert setting.loop.cancel() is False
    setting.engine.script = fakes.stops_half_way
    setting.loop.submit(setting.order)
    await setting.listener.first_case()
    assert setting.loop.cancel() is True
    assert await setting.listener.verdict() is Outcome.CANCELLED


async def test_a_cancelled_run_is_no_answer_for_the_next_save(setting: Setting, fakes: ModuleType) -> None:
    setting.engine.script = fakes.stops_half_way
    setting.loop.submit(setting.order)
    await setting.listener.first_case()
    setting.loop.cancel()
    await setting.listener.verdict()
    setting.engine.script = fakes.all_pass
    setting.loop.submit(setting.order)
    assert await setting.listener.verdict() is Outcome.PASS


async def test_what_failed_last_time_is_judged_first(setting: Setting, fakes: ModuleType) -> None:
    setting.engine.script = fakes.some_fail
    setting.loop.submit(setting.order)
    await setting.listener.verdict()
    setting.loop.submit(replace(setting.order, content=b"new"))
    await setting.listener.verdict()
    assert [case.name for case in setting.engine.judged[1][1].cases][:3] == ["127x128 f32", "127x128 f16", "1x781 f32"]


async def test_picked_cases_are_the_only_ones_judged(setting: Setting) -> None:
    setting.loop.submit(replace(setting.order, cases=("4x1 f32",), again=True))
    await setting.listener.verdict()
    assert [case.name for case in setting.engine.judged[0][1].cases] == ["4x1 f32"]


async def test_a_stream_without_a_verdict_ends_as_our_own_fault(setting: Setting, fakes: ModuleType) -> None:
    class Broken(fakes.FakeEngine):  # type: ignore[misc, name-defined]  # the doubles are not typed here
        async def evaluate(self, candidate: Any, plan: Any, *, cancelled: Any = None) -> AsyncIterator[Event]:
            yield fakes.all_pass(candidate, plan)[0]

    setting.loop._judging = Broken()
    setting.loop.submit(setting.order)
    assert await setting.listener.verdict() is Outcome.ENGINE_ERROR


@pytest.mark.parametrize("error", [EngineError("the judge died"), ZeroDivisionError("oops")])
async def test_a_failing_engine_ends_the_run_with_what_it_said(
    setting: Setting, fakes: ModuleType, error: Exception
) -> None:
    def fail(candidate: Any, plan: Any) -> Any:
        raise error

    setting.engine.script = fail
    setting.loop.submit(setting.order)
    assert await setting.listener.verdict() is Outcome.ENGINE_ERROR
    first, last = setting.listener.events
    assert isinstance(first, RunStarted) and isinstance(last, RunFinished)
    assert str(error) in last.verdict.sentence
    setting.engine.script = fakes.all_pass
    setting.loop.submit(replace(setting.order, content=b"new"))
    assert await setting.listener.verdict() is Outcome.PASS


async def test_a_store_that_refuses_is_said_and_the_run_goes_on(setting: Setting) -> None:
    setting.recording.refuses = "the disk is full"
    setting.loop.submit(replace(setting.order, again=True))
    assert await setting.listener.verdict() is Outcome.PASS
    assert setting.listener.headers[0].number is None
    assert setting.listener.troubles == ["this run is not kept: the disk is full"]


async def test_a_store_that_breaks_in_the_middle_is_said_once(setting: Setting, fakes: ModuleType) -> None:
    def break_then_go_on(candidate: Any, plan: Any) -> Any:
        for event in fakes.all_pass(candidate, plan):
            yield event
            setting.recording.refuses = "the disk is full"

    setting.engine.script = break_then_go_on
    setting.loop.submit(setting.order)
    assert await setting.listener.verdict() is Outcome.PASS
    assert setting.listener.troubles == ["the rest of this run is not kept: the disk is full"]


async def test_without_a_store_the_loop_judges_and_keeps_nothing(setting: Setting) -> None:
    setting.loop.recording = None
    setting.listener.recording = None
    setting.loop.submit(setting.order)
    assert await setting.listener.verdict() is Outcome.PASS
    assert setting.listener.headers[0].number is None


async def test_a_flood_of_events_leaves_others_their_turn(setting: Setting, fakes: ModuleType) -> None:
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

    seconds = iter(range(10**9))  # every look at the clock finds that a second has passed
    setting.loop._clock = lambda: float(next(seconds))
    setting.engine.script = flood
    counting = asyncio.create_task(count_turns())
    setting.loop.submit(setting.order)
    await setting.listener.verdict()
    counting.cancel()
    assert len(setting.listener.events) == 20_002
    assert turns > 10_000


# Other targets


def port_order(setting: Setting, fakes: ModuleType, *, targets: tuple[str, ...] = ("sm_80", "gfx942")) -> PortOrder:
    return PortOrder(
        candidate=setting.order.candidate,
        entry="softmax",
        launches=(fakes.softmax_launch(),),
        targets=targets,
        number=1,
        after_s=0.9,
    )


async def ports_of_run(setting: Setting) -> PortingFinished:
    await asyncio.wait_for(setting.listener.ported.wait(), PATIENCE_S)
    return [event for event in setting.listener.events if isinstance(event, PortingFinished)][-1]


async def test_builds_for_other_targets_are_kept_with_the_run_before_they_are_shown(
    setting: Setting, fakes: ModuleType
) -> None:
    setting.loop.submit(setting.order)
    await setting.listener.verdict()
    setting.loop.submit(port_order(setting, fakes))
    assert (await ports_of_run(setting)).outcome is Outcome.PASS
    assert len(setting.listener.headers) == 1
    assert setting.recording.events_by_run[1] == setting.listener.events
    assert setting.listener.unrecorded == 0


async def test_a_save_stops_the_builds_for_other_targets(setting: Setting, fakes: ModuleType) -> None:
    setting.loop.submit(setting.order)
    await setting.listener.verdict()
    setting.engine.ports_only = 2
    setting.loop.submit(port_order(setting, fakes))
    while not setting.engine.ported:
        await asyncio.sleep(0)
    setting.loop.submit(replace(setting.order, content=b"new"))
    assert (await ports_of_run(setting)).outcome is Outcome.CANCELLED
    assert await setting.listener.verdict() is Outcome.PASS


@pytest.mark.parametrize("error", [EngineError("no compiler got ready"), ZeroDivisionError("oops")])
async def test_a_failing_engine_ends_the_builds_with_what_it_said(
    setting: Setting, fakes: ModuleType, error: Exception
) -> None:
    class Broken(fakes.FakeEngine):  # type: ignore[misc, name-defined]  # the doubles are not typed here
        async def port(self, candidate: Any, **_: Any) -> AsyncIterator[Event]:
            raise error
            yield

    setting.loop._judging = Broken()
    setting.loop.submit(port_order(setting, fakes))
    setting.listener.headers.append(RunHeader(number=None, cached=False, digest=""))
    setting.recording.events_by_run[1] = []
    finished = await ports_of_run(setting)
    assert finished.outcome is Outcome.ENGINE_ERROR
    assert str(error) in finished.message


# Grids


def grid_of(setting: Setting, *contents: bytes, told: Any = None, ended: asyncio.Event | None = None) -> GridOrder:
    orders = tuple(replace(setting.order, content=content, again=True, tag="tune") for content in contents)
    return GridOrder(
        orders=orders, told=told or (lambda place: setting.listener), ended=ended.set if ended else lambda: None
    )


async def test_the_orders_of_a_grid_are_judged_in_turn_and_each_is_told_to_its_own_audience(setting: Setting) -> None:
    listeners = [Listener(recording=setting.recording) for _ in range(2)]
    setting.loop.submit(grid_of(setting, b"one", b"two", told=lambda place: listeners[place]))
    assert [await listener.verdict() for listener in listeners] == [Outcome.PASS, Outcome.PASS]
    assert [candidate.source for candidate, _ in setting.engine.judged] == [b"one", b"two"]
    assert [[header.number for header in listener.headers] for listener in listeners] == [[1], [2]]
    assert setting.listener.events == []
    assert [listener.unrecorded for listener in listeners] == [0, 0]


async def test_a_save_stops_a_grid_and_the_rest_of_it_is_never_judged(setting: Setting, fakes: ModuleType) -> None:
    setting.engine.script = fakes.stops_half_way
    setting.loop.submit(grid_of(setting, b"one", b"two"))
    await setting.listener.first_case()
    setting.engine.script = fakes.all_pass
    setting.loop.submit(replace(setting.order, content=b"new"))
    assert await setting.listener.verdict() is Outcome.CANCELLED
    assert await setting.listener.verdict() is Outcome.PASS
    assert [candidate.source for candidate, _ in setting.engine.judged] == [b"one", b"new"]


async def test_in_a_grid_nobody_waits_for_what_follows_a_verdict(setting: Setting, fakes: ModuleType) -> None:
    class Printing(fakes.FakeEngine):  # type: ignore[misc, name-defined]  # the doubles are not typed here
        async def evaluate(self, candidate: Any, plan: Any, *, cancelled: Any = None) -> AsyncIterator[Event]:
            async for event in super().evaluate(candidate, plan, cancelled=cancelled):
                yield event
                if isinstance(event, RunFinished):
                    await cancelled.wait()

    setting.loop._judging, ended = Printing(), asyncio.Event()
    setting.loop.submit(grid_of(setting, b"one", b"two", ended=ended))
    await asyncio.wait_for(ended.wait(), PATIENCE_S)
    verdicts = [event.verdict.outcome for event in setting.listener.events if isinstance(event, RunFinished)]
    assert verdicts == [Outcome.PASS, Outcome.PASS]


async def test_cancelling_ends_the_whole_grid(setting: Setting, fakes: ModuleType) -> None:
    ended = asyncio.Event()
    setting.engine.script = fakes.stops_half_way
    setting.loop.submit(grid_of(setting, b"one", b"two", ended=ended))
    await setting.listener.first_case()
    assert setting.loop.cancel() is True
    assert await setting.listener.verdict() is Outcome.CANCELLED
    await asyncio.wait_for(ended.wait(), PATIENCE_S)
    assert len(setting.engine.judged) == 1


async def test_dropping_a_grid_leaves_the_order_that_overtook_it(setting: Setting, fakes: ModuleType) -> None:
    grid = grid_of(setting, b"one", b"two")
    setting.engine.script = fakes.stops_half_way
    setting.loop.submit(grid)
    await setting.listener.first_case()
    setting.engine.script = fakes.all_pass
    setting.loop.submit(setting.order)
    setting.loop.drop(grid)
    assert await setting.listener.verdict() is Outcome.CANCELLED
    assert await setting.listener.verdict() is Outcome.PASS
    setting.loop.drop(grid)
    assert [candidate.source for candidate, _ in setting.engine.judged] == [b"one", fakes.SOURCE]


@pytest.mark.parametrize("drop", ["overtake", "cancel", "drop"])
async def test_a_grid_that_never_begins_is_told_that_it_has_ended(setting: Setting, drop: str) -> None:
    ended = asyncio.Event()
    grid = grid_of(setting, b"one", ended=ended)
    setting.loop.submit(grid)
    if drop == "cancel":
        setting.loop.cancel()
    elif drop == "drop":
        setting.loop.drop(grid)
    else:
        setting.loop.submit(setting.order)
        await setting.listener.verdict()
    assert ended.is_set()
    assert b"one" not in [candidate.source for candidate, _ in setting.engine.judged]
