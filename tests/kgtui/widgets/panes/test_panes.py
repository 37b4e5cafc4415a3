"""What holds for every pane: found by a scan, shown in a tab of its own, refused when a name is missing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.errors import EngineError
from kgtui.settings.keys import ACTIONS
from kgtui.state.format.lines import plain_text
from kgtui.widgets import panes
from kgtui.widgets.controls.bars import Bar
from kgtui.widgets.panes import pane_modules
from kgtui.widgets.text.toned import Lines

CLOCK = '''"""How long the run took."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.widget import Widget

from kgtui.state.format.lines import line
from kgtui.widgets.panes.base.pane import Pane, Scene
from kgtui.widgets.text.toned import Lines

ORDER = 25
TITLE = "Clock"


def make() -> ClockPane:
    """The pane of one workbench."""
    return ClockPane()


class ClockPane(Pane):
    """One line."""

    def compose(self) -> ComposeResult:
        """The line."""
        yield Lines(id="clock-text")

    @property
    def main(self) -> Widget:
        """The line."""
        return self.query_one(Lines)

    def show(self, scene: Scene) -> None:
        """Draw the time."""
        self.query_one(Lines).show((line(f"{scene.bench.view.digest[:4]}"),))
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose modules are panes, beside those that are there."""
    before = set(sys.modules)
    monkeypatch.setattr(panes, "__path__", [*panes.__path__, str(tmp_path)])
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith(f"{panes.__name__}."):
            del sys.modules[name]


def test_panes_are_listed_in_tab_order() -> None:
    orders = [module.ORDER for module in pane_modules().values()]
    assert orders == sorted(orders)
    assert next(iter(pane_modules())) == "cases"


def test_pane_without_required_names_is_refused(folder: Path) -> None:
    (folder / "blank.py").write_text("TITLE = 'Blank'\n")
    with pytest.raises(EngineError, match=r"kgtui/widgets/panes/blank\.py does not define ORDER, make"):
        pane_modules()


@pytest.mark.parametrize("name", pane_modules())
def test_every_pane_has_a_key(name: str) -> None:
    assert f"screen.tab('{name}')" in {action.call for action in ACTIONS}


async def test_file_in_package_is_tab_at_its_place(folder: Path, make_bench: Any) -> None:
    (folder / "clock.py").write_text(CLOCK)
    bench = make_bench()
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await bench.settled(pilot)
        workbench = bench.app.workbench
        titles = [plain_text((segment.line,)) for segment in workbench.query_one("#tabs", Bar).segments]
        assert titles[:4] == ["1 Cases", "2 Findings", "3 Clock", "4 Bench"]
        await pilot.press("right_square_bracket", "right_square_bracket")
        await bench.settled(pilot)
        assert workbench.tabs.shown == "clock"
        assert plain_text(workbench.query_one("#clock-text", Lines).lines) == workbench.bench.view.digest[:4]
