"""Runs of coding agents in other processes: announced, followed, reviewed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.model import Candidate, Plan, Tier
from engine.model.events import RunFinished
from kgtui.history.recorder import StoreRecording
from kgtui.ports.requests import AGENT_TAG, DEFAULT_TIERS
from sessions import Store, open_store
from sessions.rows import Review
from tests.kgtui import fakes


@pytest.fixture
def bench(make_bench: Any, tmp_path: Path) -> Any:
    recording = StoreRecording(open_store(tmp_path / "sessions.db"), label="workbench", environment={})
    recording.open_or_raise = lambda: None  # type: ignore[attr-defined]  # the seam of the double
    return make_bench(recording=recording)


@pytest.fixture
def server(bench: Any, tmp_path: Path) -> Iterator[Store]:
    """The store as another process has it open."""
    with open_store(tmp_path / "sessions.db") as store:
        yield store


CANDIDATE = Candidate(source=b"def softmax(x, dim): ...\n", problem="aten::softmax", filename="softmax.py")


def begun(store: Store) -> int:
    session = store.begin_session("mcp")
    number = store.begin_run(session, CANDIDATE, device="cpu", target=None, tiers=(Tier.SMOKE,), path=None)
    store.set_tag(number, AGENT_TAG)
    return number


def said(bench: Any) -> list[str]:
    return [note.message for note in bench.app._notifications]


async def test_agent_run_is_announced_and_followed_to_verdict(bench: Any, server: Store) -> None:
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await bench.until(pilot, lambda: bench.app.run_history.recording is not None)
        await bench.settled(pilot)
        await bench.app.agents.look()
        await pilot.press("A")
        number = begun(server)
        plan = Plan.for_tiers(fakes.softmax_problem(), tiers=DEFAULT_TIERS, device="cpu", target=None)
        events = fakes.all_pass(CANDIDATE, plan)
        verdict = next(place for place, event in enumerate(events) if isinstance(event, RunFinished))
        server.record_all(number, events[:verdict])
        await bench.app.agents.look()
        workbench = bench.app.workbench
        await bench.until(pilot, lambda: workbench.bench.old is not None)
        assert f"agent: run #{number} of aten::softmax started; A follows the runs of agents" in said(bench)
        assert workbench.bench.view.verdict is None
        server.record_all(number, events[verdict:])
        await bench.app.agents.look()
        await bench.until(pilot, lambda: workbench.bench.view.verdict is not None)
        assert f"agent: run #{number} of aten::softmax: pass, 8/8 cases passed" in said(bench)


async def test_nothing_is_read_until_another_process_writes(bench: Any, server: Store) -> None:
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await bench.until(pilot, lambda: bench.app.run_history.recording is not None)
        await bench.settled(pilot)
        await bench.app.agents.look()
        asked: list[object] = []
        bench.app.agents._refresh = lambda: asked.append(None)
        await bench.app.agents.look()
        assert asked == []


async def test_veto_keeps_verdict_and_can_be_removed(bench: Any, server: Store) -> None:
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await bench.until(pilot, lambda: bench.app.run_history.recording is not None)
        await bench.settled(pilot)
        number = bench.app.workbench.bench.shown.number
        before = server.run(number)
        await pilot.press("V")
        await bench.until(pilot, lambda: server.run(number).review is Review.VETOED)
        assert (server.run(number).outcome, server.best("aten::softmax")) == (before.outcome, None)
        await bench.until(pilot, lambda: any(run.review for run in bench.app.workbench.history.runs))
        await pilot.press("V")
        await bench.until(pilot, lambda: server.run(number).review is None)
        assert server.best("aten::softmax").id == number
