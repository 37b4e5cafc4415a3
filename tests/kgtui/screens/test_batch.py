"""The Batch screen: begun, resumed, followed from another program, from a row to its run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from kgtui.history.recorder import StoreRecording
from kgtui.widgets.text.toned import Grid, Lines
from sessions import open_store
from sessions.candidates.checked import ListedCandidate

SOURCE = "def softmax(self, dim):\n    return self  # {}\n"


@pytest.fixture
def bench(make_bench: Any, tmp_path: Path) -> Any:
    recording = StoreRecording(open_store(tmp_path / "sessions.db"), label="workbench", environment={})
    recording.open_or_raise = lambda: None  # type: ignore[attr-defined]
    return make_bench(recording=recording, environment={"KGTUI_HOME": str(tmp_path)})


@pytest.fixture
def candidates(tmp_path: Path) -> Path:
    folder = tmp_path / "candidates"
    folder.mkdir()
    for number in range(3):
        (folder / f"softmax_{number}.py").write_text(SOURCE.format(number))
    (folder / "nope.py").write_text(SOURCE)
    return folder


async def shown(bench: Any, pilot: Pilot[None]) -> Any:
    await bench.until(pilot, lambda: bench.app.problems != ())
    await bench.settled(pilot)
    await pilot.press("f9")
    return bench.app.screen


async def begun(bench: Any, pilot: Pilot[None], words: str) -> Any:
    screen = await shown(bench, pilot)
    await pilot.press("r")
    screen.query_one(Input).value = words
    await pilot.press("enter")
    return screen


def words(screen: Any) -> list[tuple[str, str]]:
    return [(row.cells[0].text, row.cells[2].text) for row in screen.query_one(Grid).shown]


async def test_batch_fills_table_and_enter_opens_run(bench: Any, candidates: Path) -> None:
    async with bench.app.run_test(size=(120, 36)) as pilot:
        screen = await begun(bench, pilot, str(candidates))
        await bench.until(pilot, lambda: bench.app.runs.batch.results and not bench.app.runs.batch.is_running)
        await bench.until(pilot, lambda: bench.app.runs.batch.row is not None and bench.app.runs.batch.row.has_ended)
        assert words(screen) == [
            ("nope.py", "not run"), ("softmax_0.py", "passed"), ("softmax_1.py", "passed"), ("softmax_2.py", "passed"),
        ]  # fmt: skip
        assert "4/4 candidates: 3 passed, 1 not run" in str(screen.query_one("#progress", Lines).render())
        assert "names no known operator" in str(screen.query_one("#reason", Lines).render())
        await pilot.press("f")
        assert words(screen) == [("nope.py", "not run")]
        await pilot.press("f", "j", "enter")
        await bench.until(pilot, lambda: bench.app.workbench.bench.old is not None)
        assert "# 0" in bench.app.workbench.source.content.decode()


async def test_batch_of_other_process_is_shown_and_resumed(bench: Any, candidates: Path, tmp_path: Path) -> None:
    with open_store(tmp_path / "sessions.db") as store:
        session = store.begin_session("check")
        request = (
            f'{{"candidates":"{candidates}","operator":null,"suites":[],"device":"cpu","target":"sm_90",'
            '"tiers":["smoke","full"],"policy":"default","timed":true}'
        )
        waiting = ListedCandidate(name="softmax_0.py", problem="aten::softmax", sample=0, digest="d")
        number = store.checked.begin(session, request, (waiting,))
    async with bench.app.run_test(size=(120, 36)) as pilot:
        screen = await shown(bench, pilot)
        await bench.until(pilot, lambda: words(screen) == [("softmax_0.py", "waiting")])
        assert str(candidates) in str(screen.query_one("#subject", Lines).render())
        await pilot.press("R")
        await bench.until(pilot, lambda: bench.app.runs.batch.row is not None and bench.app.runs.batch.row.has_ended)
        assert bench.app.runs.batch.row.id == number
        assert len(words(screen)) == 4


async def test_batch_of_suite_is_not_resumed_here(bench: Any, tmp_path: Path) -> None:
    with open_store(tmp_path / "sessions.db") as store:
        request = (
            '{"candidates":"c","operator":null,"suites":["s"],"device":"cpu","target":null,"tiers":["smoke"],'
            '"policy":"default","timed":true}'
        )
        waiting = ListedCandidate(name="a.py", problem="kernelbench::level1/1", sample=1, digest="d")
        store.checked.begin(store.begin_session("check"), request, (waiting,))
    async with bench.app.run_test(size=(120, 36)) as pilot:
        screen = await shown(bench, pilot)
        await bench.until(pilot, lambda: words(screen) == [("a.py", "waiting")])
        await pilot.press("R")
        await bench.until(pilot, lambda: any("kgtui check --suite" in n.message for n in bench.app._notifications))


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("", "which candidates?"),
        ("missing", "no such folder or file"),
        ("c cases=x", "cases=x should be"),
        ("c x=1", "got c, x=1"),
    ],
)
async def test_invalid_batch_input_gets_a_sentence(bench: Any, typed: str, sentence: str) -> None:
    async with bench.app.run_test(size=(80, 24)) as pilot:
        await begun(bench, pilot, typed)
        await bench.until(pilot, lambda: any(sentence in note.message for note in bench.app._notifications))


async def test_escape_leaves_the_entry_then_the_screen(bench: Any) -> None:
    async with bench.app.run_test(size=(80, 24)) as pilot:
        screen = await shown(bench, pilot)
        await pilot.press("r", "escape")
        assert (screen.WHERE, screen.query_one(Input).display) == ("batch", False)
        assert "press r and type a folder" in str(screen.query_one("#progress", Lines).render())
        await pilot.press("escape")
        assert bench.app.screen.WHERE == "workbench"
