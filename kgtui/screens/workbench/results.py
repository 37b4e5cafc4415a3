"""The results beside the source: the tab bar, the shown pane, and compiled code below."""

from __future__ import annotations

from collections.abc import Mapping

from textual import on
from textual.app import ComposeResult
from textual.message import Message
from textual.widgets import ContentSwitcher

from kgtui.state.workbench.tabs import tab_line
from kgtui.widgets.controls.bars import Bar, Segment
from kgtui.widgets.controls.titled import Titled
from kgtui.widgets.panes import PaneModule
from kgtui.widgets.panes.base.code_pane import CodePane
from kgtui.widgets.panes.base.pane import Pane, Scene


class ResultsPanel(Titled):
    """A tab for every pane module; `shown` is the id of the shown one."""

    class TabChosen(Message):
        """A tab was clicked."""

        def __init__(self, tab: str) -> None:
            super().__init__()
            self.tab = tab

    def __init__(self, modules: Mapping[str, PaneModule], *, id: str) -> None:
        super().__init__(id=id)
        self._titles = {name: module.TITLE for name, module in modules.items()}
        self._panes = {name: module.make() for name, module in modules.items()}
        for name, pane in self._panes.items():
            pane.id = name
        self.shown = next(iter(modules))

    def compose(self) -> ComposeResult:
        """Create the widgets: the tabs over the panes, and the code pane of a wide terminal."""
        yield Bar(gap=" ", id="tabs")
        with ContentSwitcher(initial=self.shown, id="panes"):
            yield from self._panes.values()
        yield CodePane(id="ir-side")

    @property
    def pane(self) -> Pane:
        """The shown pane."""
        return self._panes[self.shown]

    def show_tab(self, name: str) -> None:
        """Show a pane."""
        self.shown = name
        self.query_one("#panes", ContentSwitcher).current = name

    def turned(self, step: int) -> str:
        """The tab `step` positions further, cyclically."""
        names = tuple(self._panes)
        return names[(names.index(self.shown) + step) % len(names)]

    def show(self, scene: Scene) -> None:
        """Draw the tab bar, the shown pane, and hidden ones whose entries other screens read."""
        segments = []
        for number, (name, pane) in enumerate(self._panes.items(), start=1):
            label = pane.label(scene.bench.results, scene.wanted)
            is_shown = name == self.shown  # the others have no room for the word
            words = tab_line(number, self._titles[name], label, stale=is_shown and pane.is_stale(scene))
            segments.append(Segment(key=name, line=words, active=is_shown))
        self.query_one("#tabs", Bar).show(tuple(segments))
        for pane in self._panes.values():
            if pane is self.pane or pane.DRAWN_HIDDEN:
                pane.show(scene)

    @on(Bar.Chosen, "#tabs")
    def _tab_clicked(self, message: Bar.Chosen) -> None:
        message.stop()
        self.post_message(self.TabChosen(message.key))
