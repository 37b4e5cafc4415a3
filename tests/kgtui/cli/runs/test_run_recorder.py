"""Recording a run while the store is locked, deleted or full: reported, and what was recorded stays."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import StoreError
from engine.model import Stream
from engine.model.events import LogWritten
from kgtui.cli.runs.run_recorder import open_recording
from kgtui.history.recorder import StoreRecording
from kgtui.ports.requests import RunRequest
from kgtui.settings.paths import Paths
from sessions import open_store
from tests.operators import find


@pytest.fixture
def paths(home: Path) -> Paths:
    return Paths(data=home, config=home / "config.toml")


@pytest.fixture
def run_request() -> RunRequest:
    return RunRequest(problem=find("aten::silu"), path=Path("/k/silu.py"), content=b"", device="cpu", target=None)


def opened(paths: Paths, *, warn: Callable[[str], None]) -> contextlib.AbstractContextManager[StoreRecording | None]:
    return open_recording(paths, label="check", environment={}, warn=warn, busy_timeout_s=0.01)


def logged(text: str) -> LogWritten:
    return LogWritten(at_s=0.0, stream=Stream.STDOUT, text=text)


def test_store_locked_by_other_process_raises_reason(paths: Paths, run_request: RunRequest) -> None:
    said: list[str] = []
    with opened(paths, warn=said.append) as recording, contextlib.closing(sqlite3.connect(paths.sessions)) as other:
        assert recording is not None
        other.execute("begin immediate")
        with pytest.raises(StoreError, match="another process has"):
            recording.begin(run_request)
    assert said == []


def test_unopenable_store_is_reported_and_absent(paths: Paths) -> None:
    said: list[str] = []
    paths.sessions.mkdir(parents=True)
    with opened(paths, warn=said.append) as recording:
        assert recording is None
    (message,) = said
    assert message.startswith(f"the run continues, but is not saved: {paths.sessions}")


def test_deleted_store_is_recreated_and_reported_once(paths: Paths, run_request: RunRequest) -> None:
    said: list[str] = []
    with opened(paths, warn=said.append) as recording:
        assert recording is not None
        number = recording.begin(run_request)
        recording.record(number, [logged("before")])
        paths.sessions.unlink()
        recording.record(number, [logged("after")])
        recording.record(number, [logged("later")])
    assert said == [
        f"session store {paths.sessions} was deleted while in use: a new one was created, "
        "the 1 run of this session was copied to it"
    ]
    with open_store(paths.sessions) as reopened:
        texts = [event.text for event in reopened.events(1) if isinstance(event, LogWritten)]
    assert texts == ["before", "after", "later"]


def test_full_disk_keeps_recorded_events(paths: Paths, run_request: RunRequest) -> None:
    said: list[str] = []
    with opened(paths, warn=said.append) as recording:
        assert recording is not None
        number = recording.begin(run_request)
        recording.record(number, [logged("kept")])
        pages = recording._store._database.rows("pragma page_count")[0][0]
        recording._store._database.rows(f"pragma max_page_count = {pages}")
        with pytest.raises(StoreError, match="no space left on the disk"):
            recording.record(number, [logged("x" * 100_000)])
    with open_store(paths.sessions) as reopened:
        texts = [event.text for event in reopened.events(1) if isinstance(event, LogWritten)]
    assert texts == ["kept"]
