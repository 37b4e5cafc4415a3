"""A failed case on a screen of its own: all that is known of it, and the keys that lead on."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.model import (
    CaseResult,
    Diagnosis,
    DiagnosisKind,
    Explanation,
    InputElement,
    Outcome,
    OutputReport,
    WrongElement,
)
from kgtui.screens.case.screen import CaseScreen
from kgtui.screens.workbench.screen import WorkbenchScreen
from kgtui.state.format.glyphs import ASCII, UNICODE
from kgtui.state.format.lines import plain_text
from kgtui.state.run.failed_case import failed_case
from kgtui.state.run.suspects import Suspects
from kgtui.widgets.controls.bars import Bar
from kgtui.widgets.text.toned import Lines
from tests.kgtui import fakes
from tests.operators import find

TAIL = Diagnosis(
    kind=DiagnosisKind.UNWRITTEN_OUTPUT,
    sentence="never written from column 112 on, or accumulated into uninitialized memory",
    evidence="2,032 of 2,032 wrong elements still hold the bytes 0xFF that filled new memory before the call",
    explained=2032,
    wrong=2032,
)
MASK = Diagnosis(
    kind=DiagnosisKind.TAIL_MASK,
    sentence="only the end of dimension 1 is wrong, from 112 on, a multiple of 16: check the mask of the last block",
    evidence="1,998 of 2,032 wrong elements are there; the dimension is 128 long, which 16 does not divide",
    explained=1998,
    wrong=2032,
    contradicted=3,
)
FEEDS = tuple(InputElement(argument="x", index=(3, column), value=f"{column / 8 - 7:.4g}") for column in range(64, 76))
WRONG = OutputReport(
    name="return", outcome=Outcome.NONFINITE, shape=(127, 128), dtype="float32", mismatched=2032, total=16256,
    nonfinite_got=2032, nonfinite_expected=0, max_absolute_error=3.1e-2, max_relative_error=0.98,
    max_ulp_error=262144.0,
    worst=WrongElement(index=(3, 127), expected="0.031622776", got="nan"), first_wrong=(0, 112), last_wrong=(126, 127),
    error_map=tuple("." * 42 + "######" for _ in range(16)),
    explanation=Explanation(diagnoses=(TAIL, MASK), feeds=FEEDS, feeding=128),
)  # fmt: skip


def wrong(case: Any, **changes: Any) -> CaseResult:
    return replace(fakes.wrong(case), outputs=(replace(WRONG, **changes),), message="", seed=11)


def text(*, width: int = 100, glyphs: Any = UNICODE, **changes: Any) -> list[str]:
    result = wrong(fakes.softmax_problem().cases[4], **changes)
    return plain_text(failed_case(result, glyphs=glyphs, width=width, number=42)).splitlines()


def test_suspect_lines_follow_likely_causes() -> None:
    result = wrong(fakes.softmax_problem().cases[4])
    suspected = Suspects(what="a masked load", lines=((21, "x = tl.load(x_ptr)"), (26, "y = tl.load(y_ptr)")))
    reported = plain_text(failed_case(result, glyphs=UNICODE, width=100, number=42, suspected=suspected)).splitlines()
    place = reported.index("check      line 21  x = tl.load(x_ptr)")
    assert reported[place + 1 : place + 3] == ["           line 26  y = tl.load(y_ptr)", "           a masked load"]
    assert reported[place + 3].startswith("inputs")


def test_all_details_are_listed_in_order() -> None:
    assert text()[:20] == [
        "127x128 f32  ✗ wrong value  line 12  run #42",
        "",
        "output     return  float32[127, 128]",
        "worst at   [3, 127]  expected 0.031622776  got nan",
        "max error  nan; of the finite elements abs 3.1e-02  rel 9.8e-01  ulp 262144",
        "wrong      2,032 of 16,256 elements (12.5 %)",
        "nan, inf   2,032, expected 0",
        "bounds     [0, 112] to [126, 127]",
        "why        unwritten output: never written from column 112 on, or accumulated into uninitialized",
        "           memory",
        "           explains all wrong elements; 2,032 of 2,032 wrong elements still hold the bytes 0xFF that",
        "           filled new memory before the call",
        "or         tail mask: only the end of dimension 1 is wrong, from 112 on, a multiple of 16: check the",
        "           mask of the last block",
        "           explains 98 % of the wrong elements, contradicted by 3 correct elements; 1,998 of 2,032",
        "           wrong elements are there; the dimension is 128 long, which 16 does not divide",
        "inputs     128 elements of the arguments, the 12 most influential:",
        "           x[3, 64] = 1" + "".join(f"   x[3, {column}] = {column / 8 - 7:.4g}" for column in range(65, 69)),
        *text()[18:20],
    ]


def test_in_ascii_every_line_is_ascii() -> None:
    assert [line for line in text(glyphs=ASCII) if not line.isascii()] == []


def test_each_map_row_states_its_start() -> None:
    lines = text(glyphs=ASCII)
    first = next(place for place, one in enumerate(lines) if one.startswith("where"))
    assert lines[first : first + 2] == [
        "where      . right  # all wrong",
        "           one cell = 7 or 8 x 2 or 3 elements, columns 0 to 127",
    ]
    assert lines[first + 2] == "        0  " + "." * 42 + "######"
    assert lines[first + 17] == "      120  " + "." * 42 + "######"


def test_missing_explanation_is_reported() -> None:
    lines = text(explanation=Explanation(feeds=FEEDS[:1], feeding=1))
    assert any(one.startswith("why        no known mistake matches") for one in lines)
    assert "inputs     1 element of the arguments" in lines


def test_unexamined_output_is_reported() -> None:
    lines = text(explanation=Explanation(untried="the case has 9 elements, too many to recompute it repeatedly"))
    assert "why        the case has 9 elements, too many to recompute it repeatedly" in lines


def test_unexplained_run_shows_pattern_of_its_map() -> None:
    lines = text(explanation=None)
    assert "why        only the end of the last dimension is wrong: check the mask of the tail block" not in lines
    assert not any(one.startswith("inputs") for one in lines)


def test_scalar_output_has_map_of_one_cell() -> None:
    lines = text(shape=(), error_map=("#",), total=1, mismatched=1)
    assert "        0  █" in lines


# The screen


@pytest.fixture
def some_explained() -> Any:
    """Two cases of width 128 fail, with a reason; the rest passes."""

    def script(candidate: Any, plan: Any) -> Any:
        results = [wrong(case) if "x128" in case.name else fakes.passed(case) for case in plan.cases]
        return fakes.run_events(candidate, plan, results)

    return script


def page(bench: Any) -> str:
    assert isinstance(bench.app.screen, CaseScreen)
    return plain_text(bench.app.screen.query_one("#case-whole", Lines).lines)


async def opened(bench: Any, pilot: Pilot[None]) -> None:
    await bench.settled(pilot)
    await pilot.press("1", "enter")
    await pilot.pause()


async def test_enter_opens_failed_case_then_its_line(make_bench: Any, some_explained: Any) -> None:
    bench = make_bench(some_explained)
    async with bench.app.run_test() as pilot:
        await opened(bench, pilot)
        assert page(bench).startswith("127x128 f32  ✗ wrong value  line 12")
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(bench.app.screen, WorkbenchScreen)
        assert bench.app.screen.source.line == 12


async def test_key_shows_failed_case_from_any_pane(make_bench: Any, some_explained: Any) -> None:
    bench = make_bench(some_explained)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("2", "W")
        await pilot.pause()
        assert page(bench).startswith("127x128 f32  ✗ wrong value  line 12")


async def test_run_behind_another_tab_reaches_case_screen(make_bench: Any, some_explained: Any) -> None:
    bench = make_bench(fakes.all_pass)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("2")
        bench.engine.script = some_explained
        bench.watcher.save(b"# another\n" + fakes.SOURCE)
        await bench.settled(pilot)
        await pilot.press("W")
        assert page(bench).startswith("127x128 f32  ✗ wrong value  line 12")
        bench.engine.script = fakes.all_pass
        await pilot.press("a")
        await bench.settled(pilot)
        assert page(bench) == "127x128 f32 did not fail; n shows a case that failed"


async def test_n_shows_next_failed_case(make_bench: Any, some_explained: Any) -> None:
    bench = make_bench(some_explained)
    async with bench.app.run_test() as pilot:
        await opened(bench, pilot)
        await pilot.press("n")
        assert page(bench).startswith("127x128 f16")
        await pilot.press("n")
        assert page(bench).startswith("127x128 f32")


async def test_replayed_case_shows_its_result(make_bench: Any, some_explained: Any) -> None:
    bench = make_bench(some_explained)
    async with bench.app.run_test() as pilot:
        await opened(bench, pilot)
        bench.engine.script = fakes.all_pass
        await pilot.press("a")
        await bench.settled(pilot)
        assert [case.name for case in bench.engine.evaluated[-1][1].cases] == ["127x128 f32"]
        assert page(bench) == "127x128 f32 did not fail; n shows a case that failed"


async def test_case_left_by_cancelled_run_is_stale(make_bench: Any, some_explained: Any) -> None:
    bench = make_bench(some_explained)
    async with bench.app.run_test() as pilot:
        await opened(bench, pilot)
        bench.engine.script = fakes.never_begins
        await pilot.press("r")
        await bench.until(pilot, lambda: len(bench.engine.evaluated) == 2)
        bench.app.runs.cancel()
        await bench.settled(pilot)
        bench.engine.script = lambda candidate, plan: fakes.stops_half_way(candidate, plan)[:8]
        await pilot.press("r")
        await bench.until(pilot, lambda: len(bench.engine.evaluated) == 3 and bench.app.workbench.bench.view.running)
        bench.app.runs.cancel()
        await bench.settled(pilot)
        assert page(bench).startswith("127x128 f32  ✗ wrong value  line 12  run #3  stale: from an earlier version")


async def test_script_is_new_file_beside_kernel(make_bench: Any) -> None:
    def script(candidate: Any, plan: Any) -> Any:
        return fakes.run_events(candidate, plan, [wrong(case) for case in plan.cases])

    bench = make_bench(script, problem=find("aten::silu"))
    async with bench.app.run_test() as pilot:
        await opened(bench, pilot)
        await pilot.press("w")
        await pilot.pause()
        await pilot.press("w")
        await pilot.pause()
        assert [note.message for note in bench.app._notifications] == [
            "written: kernels/softmax_case_1000_f32.py; run it with python",
            "written: kernels/softmax_case_1000_f32_2.py; run it with python",
        ]
        ast.parse((bench.path.parent / "softmax_case_1000_f32.py").read_text())


async def test_case_too_large_for_script_is_reported(make_bench: Any, some_explained: Any) -> None:
    bench = make_bench(some_explained)
    async with bench.app.run_test() as pilot:
        await opened(bench, pilot)
        await pilot.press("w")
        await pilot.pause()
        (note,) = (note.message for note in bench.app._notifications)
        assert note.endswith("make_inputs is not the name of a function, so no script can use it")
        assert [path.name for path in bench.path.parent.iterdir()] == ["softmax.py"]


async def test_copy_key_copies_whole_page(make_bench: Any, some_explained: Any) -> None:
    bench = make_bench(some_explained)
    async with bench.app.run_test() as pilot:
        await opened(bench, pilot)
        await pilot.press("y")
        assert bench.app.clipboard.startswith("127x128 f32  ✗ wrong value  line 12")


async def test_escape_leads_back_to_the_table(make_bench: Any, some_explained: Any) -> None:
    bench = make_bench(some_explained)
    async with bench.app.run_test() as pilot:
        await opened(bench, pilot)
        await pilot.press("escape")
        assert isinstance(bench.app.screen, WorkbenchScreen)
        assert bench.app.focused is bench.app.screen.query_one("#cases-table")


# Pictures


def test_ascii_failed_case_matches_snapshot(make_bench: Any, some_explained: Any, snap_compare: Any) -> None:
    bench = make_bench(some_explained, ascii=True)

    async def drive(pilot: Pilot[None]) -> None:
        await opened(bench, pilot)

    assert snap_compare(bench.app, terminal_size=(80, 24), run_before=drive)


def offered(bench: Any) -> list[str]:
    return [plain_text((segment.line,)) for segment in bench.app.screen.query_one("#keys", Bar).segments]


async def test_only_keys_that_do_something_are_offered(make_bench: Any, some_explained: Any) -> None:
    bench = make_bench(fakes.all_pass)
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await bench.settled(pilot)
        await pilot.press("1", "W")
        assert offered(bench) == ["a case alone", "r run", "esc back", "? help", "ctrl+q quit"]
        await pilot.press("escape")
        bench.engine.script = some_explained
        bench.watcher.save(b"# another\n" + fakes.SOURCE)
        await bench.settled(pilot)
        await pilot.press("W")
        assert offered(bench) == [
            "n next",
            "enter to its line",
            "a case alone",
            "w write script",
            "esc back",
            "? help",
            "ctrl+q quit",
        ]
