"""Generated candidates on the workbench: streamed, run, stepped through, kept, edited, sent back."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from kgtui.generation.display.versions import as_python
from kgtui.history.recorder import StoreRecording
from kgtui.state.workbench.status import CandidateStage, Mode
from kgtui.widgets.controls.entry import Entry
from sessions import open_store
from sessions.candidates.generation_rows import Ending, Limits
from tests.generated import NEW_GENERATION, settlement
from tests.kgtui import fakes
from tests.kgtui.generation.wire_server import WireServer

CODE = "def softmax(x, dim):\n    return {name}\n"


def exchange(place: str, answer: str) -> dict[str, object]:
    return {
        "model": "alpha", "prompt": "aten::softmax", "place": place, "answer": answer,
        "input_tokens": 10, "output_tokens": 5,
    }  # fmt: skip


@pytest.fixture
def bench(make_bench: Any, tmp_path: Path) -> Any:
    answers = [
        exchange("sample-1", f"One row a program.\n\n```python\n{CODE.format(name='first')}```\n"),
        exchange("sample-2", f"```python\n{CODE.format(name='second')}```\n"),
    ]
    (tmp_path / "replay.json").write_text(json.dumps({"exchanges": answers}))
    recording = StoreRecording(open_store(tmp_path / "sessions.db"), label="workbench", environment={})
    recording.open_or_raise = lambda: None  # type: ignore[attr-defined]  # the seam of the double
    environment = {"KGTUI_REPLAY": str(tmp_path / "replay.json"), "KGTUI_HOME": str(tmp_path)}
    return make_bench(recording=recording, environment=environment)


async def generated(bench: Any, pilot: Pilot[None], words: str) -> Any:
    """The workbench after this was generated and the first candidate has its verdict."""
    await bench.until(pilot, lambda: bench.app.problems != ())
    await bench.settled(pilot)
    await pilot.press("g")
    bench.app.screen.query_one("#entry", Entry).field.value = words
    await pilot.press("enter")
    workbench = bench.app.workbench
    await bench.until(pilot, lambda: workbench.bench.old and workbench.bench.old.stage is CandidateStage.SETTLED)
    await bench.until(pilot, lambda: not bench.app.runs.generation.is_running)
    await bench.settled(pilot)
    return workbench


async def test_a_generated_candidate_is_shown_and_run(bench: Any) -> None:
    async with bench.app.run_test(size=(120, 36)) as pilot:
        workbench = await generated(bench, pilot, "replay:alpha")
        assert workbench.source.content.decode() == CODE.format(name="first")
        assert (workbench.bench.shown.candidate, workbench.bench.view.verdict.passed) == ("replay:alpha sample-1", 8)
        assert bench.path.read_bytes() == workbench.bench.saved


async def test_candidates_are_stepped_through_and_esc_returns(bench: Any) -> None:
    async with bench.app.run_test(size=(120, 36)) as pilot:
        workbench = await generated(bench, pilot, "replay:alpha n=2")
        seen = []
        for key in ("less_than_sign", "less_than_sign", "greater_than_sign"):
            await pilot.press(key)
            await bench.settled(pilot)
            seen.append(workbench.bench.shown.candidate)
        assert sorted(seen[1:]) == ["replay:alpha sample-1", "replay:alpha sample-2"]
        await pilot.press("escape")
        assert (workbench.bench.shown.candidate, workbench.source.content) == ("", workbench.bench.saved)


async def test_esc_cancels_the_run_before_generating(bench: Any) -> None:
    async with WireServer(gate=asyncio.Event()) as server, bench.app.run_test(size=(120, 36)) as pilot:
        await bench.until(pilot, lambda: bench.app.problems != ())
        await bench.settled(pilot)
        bench.engine.script = fakes.stops_half_way
        await pilot.press("g")
        bench.app.screen.query_one("#entry", Entry).field.value = f"openai:m@{server.url}/v1"
        await pilot.press("enter")
        workbench = bench.app.workbench
        await bench.until(pilot, lambda: workbench.bench.shown.stage is CandidateStage.ARRIVING)
        await pilot.press("escape", "r")
        await bench.until(pilot, lambda: workbench.bench.view.running)
        assert bench.app.runs.generation.is_running
        await pilot.press("escape")
        await bench.until(pilot, lambda: workbench.bench.view.verdict is not None)
        assert bench.app.runs.generation.is_running
        await pilot.press("escape")
        await bench.until(pilot, lambda: not bench.app.runs.generation.is_running)


async def test_accepted_candidate_is_written_and_run(bench: Any) -> None:
    async with bench.app.run_test(size=(120, 36)) as pilot:
        workbench = await generated(bench, pilot, "replay:alpha")
        await pilot.press("w")
        await bench.settled(pilot)
        assert bench.path.read_text() == CODE.format(name="first")
        assert (workbench.bench.old, workbench.bench.unsaved, workbench.bench.mode) == (None, False, Mode.WATCH)
        assert workbench.bench.live.view.digest == workbench.bench.content_digest


async def test_candidate_that_was_not_run_is_written(bench: Any, tmp_path: Path) -> None:
    code = CODE.format(name="left")
    with open_store(tmp_path / "sessions.db") as store:
        session = store.begin_session("an earlier one")
        batch = store.generations.begin_batch(session, "{}", Limits())
        number = store.generations.reserve(session, batch, NEW_GENERATION)
        store.generations.settle(number, settlement(received=f"```python\n{code}```\n", source=code.encode()))
        store.generations.end_batch(batch, Ending.CANCELLED)
        store.end_session(session)
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await bench.until(pilot, lambda: bench.app.problems != ())
        await bench.settled(pilot)
        await pilot.press("less_than_sign")
        await bench.until(pilot, lambda: bench.app.workbench.bench.shown.candidate)
        await pilot.press("w")
        await bench.settled(pilot)
        assert bench.path.read_text() == code


async def test_edited_candidate_is_unsaved_text_of_file(bench: Any) -> None:
    async with bench.app.run_test(size=(120, 36)) as pilot:
        workbench = await generated(bench, pilot, "replay:alpha")
        before = bench.path.read_bytes()
        await pilot.press("e", "X")
        await pilot.pause()
        assert workbench.source.content.decode() == "X" + CODE.format(name="first")
        assert (workbench.bench.mode, workbench.bench.unsaved, bench.path.read_bytes()) == (Mode.EDIT, True, before)


async def test_remark_is_sent_with_answer_and_report(bench: Any) -> None:
    async with bench.app.run_test(size=(120, 36)) as pilot:
        workbench = await generated(bench, pilot, "replay:alpha n=2")
        await bench.app.runs.generation.fetch()
        await pilot.press("R", *"shorter", "enter")
        await bench.until(pilot, lambda: bench.app.runs.generation.progress.number == 2)
        await bench.until(pilot, lambda: not bench.app.runs.generation.is_running)
        await bench.app.runs.generation.fetch()
        row = bench.app.runs.generation.rows[-1]
        roles = [message["role"] for message in json.loads(row.sent)]
        assert (row.batch, roles) == (2, ["system", "user", "assistant", "user"])
        assert "shorter" in json.loads(row.sent)[-1]["text"]
        assert workbench.bench.shown.candidate.startswith("replay:alpha")


def test_text_around_code_becomes_comments() -> None:
    answer = "Two lines\nof prose.\n\n```python\nx = 1\n\n# y\n```\nDone.\n~~~\nz"
    assert as_python(answer) == "# Two lines\n# of prose.\n\nx = 1\n\n# y\n# Done.\nz"
