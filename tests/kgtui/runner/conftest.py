"""Fixtures that the tests of this folder share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kgtui.ports.requests import RunRequest
from kgtui.runner.driver import RunDriver
from kgtui.runner.run_queue import RunQueue
from tests.kgtui import fakes
from tests.kgtui.runner.queued import Listener, Setting


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
