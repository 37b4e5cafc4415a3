"""What is under the cursor of the workbench: where it leads, what of it is copied, and the matches of a search."""

from __future__ import annotations

from kgtui.screens.workbench.code import CodeLoader
from kgtui.screens.workbench.context import WorkbenchContext
from kgtui.screens.workbench.run_history import PastRunViewer
from kgtui.screens.workbench.tabs import TabSwitcher
from kgtui.state.workbench.markdown import run_markdown
from kgtui.widgets.panes.bench_pane import BenchPane
from kgtui.widgets.panes.cases_pane import CasesPane
from kgtui.widgets.panes.history_pane import HistoryPane
from kgtui.widgets.panes.ir_pane import CodePane
from kgtui.widgets.panes.pane import Pane
from kgtui.widgets.panes.source_pane import SourcePane


class Pointer:
    """One for each workbench screen."""

    def __init__(
        self, context: WorkbenchContext, *, tabs: TabSwitcher, code: CodeLoader, history: PastRunViewer
    ) -> None:
        self._context = context
        self._tabs = tabs
        self._code = code
        self._history = history

    @property
    def focused_pane(self) -> Pane | SourcePane | CodePane:
        """The pane that the keys go to: the file, compiled code, or the tab that is shown."""
        return self._context.source if self._context.in_source else self._code.focused or self._tabs.pane

    def action_hit(self, step: int) -> None:
        """The next or the previous match."""
        self.focused_pane.hit(step)

    def action_follow(self) -> None:
        """From what is under the cursor to its line, or to the run as it was."""
        context, pane = self._context, self._tabs.pane
        if context.in_source:
            self._code.follow(context.source.line)
        elif (code := self._code.focused) is not None:
            self._code.follow_back(code)
        elif isinstance(pane, HistoryPane):
            if pane.current is not None:
                self._history.show(pane.current)
        elif isinstance(pane, CasesPane) and pane.has_failed:
            context.host.action_show("case")
        else:
            self._follow_line(pane)

    def _follow_line(self, pane: Pane) -> None:
        found = pane.followed_line()
        if isinstance(pane, BenchPane):
            self._tabs.take_keys()
        if found is not None:
            self._context.source.go_to(found)

    def action_copy_value(self) -> None:
        """Copy what is under the cursor."""
        pane = self.focused_pane
        self._context.screen.copy_text(pane.word if isinstance(pane, SourcePane) else pane.copied())

    def action_copy_result(self) -> None:
        """Copy the whole result as Markdown."""
        context = self._context
        context.screen.copy_text(run_markdown(context.bench.view, context.desk, glyphs=context.host.glyphs))
