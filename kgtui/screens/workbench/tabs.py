"""The tabs of the workbench: which pane is shown, and which part has the whole screen."""

from __future__ import annotations

from textual.widgets import ContentSwitcher

from kgtui.screens.workbench.context import WorkbenchContext
from kgtui.state.workbench.tabs import turned
from kgtui.widgets.panes.pane import Pane


class TabSwitcher:
    """One for each workbench screen."""

    def __init__(self, context: WorkbenchContext) -> None:
        self._context = context
        self.shown = "cases"
        self.zoomed = ""

    @property
    def pane(self) -> Pane:
        """The tab that is shown."""
        pane = self._context.screen.query_one(f"#{self.shown}")
        assert isinstance(pane, Pane)
        return pane

    def show(self, name: str) -> None:
        """Show a tab, and give it the keys unless the file has the whole screen."""
        context = self._context
        self.shown = name
        context.screen.query_one("#panes", ContentSwitcher).current = name
        context.draw()
        if not self.zoomed or self.zoomed == "results":
            self.take_keys()

    def take_keys(self) -> None:
        """Give the keys to the tab that is shown."""
        self._context.screen.set_focus(self.pane.main)

    def zoom(self, part: str) -> None:
        """Give this part the whole screen, or none of them."""
        self.zoomed = part
        for name in ("source", "results"):
            self._context.screen.set_class(part == name, f"-zoom-{name}")

    def action_tab(self, name: str) -> None:
        """Show a tab."""
        self.show(name)

    def action_turn_tab(self, step: int) -> None:
        """Show the next tab or the one before."""
        self.show(turned(self.shown, step))

    def action_zoom(self) -> None:
        """Give the focused pane the whole screen, or take it back."""
        self.zoom("" if self.zoomed else "source" if self._context.in_source else "results")

    def action_ir_pane(self) -> None:
        """Show or hide the code beside the results; where there is no room, show its tab."""
        screen = self._context.screen
        if screen.has_class("-wide"):
            screen.toggle_class("-without-ir")
            self._context.draw()
        else:
            self.show("ir")
