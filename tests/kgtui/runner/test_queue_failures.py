"""Failures behind the run queue: engine, store, and streams without a verdict."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from engine.errors import EngineError
from engine.model import Outcome
from engine.model.events import Event, RunFinished, RunStarted
from tests.kgtui import fakes
from tests.kgtui.runner.queued import Setting


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
