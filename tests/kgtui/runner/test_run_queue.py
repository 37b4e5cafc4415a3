"""The run queue: a save runs at once, is stored before it is shown, and is answered from the store."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from typing import Any

import pytest

from engine.model import CaseResult, Outcome
from engine.model.events import CaseFinished, RunFinished
from kgtui.ports.requests import Priority, RunHeader
from kgtui.runner.run_queue import RunQueue
from tests.kgtui import fakes
from tests.kgtui.fakes import timed_runs
from tests.kgtui.runner.queued import Listener, Setting


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
    assert len(setting.engine.evaluated) == 1
    assert setting.recording.answers == [(1, 1)]


async def test_request_with_seed_is_not_answered_from_store(setting: Setting) -> None:
    for draw_seed in (None, 7):
        setting.submit(replace(setting.request, draw_seed=draw_seed))
        await setting.listener.verdict()
    assert [plan.draw_seed for _, plan in setting.engine.evaluated] == [None, 7]


async def test_untimed_run_does_not_answer_timing_request(setting: Setting) -> None:
    problem = timed_runs.timed_problem()
    setting.engine.script = timed_runs.all_timed
    request, wanted = replace(setting.request, problem=problem), timed_runs.bench_plan(problem).benchmark
    for benchmark in (None, wanted, wanted):
        setting.submit(replace(request, benchmark=benchmark))
        await setting.listener.verdict()
    assert [plan.benchmark for _, plan in setting.engine.evaluated] == [None, wanted]
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


async def test_run_again_verifies_unchanged_content(setting: Setting) -> None:
    for again in (False, True):
        setting.submit(replace(setting.request, again=again))
        await setting.listener.verdict()
    assert [header.number for header in setting.listener.headers] == [1, 2]


async def test_cases_failed_last_time_run_first(setting: Setting) -> None:
    setting.engine.script = fakes.some_fail
    setting.submit(setting.request)
    await setting.listener.verdict()
    setting.submit(replace(setting.request, content=b"new"))
    await setting.listener.verdict()
    assert [case.name for case in setting.engine.evaluated[1][1].cases][:3] == [
        "127x128 f32",
        "127x128 f16",
        "1x781 f32",
    ]


async def test_only_selected_cases_are_run(setting: Setting) -> None:
    setting.submit(replace(setting.request, cases=("4x1 f32",), again=True))
    await setting.listener.verdict()
    assert [case.name for case in setting.engine.evaluated[0][1].cases] == ["4x1 f32"]


async def test_many_events_do_not_block_event_loop(setting: Setting) -> None:
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
