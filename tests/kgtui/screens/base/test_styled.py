"""Styles are worked out once for each screen, and never missed when something that they depend on has changed."""

from __future__ import annotations

from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.dom import DOMNode
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Static

from kgtui.screens import screen_ids
from kgtui.screens.base.styled import StyledScreen

pytestmark = pytest.mark.sampled


async def shown(bench: Any, pilot: Pilot[None], screen_id: str) -> Any:
    """The screen, in front and settled."""
    await bench.until(pilot, lambda: bench.app.problems != ())
    await bench.settled(pilot)
    bench.app.action_show(screen_id)
    await bench.settled(pilot)
    return bench.app.screen


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch, make_bench: Any) -> tuple[Any, list[str]]:
    """The application, and the names of the screens that it styled with all that is in them, in their order."""
    bench, styled = make_bench(), []
    style = bench.app.update_styles

    def noted(node: DOMNode, animate: bool = True) -> None:
        if isinstance(node, Screen) and node.children:
            styled.append(node.css_identifier)
        style(node, animate=animate)

    monkeypatch.setattr(bench.app, "update_styles", noted)
    return bench, styled


@pytest.mark.parametrize("screen_id", screen_ids())
async def test_screen_is_styled_once_when_composed(whole: tuple[Any, list[str]], screen_id: str) -> None:
    bench, styled = whole
    async with bench.app.run_test(size=(120, 36)) as pilot:
        screen = await shown(bench, pilot, screen_id)
        # Once for each class of what it shows, where that is a class of the whole screen.
        assert styled.count(screen.css_identifier) == len(screen.classes - {"-tall", "-medium"})


async def test_returning_screen_is_not_styled_again(whole: tuple[Any, list[str]]) -> None:
    bench, styled = whole
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await shown(bench, pilot, "operators")
        styled.clear()
        await shown(bench, pilot, "workbench")
        await shown(bench, pilot, "operators")
        assert styled == []


class Sized(StyledScreen):
    """Notes which classes it has when it is asked what is in it."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-broad")]  # noqa: RUF012  # Textual declares it as it is
    VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-high")]  # noqa: RUF012
    seen: frozenset[str] | None = None

    def compose(self) -> ComposeResult:
        self.seen = self.classes
        yield Static()


@pytest.mark.parametrize(("size", "classes"), [((99, 30), {"-narrow", "-high"}), ((100, 29), {"-broad", "-low"})])
async def test_size_classes_are_set_before_content(size: tuple[int, int], classes: set[str]) -> None:
    app: App[None] = App()
    async with app.run_test(size=size):
        screen = Sized()
        await app.push_screen(screen)
        assert (screen.seen, screen.classes) == (classes, classes)


async def test_hidden_screen_returns_in_changed_colours(
    make_bench: Any,
) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        workbench = await shown(bench, pilot, "workbench")
        dark = workbench.query_one("#verdict").get_component_styles("tone--muted").color
        await shown(bench, pilot, "operators")
        bench.app.theme = "textual-light"
        await bench.settled(pilot)
        await shown(bench, pilot, "workbench")
        light = workbench.query_one("#verdict").get_component_styles("tone--muted").color
        assert (dark.brightness > 0.5, light.brightness > 0.5) == (True, False)


@pytest.mark.parametrize("front", ["operators", "settings"])
async def test_hidden_screen_returns_with_changed_symbols(make_bench: Any, front: str) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        workbench = await shown(bench, pilot, "workbench")
        await shown(bench, pilot, front)
        bench.app.set_class(True, "-ascii")
        await shown(bench, pilot, "workbench")
        assert workbench.query_one("#verdict").styles.border_left[0] == "ascii"


async def test_hidden_screen_returns_in_changed_size(
    make_bench: Any,
) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=(200, 60)) as pilot:
        workbench = await shown(bench, pilot, "workbench")
        await shown(bench, pilot, "operators")
        await pilot.resize_terminal(80, 24)
        await shown(bench, pilot, "workbench")
        assert workbench.classes == frozenset({"-narrow", "-short"})
        assert not workbench.query_one("#rail").display
