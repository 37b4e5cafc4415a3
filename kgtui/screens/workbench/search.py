"""The search line of the workbench: searches a text, or filters the cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgtui.widgets.controls.entry import Entry
from kgtui.widgets.panes.cases_pane import CasesPane
from kgtui.widgets.panes.ir_pane import CodePane, IrPane
from kgtui.widgets.panes.pane import Pane
from kgtui.widgets.panes.source_pane import SourcePane

if TYPE_CHECKING:
    from kgtui.screens.workbench.screen import WorkbenchScreen


class Searcher:
    """One for each workbench screen; works on the pane that had the focus when the search began."""

    def __init__(self, screen: WorkbenchScreen) -> None:
        self._screen = screen
        self._sought: Pane | SourcePane | CodePane | None = None
        self.wanted = ""

    @property
    def open(self) -> bool:
        """Whether the line is there to be typed in."""
        return self._line.display

    def begin(self, *, in_source: bool = False) -> None:
        """Show the line for the focused pane, or for the source."""
        pane = self._screen.source if in_source else self._screen.focused_pane
        self._sought = self._screen.code.seen or pane if isinstance(pane, IrPane) else pane
        self._line.ask("filter the cases" if isinstance(self._sought, CasesPane) else "search")

    def typed(self, text: str) -> None:
        """Search as the letters come."""
        if isinstance(self._sought, CasesPane):
            self.wanted = text
            self._screen.draw()
        elif self._sought is not None:
            self._sought.search(text)

    def submitted(self, text: str) -> None:
        """Keep what was found and return to the pane."""
        if isinstance(self._sought, CasesPane):
            if self._sought.current_name is None:
                self._screen.notify(f"no case matches {text!r}; esc clears the filter", markup=False)
        elif self._sought is not None and text and self._sought.search(text) == 0:
            self._screen.notify(f"{text!r} does not occur here", markup=False)
        self._close()

    def clear(self) -> None:
        """Forget the search and the filter."""
        self._line.field.value = ""
        self.wanted = ""
        if self._sought is not None:
            self._sought.search("")
        self._close()

    def _close(self) -> None:
        self._line.close()
        self._screen.draw()
        match self._sought:
            case SourcePane() as source:
                self._screen.set_focus(source.editor)
            case CodePane() as code:
                self._screen.set_focus(code.view)
            case _:
                self._screen.set_focus(self._screen.pane.main)

    @property
    def _line(self) -> Entry:
        return self._screen.query_one("#search", Entry)
