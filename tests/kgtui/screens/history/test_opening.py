"""Opening a past run: read-only with its file, beside unsaved text, and restoring a missing file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kgtui.state.workbench.status import Mode
from kgtui.widgets.controls.ask import Ask
from tests.kgtui.screens.history.past_runs import Past, history, settled, typed


async def test_run_is_opened_read_only_with_its_file(looking_back: Any, some: Past, tmp_path: Path) -> None:
    (tmp_path / "kernels" / "softmax_v2.py").write_bytes(b"# by now another\n")
    bench = looking_back(some)
    async with bench.app.run_test() as pilot:
        await history(bench, pilot)
        await pilot.press("j", "j", "enter")
        await bench.until(pilot, lambda: bench.app.workbench is not None and bench.app.workbench.bench.old is not None)
        await settled(bench, pilot)
        workbench = bench.app.workbench
        assert bench.app.screen is workbench
        assert workbench.bench.shown.number == 2
        assert workbench.bench.view.failed[0].case == "127x128 f32"
        assert workbench.source.editor.text == "# the second\n"
        await pilot.press("escape")
        assert workbench.source.editor.text == "# by now another\n"


async def test_run_of_same_operator_opens_beside_unsaved_text(looking_back: Any, some: Past) -> None:
    bench = looking_back(some, opened=True)
    async with bench.app.run_test() as pilot:
        await settled(bench, pilot)
        await pilot.press("e", "x", "escape")
        await history(bench, pilot)
        await typed(bench, pilot, "is:failed")
        await pilot.press("enter")
        await bench.until(pilot, lambda: bench.app.workbench.bench.old is not None)
        workbench = bench.app.workbench
        assert workbench.bench.shown.number == 2
        assert workbench.source.editor.text.startswith("x")


async def test_run_with_missing_file_offers_restore(looking_back: Any, some: Past, tmp_path: Path) -> None:
    bench = looking_back(some)
    async with bench.app.run_test() as pilot:
        screen = await history(bench, pilot)
        await pilot.press("j", "enter")
        assert screen.query_one(Ask).question == "The file of #3 is missing. Restore it to a new file?"
        await pilot.press("escape")
        assert list((tmp_path / "kernels").iterdir()) == []
        await pilot.press("enter", "r")
        await bench.until(pilot, lambda: bench.app.workbench is not None and bench.app.screen is bench.app.workbench)
        await settled(bench, pilot)
        assert (tmp_path / "kernels" / "softmax_v2_run3.py").read_bytes() == b"# the third\n"
        assert bench.app.workbench.bench.path.name == "softmax_v2_run3.py"


async def test_restoring_keeps_existing_file(looking_back: Any, some: Past, tmp_path: Path) -> None:
    taken = tmp_path / "kernels" / "softmax_run1.py"
    taken.write_bytes(b"mine\n")
    bench = looking_back(some)
    async with bench.app.run_test() as pilot:
        await history(bench, pilot)
        await pilot.press("G", "R")
        await bench.until(pilot, lambda: bench.app.workbench is not None)
        await settled(bench, pilot)
        assert taken.read_bytes() == b"mine\n"
        assert (tmp_path / "kernels" / "softmax_run1_2.py").read_bytes() == bench.app.workbench.bench.saved


async def test_unsaved_text_stays_when_a_source_is_restored(looking_back: Any, some: Past, tmp_path: Path) -> None:
    bench = looking_back(some, opened=True)
    async with bench.app.run_test(notifications=True) as pilot:
        await settled(bench, pilot)
        await pilot.press("e", "x")
        await history(bench, pilot)
        await typed(bench, pilot, "is:failed")
        await pilot.press("R")
        await bench.until(pilot, lambda: (tmp_path / "kernels" / "softmax_v2_run2.py").exists())
        await bench.until(pilot, lambda: bench.app.screen is bench.app.workbench)
        assert bench.app.workbench.bench.path.name == "softmax.py"
        assert bench.app.workbench.source.editor.text.startswith("x")
        assert bench.app.workbench.bench.mode is Mode.EDIT
