"""Facts of the workbench on the screen, as the tests of the application read them."""

from __future__ import annotations

from typing import Any

from kgtui.screens.workbench.screen import WorkbenchScreen
from kgtui.state.format.glyphs import State
from kgtui.state.format.lines import plain_text
from kgtui.state.workbench.status import status_of
from kgtui.widgets.controls.bars import Strip


def workbench(bench: Any) -> WorkbenchScreen:
    screen = bench.app.screen
    assert isinstance(screen, WorkbenchScreen)
    return screen


def state(bench: Any) -> State:
    known = workbench(bench).bench
    return status_of(known.view, known.strip_context(0.0)).state


def strip(bench: Any) -> list[str]:
    return [plain_text((left,)) for left, _ in workbench(bench).query_one("#verdict", Strip).rows]
