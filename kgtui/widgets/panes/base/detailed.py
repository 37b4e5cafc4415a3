"""A pane with a table and the details of the row under the cursor; one at a time if space is short."""

from __future__ import annotations

from abc import abstractmethod

from textual import on
from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import DataTable

from kgtui.widgets.panes.base.pane import Pane, Scene
from kgtui.widgets.text.toned import Grid


class DetailedPane(Pane):
    """A pane whose detail replaces the table on enter, if the style sheet has no room for both."""

    def __init__(self) -> None:
        super().__init__()
        self.scene: Scene | None = None

    @abstractmethod
    def show_detail(self) -> None:
        """Draw the details of the row under the cursor."""

    @property
    def main(self) -> Widget:
        """The table, or the detail if that is shown instead."""
        return self.query_one(VerticalScroll if self.has_class("-detailed") else Grid)

    def step_back(self) -> bool:
        """Return from the detail to the table."""
        detailed = self.has_class("-detailed")
        self.remove_class("-detailed")
        return detailed

    def close_detail(self) -> None:
        """Show and focus the table again."""
        had_keys = self.query_one(VerticalScroll).has_focus
        self.remove_class("-detailed")
        if had_keys:
            self.screen.set_focus(self.query_one(Grid))

    @on(DataTable.RowHighlighted)
    def _row_highlighted(self) -> None:
        self.show_detail()
