"""Base class of the screens that show the run of the workbench below them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import UsageError
from kgtui.screens.base.screen import KgtuiScreen

if TYPE_CHECKING:
    from kgtui.screens.base.host import Host
    from kgtui.screens.base.open_workbench import OpenWorkbench


class ScreenOverWorkbench(KgtuiScreen):
    """A screen over the workbench, drawn again after every change of it."""

    def __init__(self, workbench: OpenWorkbench) -> None:
        super().__init__()
        self._workbench = workbench

    def workbench_changed(self) -> None:
        """Redraw after new events, or for another run."""
        self.draw()


def workbench_of(host: Host, *, otherwise: str) -> OpenWorkbench:
    """The open workbench.

    Raises:
        UsageError: no file is open, so `otherwise` holds.
    """
    if host.workbench is None:
        raise UsageError(f"no file is open, so {otherwise}; enter on an operator opens its file")
    return host.workbench
