"""The store's file is deleted or replaced while the workbench runs, on the real store."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.model import Candidate
from kgtui.history.recorder import StoreRecording
from sessions import Store, open_store
from tests.kgtui import fakes


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "sessions.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with open_store(path) as opened:
        yield opened


@pytest.fixture
def bench(make_bench: Any, store: Store) -> Any:
    recording = StoreRecording(store, label="workbench", environment={})
    recording.open_or_raise = lambda: None  # type: ignore[attr-defined]  # as the double has it
    return make_bench(fakes.some_fail, recording=recording)


def delete_files(path: Path) -> None:
    for name in ("", "-wal", "-shm"):
        path.with_name(path.name + name).unlink(missing_ok=True)


def delete_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


def replace_by_a_store(path: Path) -> None:
    other = path.parent / "other.db"
    with open_store(other) as store:
        session = store.begin_session("other")
        store.begin_run(
            session, Candidate(source=b"", problem="aten::silu"), device="cpu", target=None, tiers=(), path=None
        )
    other.replace(path)


async def save(bench: Any, pilot: Pilot[None], content: bytes) -> None:
    bench.path.write_bytes(content)
    bench.watcher.save(content)
    await pilot.pause()
    await bench.settled(pilot)


def said(bench: Any) -> list[str]:
    return [notification.message for notification in bench.app._notifications]


@pytest.mark.parametrize("delete", [delete_files, delete_folder])
async def test_deleted_store_is_reported_and_recreated(bench: Any, path: Path, delete: Callable[[Path], None]) -> None:
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await bench.settled(pilot)
        delete(path)
        await save(bench, pilot, fakes.SOURCE + b"# new\n")
        workbench = bench.app.workbench
        assert [run.number for run in workbench.history.runs] == [2, 1]
        assert workbench.bench.live.number == 2
        assert bench.app.trouble == ""
        (sentence,) = said(bench)
    assert sentence == (
        f"session store {path} was deleted while in use: a new one was created, "
        "the 1 run of this session was copied to it"
    )
    with open_store(path, read_only=True) as seen:
        assert [run.id for run in seen.runs()] == [2, 1]
        assert len(list(seen.events(2))) == len(list(seen.events(1))) > 20


async def test_replaced_store_renumbers_shown_run(bench: Any, path: Path) -> None:
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await bench.settled(pilot)
        shown = bench.app.workbench.bench.view
        replace_by_a_store(path)
        bench.app.workbench.history.read()
        await bench.settled(pilot)
        await bench.until(pilot, lambda: bench.app.workbench.bench.live.number == 2)
        await bench.settled(pilot)
        assert bench.app.workbench.bench.view == shown
        assert [run.number for run in bench.app.workbench.history.runs] == [2]
        assert "was replaced while in use: the new file is used from now on" in said(bench)[0]


async def test_nonstore_file_is_reported_and_list_stays(bench: Any, path: Path) -> None:
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await bench.settled(pilot)
        (path.parent / "notes").write_bytes(b"no database " * 100)
        (path.parent / "notes").replace(path)
        await save(bench, pilot, fakes.SOURCE + b"# new\n")
        assert bench.app.workbench.bench.view.verdict is not None
        assert [run.number for run in bench.app.workbench.history.runs] == [1]
        assert "not a readable session store" in bench.app.trouble
        assert path.read_bytes() == b"no database " * 100
        path.unlink()
        await save(bench, pilot, fakes.SOURCE + b"# newer\n")
        assert bench.app.trouble == ""
        assert [run.number for run in bench.app.workbench.history.runs] == [2, 1]
