"""The inspection on the screen: live, stale, of an old text; its cursor, its claim, and the file that it writes."""

from __future__ import annotations

from typing import Any

import pytest

from kgtui.screens.inspect.screen import InspectScreen
from kgtui.screens.workbench.screen import WorkbenchScreen
from kgtui.state.format.lines import Tone, plain_text
from kgtui.widgets.text.page_view import PageView
from tests.kgtui import fakes
from tests.kgtui.fakes import timed_runs


def page(bench: Any) -> PageView:
    screen = bench.app.screen
    assert isinstance(screen, InspectScreen)
    view: PageView = screen.query_one(PageView)
    return view


def text(bench: Any) -> list[str]:
    return plain_text(tuple(row.line for row in page(bench).rows)).splitlines()


def said(bench: Any) -> list[str]:
    return [note.message for note in bench.app._notifications]


async def test_page_states_result_and_unchecked_layers(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=(80, 24)) as pilot:
        await bench.settled(pilot)
        await pilot.press("I")
        await bench.settled(pilot)
        assert text(bench)[0] == "aten::softmax: pass"
        assert "What was not checked" in text(bench)
        assert max(map(len, text(bench))) <= 77


async def test_page_of_running_run_grows_without_verdict(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("I")
        bench.engine.script = fakes.stops_half_way
        await pilot.press("r")
        await bench.until(pilot, lambda: len(bench.app.workbench.bench.view.cases) == 5)
        await pilot.pause()
        assert text(bench)[0] == "aten::softmax: running"
        assert "no verdict yet: the run is in progress" in text(bench)


async def test_page_before_first_run_states_key(make_bench: Any) -> None:
    bench = make_bench(fakes.never_begins)
    async with bench.app.run_test() as pilot:
        await bench.until(pilot, lambda: bench.app.problems != ())
        await pilot.press("I", "w")
        assert text(bench) == ["nothing has run yet; r runs the file"]
        assert said(bench) == ["nothing has run yet; r runs the file"]


async def test_results_of_earlier_version_are_marked_stale(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        bench.engine.script = fakes.never_begins
        await pilot.press("I")
        bench.watcher.save(bench.path.read_bytes() + b"# another\n")
        await bench.until(pilot, lambda: text(bench)[0].startswith("stale: from an earlier version"))
        first, *others = page(bench).rows
        assert {span.tone for span in first.line} == {Tone.WARN}
        assert {span.tone for row in others for span in row.line} == {Tone.STALE}


async def test_findings_come_first_after_proof(make_bench: Any) -> None:
    bench = make_bench(fakes.suspicious)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("I")
        lines = text(bench)
        titles = [one for one in lines if one.startswith(("Proof", "Findings", "What was checked", "Cases"))]
        assert [title.partition(":")[0] for title in titles] == ["Proof", "Findings", "What was checked", "Cases"]
        findings = lines[lines.index("Findings") + 1 : lines.index("What was checked")]
        assert [one.split()[0:2] for one in findings if "suspect" in one or "hint" in one] == [
            ["library", "call"],
            ["handler", "hint"],
        ]


async def test_enter_on_finding_moves_to_its_line(make_bench: Any) -> None:
    bench = make_bench(fakes.suspicious)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("I", "n")
        current = page(bench).current
        assert current is not None
        assert current.about is not None
        await pilot.press("enter")
        assert isinstance(bench.app.screen, WorkbenchScreen)
        assert bench.app.screen.source.line == current.about


async def test_enter_elsewhere_stays_and_gives_reason(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("I", "enter")
        assert isinstance(bench.app.screen, InspectScreen)
        assert said(bench) == ["this line refers to no source line; n goes to the next one that does"]


async def test_claim_is_compared_until_removed(make_bench: Any) -> None:
    bench = make_bench(timed_runs.all_timed, device="cuda", problem=timed_runs.timed_problem())
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await bench.settled(pilot)
        await pilot.press("I", "c", *"2.3x", "enter")
        assert [one for one in text(bench) if one.startswith("the claim")] == [
            "the claim of 2.3x against eager is not supported: 1.321x measured [1.290, 1.352], at least 41.2% short"
        ]
        await pilot.press("c", *["backspace"] * 4, "enter")
        assert [one for one in text(bench) if one.startswith("the claim")] == []


async def test_invalid_claim_is_reported_and_can_be_corrected(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("I", "c", *"fast", "enter")
        assert said(bench)[0].startswith("invalid claim 'fast': expected a speed-up above 0")
        assert bench.app.screen.query_one("#claim").display
        await pilot.press(*["backspace"] * 4, *"2x", "enter")
        assert not bench.app.screen.query_one("#claim").display
        assert any(one.startswith("the claim of 2x against eager was not measured: ") for one in text(bench))
        await pilot.press("c", "escape")
        assert not bench.app.screen.query_one("#claim").display
        assert isinstance(bench.app.screen, InspectScreen)


async def test_w_writes_page_without_overwriting(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        taken = bench.path.with_name(f"{bench.path.stem}.inspection-1.html")
        taken.write_text("mine")
        await pilot.press("I", "w", "w")
        written = sorted(path.name for path in bench.path.parent.glob("*.html"))
        stem = bench.path.stem
        assert written == [f"{stem}.inspection-1-2.html", f"{stem}.inspection-1-3.html", f"{stem}.inspection-1.html"]
        assert taken.read_text() == "mine"
        assert bench.path.with_name(written[0]).read_text().startswith("<!doctype html>\n")


async def test_y_copies_line_and_capital_y_page(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("I", "y")
        assert bench.app.clipboard == "aten::softmax: pass"
        await pilot.press("Y")
        assert bench.app.clipboard.startswith("# aten::softmax: pass\n")


async def test_j_k_g_and_capital_g_move_cursor(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("I", "j", "j", "k")
        assert page(bench).highlighted == 1
        await pilot.press("G")
        assert page(bench).highlighted == len(page(bench).rows) - 1
        await pilot.press("g")
        assert page(bench).highlighted == 0


@pytest.mark.parametrize("width", [80, 120, 200])
async def test_page_is_wrapped_at_terminal_width(make_bench: Any, width: int) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=(150, 40)) as pilot:
        await bench.settled(pilot)
        await pilot.press("I")
        await pilot.resize_terminal(width, 40)
        await bench.until(pilot, lambda: max(map(len, text(bench))) <= width - 3)
