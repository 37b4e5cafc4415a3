"""A screen that the user can write to a file, as it is shown; every screen of kgtui is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from engine.errors import UsageError
from kgtui.screens.base.styled import StyledScreen

if TYPE_CHECKING:
    from kgtui.screens.base.host import Host


class SavableScreen(StyledScreen):
    """Has the action that writes the screen as an SVG file to the working folder."""

    def action_write_screenshot(self) -> None:
        """Write this screen to a new SVG file, once the palette is closed."""
        self.call_after_refresh(self._write_screenshot)

    def _write_screenshot(self) -> None:
        kernels = cast("Host", self.app).kernels  # Textual types the app as any App; this one implements the protocol
        try:
            path = kernels.write_screenshot(self.app.export_screenshot(title="kgtui"))
        except UsageError as error:
            self.notify(str(error), severity="error", markup=False)
        else:
            self.notify(f"written: {kernels.shown(path)}", markup=False)
