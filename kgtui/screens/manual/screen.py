"""The manual: its topics at the left, the page of the selected topic beside them."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widgets import OptionList

from kgtui import manual
from kgtui.screens import Place
from kgtui.screens.base.host import Host
from kgtui.screens.base.screen import KgtuiScreen
from kgtui.settings.keys import Where, bindings_of
from kgtui.state.format.lines import line
from kgtui.state.manual import page_rows
from kgtui.state.workbench.inspect import PageRow
from kgtui.widgets.controls.bars import Bar
from kgtui.widgets.controls.too_small import TooSmall
from kgtui.widgets.text.page_view import PageView
from kgtui.widgets.text.toned import Lines

PLACE = Place.OVER

_MARGIN = 3  # the padding and the scroll bar


def make(host: Host) -> ManualScreen:
    """The manual of this version."""
    return ManualScreen()


class ManualScreen(KgtuiScreen):
    """The manual, on top of any screen; keeps the selected topic."""

    WHERE = Where.MANUAL
    CSS_PATH = "../../styles/manual.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Where.MANUAL)]

    def __init__(self) -> None:
        super().__init__()
        self._topics = tuple(manual.topics())
        self._topic = self._topics[0]

    def compose(self) -> ComposeResult:
        """Create the widgets: the topics, the page and the keys."""
        yield Lines(id="banner")
        with Horizontal():
            yield PageView(id="topics")
            yield PageView(id="page")
        yield Bar(id="keys")
        yield TooSmall()

    def on_mount(self) -> None:
        """List the topics; the first is selected."""
        self.show_keys()
        self._list.show(tuple(PageRow(line=line(topic)) for topic in self._topics))
        self.set_focus(self._list)
        self.draw()

    def draw(self) -> None:
        """Draw what has changed."""
        self.show_trouble()
        self._page.show(page_rows(manual.page(self._topic), width=max(1, self._page.size.width - _MARGIN)))

    def on_resize(self) -> None:
        """Wrap the page for the new width."""
        self.call_after_refresh(self.draw)

    @on(OptionList.OptionSelected, "#topics")
    def _topic_selected(self) -> None:
        self.action_read()

    @on(OptionList.OptionHighlighted, "#topics")
    def _topic_highlighted(self, message: OptionList.OptionHighlighted) -> None:
        topic = self._topics[message.option_index]
        if topic != self._topic:
            self._topic = topic
            self.draw()
            self._page.action_scroll_home()

    def on_descendant_focus(self) -> None:
        """Give the text the whole width of a narrow terminal while it has the focus."""
        self.set_class(self.focused is self._page, "-reading")
        self.call_after_refresh(self.draw)

    def action_read(self) -> None:
        """Focus the text of the selected topic."""
        self.set_focus(self._page)

    def action_copy_result(self) -> None:
        """Copy the page as Markdown."""
        self.copy_text(manual.page(self._topic))

    @property
    def _list(self) -> PageView:
        return self.query_one("#topics", PageView)

    @property
    def _page(self) -> PageView:
        return self.query_one("#page", PageView)
