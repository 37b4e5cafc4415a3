"""Builds for other targets through the run queue."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from engine.errors import EngineError
from engine.model import Outcome
from engine.model.events import Event, PortingFinished
from kgtui.ports.requests import RetargetRequest, RunHeader
from tests.guards import PATIENCE_S
from tests.kgtui import fakes
from tests.kgtui.runner.queued import Setting


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


async def test_run_with_other_targets_compiles_for_them(setting: Setting) -> None:
    setting.submit(replace(setting.request, again=True, targets=("sm_80",)))
    assert (await ports_of_run(setting)).outcome is Outcome.PASS
    assert setting.recording.events_by_run[1] == setting.listener.events
