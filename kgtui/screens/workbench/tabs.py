"""The tabs of the workbench: the shown pane, and the zoomed part."""

from __future__ import annotations

from kgtui.screens.workbench.context import WorkbenchContext
from kgtui.screens.workbench.results import ResultsPanel
from kgtui.widgets.panes.base.pane import Pane


class TabSwitcher:
    """Shows tabs, and moves the focus between them."""

    def __init__(self, context: WorkbenchContext) -> None:
        self._context = context
        self.zoomed = ""

    @property
    def panel(self) -> ResultsPanel:
        """The widget with the tabs."""
        return self._context.screen.query_one(ResultsPanel)

    @property
    def shown(self) -> str:
        """The id of the shown tab."""
        return self.panel.shown

    @property
    def pane(self) -> Pane:
        """The shown pane."""
        return self.panel.pane

    def show(self, name: str) -> None:
        """Show a tab, and focus it unless the file is zoomed."""
        self.panel.show_tab(name)
        self._context.draw()
        if not self.zoomed or self.zoomed == "results":
            self.take_keys()

    def take_keys(self) -> None:
        """Focus the shown tab."""
        self._context.screen.set_focus(self.pane.main)

    def zoom(self, part: str) -> None:
        """Zoom this part to the whole screen, or none."""
        self.zoomed = part
        for name in ("source", "results"):
            self._context.screen.set_class(part == name, f"-zoom-{name}")

    def action_tab(self, name: str) -> None:
        """Show a tab."""
        self.show(name)

    def action_turn_tab(self, step: int) -> None:
        """Show the next or the previous tab."""
        self.show(self.panel.turned(step))

    def action_zoom(self) -> None:
        """Zoom the focused pane to the whole screen, or undo that."""
        self.zoom("" if self.zoomed else "source" if self._context.in_source else "results")

    def action_ir_pane(self) -> None:
        """Show or hide the code beside the results; if there is no room, show its tab."""
        screen = self._context.screen
        if screen.has_class("-wide"):
            screen.toggle_class("-without-ir")
            self._context.draw()
        else:
            self.show("ir")
