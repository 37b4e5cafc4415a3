"""Shared state of the controllers of one workbench: its record, its screen, and drawing."""

from __future__ import annotations

from dataclasses import replace

from textual.notifications import SeverityLevel

from kgtui.screens.base.host import Host
from kgtui.screens.base.screen import KgtuiScreen
from kgtui.state.workbench.status import Mode, StripContext
from kgtui.state.workbench.workbench import Workbench
from kgtui.widgets.panes.base.source_pane import SourcePane


class WorkbenchContext:
    """Shared state of one workbench screen; controllers replace the record and then draw."""

    def __init__(self, screen: KgtuiScreen, bench: Workbench) -> None:
        self.screen = screen
        self.bench = bench

    @property
    def host(self) -> Host:
        """The application."""
        return self.screen.host

    @property
    def source(self) -> SourcePane:
        """The pane with the file."""
        return self.screen.query_one(SourcePane)

    @property
    def in_source(self) -> bool:
        """Whether the source pane has the focus."""
        focused = self.screen.focused
        return focused is not None and self.source in focused.ancestors_with_self

    @property
    def strip_context(self) -> StripContext:
        """Context of the strip besides the run."""
        return self.bench.strip_context(self.host.clock())

    def draw(self) -> None:
        """Draw what has changed."""
        self.screen.draw()

    def notify(self, words: str, *, severity: SeverityLevel = "information") -> None:
        """Show a message for a moment; without interpreting markup."""
        self.screen.notify(words, severity=severity, markup=False)

    def set_mode(self, mode: Mode) -> None:
        """Set the mode: letters are commands, or text."""
        self.bench = replace(self.bench, mode=mode)
        self.source.edit(on=mode is Mode.EDIT)
