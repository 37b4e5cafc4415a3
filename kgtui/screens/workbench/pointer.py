"""The item under the cursor of the workbench: its target line, the text to copy, and the matches of a search."""

from __future__ import annotations

from kgtui.screens.workbench.code import CodeLoader
from kgtui.screens.workbench.context import WorkbenchContext
from kgtui.screens.workbench.run_history import PastRunViewer
from kgtui.screens.workbench.tabs import TabSwitcher
from kgtui.state.workbench.markdown import run_markdown
from kgtui.state.workbench.status import Mode
from kgtui.widgets.panes.base.code_pane import CodePane
from kgtui.widgets.panes.base.pane import Followed, Pane
from kgtui.widgets.panes.base.source_pane import SourcePane


class Pointer:
    """Follows and copies the row or line under the cursor."""

    def __init__(
        self, context: WorkbenchContext, *, tabs: TabSwitcher, code: CodeLoader, history: PastRunViewer
    ) -> None:
        self._context = context
        self._tabs = tabs
        self._code = code
        self._history = history

    @property
    def focused_pane(self) -> Pane | SourcePane | CodePane:
        """The focused pane: the file, compiled code, or the shown tab."""
        return self._context.source if self._context.in_source else self._code.focused or self._tabs.pane

    def action_hit(self, step: int) -> None:
        """Go to the next or the previous match."""
        pane = self.focused_pane
        if not pane.hit(step):
            key = "ctrl+f" if self._context.bench.mode is Mode.EDIT else "/"
            self._context.notify(f"no match to go to; {key} searches" if pane.SEARCHES else "no match to go to")

    def action_follow(self) -> None:
        """Go from the row under the cursor to its source line, or to the past run."""
        context = self._context
        if context.in_source:
            self._code.follow(context.source.line)
        elif (code := self._code.focused) is not None:
            self._code.follow_back(code)
        else:
            self._go_to(self._tabs.pane.follow())

    def _go_to(self, followed: Followed) -> None:
        if followed.message:
            self._context.notify(followed.message)
        if followed.screen_id:
            self._context.host.action_show(followed.screen_id)
        if followed.run is not None:
            self._history.show(followed.run)
        if followed.line is not None:
            self._context.source.go_to(followed.line)

    def action_copy_value(self) -> None:
        """Copy the row or line under the cursor."""
        pane = self.focused_pane
        self._context.screen.copy_text(pane.word if isinstance(pane, SourcePane) else pane.copied())

    def action_copy_result(self) -> None:
        """Copy the whole result as Markdown."""
        context = self._context
        context.screen.copy_text(run_markdown(context.bench.view, context.strip_context, glyphs=context.host.glyphs))
