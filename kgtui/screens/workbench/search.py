"""The search line of the workbench: searches a text, or filters the cases."""

from __future__ import annotations

from kgtui.screens.workbench.code import CodeLoader
from kgtui.screens.workbench.context import WorkbenchContext
from kgtui.screens.workbench.pointer import Pointer
from kgtui.screens.workbench.tabs import TabSwitcher
from kgtui.widgets.controls.entry import Entry
from kgtui.widgets.panes.base.code_pane import CodePane
from kgtui.widgets.panes.base.pane import Pane
from kgtui.widgets.panes.base.source_pane import SourcePane
from kgtui.widgets.panes.cases import CasesPane
from kgtui.widgets.panes.ir import IrPane


class Searcher:
    """Searches the pane that had the focus when the search began."""

    def __init__(self, context: WorkbenchContext, *, tabs: TabSwitcher, code: CodeLoader, pointer: Pointer) -> None:
        self._context = context
        self._tabs = tabs
        self._code = code
        self._pointer = pointer
        self._sought: Pane | SourcePane | CodePane | None = None
        self.wanted = ""

    @property
    def open(self) -> bool:
        """Whether the input line is open."""
        return self._line.display

    def action_find(self) -> None:
        """Search the file, also while it is edited."""
        self._begin(in_source=True)

    def action_search(self) -> None:
        """Search the focused pane, or filter the cases."""
        self._begin()

    def _begin(self, *, in_source: bool = False) -> None:
        """Open the input line for the focused pane, or for the source."""
        pane = self._context.source if in_source else self._pointer.focused_pane
        self._sought = self._code.seen or pane if isinstance(pane, IrPane) else pane
        label = "filter the cases" if isinstance(self._sought, CasesPane) else "search"
        self._line.ask(label, submitted=self._submitted, typed=self._typed)

    def _typed(self, text: str) -> None:
        """Search while letters are typed."""
        if isinstance(self._sought, CasesPane):
            self.wanted = text
            self._context.draw()
        elif self._sought is not None:
            self._sought.search(text)

    def _submitted(self, text: str) -> None:
        """Keep the matches and return to the pane."""
        if isinstance(self._sought, CasesPane):
            if self._sought.current_name is None:
                self._context.notify(f"no case matches {text!r}; esc clears the filter")
        elif self._sought is not None and text and self._sought.search(text) == 0:
            self._context.notify(f"{text!r} does not occur here")
        self._close()

    def clear(self) -> None:
        """Clear the search and the filter."""
        self._line.field.value = ""
        self.wanted = ""
        if self._sought is not None:
            self._sought.search("")
        self._close()

    def _close(self) -> None:
        self._line.close()
        self._context.draw()
        match self._sought:
            case SourcePane() as source:
                source.end_search()
                self._context.screen.set_focus(source.editor)
            case CodePane() as code:
                self._context.screen.set_focus(code.view)
            case _:
                self._tabs.take_keys()

    @property
    def _line(self) -> Entry:
        return self._context.screen.query_one("#search", Entry)
