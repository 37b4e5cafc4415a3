"""The doctor: this machine, the sandboxing of candidates, the terminal, and the source of each setting.
The same diagnosis as that of `kgtui doctor`, made in the background; it changes nothing.
"""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from kgtui.background import in_background
from kgtui.screens import Place
from kgtui.screens.base.host import Host
from kgtui.screens.base.screen import KgtuiScreen
from kgtui.settings.keys import Where, bindings_of
from kgtui.state.doctor import CHECKING_CONFINEMENT, diagnosis_rows
from kgtui.widgets.controls.bars import Bar
from kgtui.widgets.controls.too_small import TooSmall
from kgtui.widgets.text.page_view import PageView
from kgtui.widgets.text.toned import Lines

PLACE = Place.OVER

_MARGIN = 3  # the padding and the scroll bar


def make(host: Host) -> DoctorScreen:
    """The doctor of this machine."""
    return DoctorScreen()


class DoctorScreen(KgtuiScreen):
    """The diagnosis, on top of any screen; made when first shown, and again on request."""

    WHERE = Where.DOCTOR
    CSS_PATH = "../../styles/doctor.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Where.DOCTOR)]

    def __init__(self) -> None:
        super().__init__()
        self._facts: tuple[str, ...] = (CHECKING_CONFINEMENT,)
        self._began: float | None = None

    def compose(self) -> ComposeResult:
        """Create the widgets: the page and the keys."""
        yield Lines(id="banner")
        yield PageView(id="page")
        yield Bar(id="keys")
        yield TooSmall()

    def on_mount(self) -> None:
        """Start the diagnosis."""
        self.show_keys()
        self.set_focus(self._page)
        self.action_again()

    def draw(self) -> None:
        """Draw what has changed."""
        self.show_trouble()
        self.show_keys()
        elapsed_s = None if self._began is None else self.host.clock() - self._began
        self._page.show(diagnosis_rows(self._facts, width=max(1, self.size.width - _MARGIN), elapsed_s=elapsed_s))

    def on_resize(self) -> None:
        """Wrap the page for the new width."""
        self.call_after_refresh(self.draw)

    @property
    def waits(self) -> bool:
        """Whether the diagnosis is in progress."""
        return self._began is not None

    def tick(self) -> None:
        """Update the elapsed time."""
        if self._began is not None:
            self.draw()

    def action_again(self) -> None:
        """Repeat the diagnosis."""
        self._began = self.host.clock()
        in_background(self, self._look, group="doctor")
        self.draw()

    def action_copy_value(self) -> None:
        """Copy the line under the cursor."""
        self.copy_text(self._page.text())

    def action_copy_result(self) -> None:
        """Copy the whole page."""
        self.copy_text("\n".join(self._facts))

    @property
    def _page(self) -> PageView:
        return self.query_one(PageView)

    async def _look(self) -> None:
        async for facts in self.host.diagnose():
            self._facts = facts
            self.draw()
        self._began = None
        self.draw()
