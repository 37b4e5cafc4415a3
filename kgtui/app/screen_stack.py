"""The screen stack: each screen is created when it is first shown, and kept from then on.

Names no screen: `kgtui.screens` lists them and their places.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App
from textual.screen import Screen

from kgtui.screens import Place, screen_ids, screen_module

if TYPE_CHECKING:
    from kgtui.screens.base.host import Host

_STYLES = Path(__file__).parents[1] / "styles"


class ScreenStack:
    """The screens of one application."""

    def __init__(self, app: App[None], host: Host) -> None:
        self._app = app
        self._host = host
        self._made: dict[str, Screen[None]] = {}

    async def prepare(self) -> None:
        """Import every screen in a thread and read its styles, which the first key that opens one would wait for.

        The same holds for lexers.
        """
        await asyncio.to_thread(_make_lexers)
        for screen_id in screen_ids():
            await self.fetch(screen_id)
        for path in sorted(_STYLES.glob("*.tcss")):
            # Read here, since each further style sheet makes Textual parse all of them again.
            if not self._app.stylesheet.has_source(str(path)):
                self._app.stylesheet.read(path)
                self._app.stylesheet.parse()
                await asyncio.sleep(0)

    async def fetch(self, screen_id: str) -> None:
        """Import one screen in a thread, so that the event loop continues."""
        await asyncio.to_thread(screen_module, screen_id)

    def made(self, screen_id: str) -> Screen[None] | None:
        """The screen; None if it was never shown."""
        return self._made.get(screen_id)

    def show(self, screen_id: str) -> None:
        """Bring a screen to the front.

        Raises:
            UsageError: it has no content yet.
            EngineError: there is no such screen, or it does not keep to the contract.
        """
        module = screen_module(screen_id)
        screen = self._made.get(screen_id)
        if screen is None:
            screen = self._made[screen_id] = module.make(self._host)
            self._app.install_screen(screen, screen_id)
        if module.PLACE is Place.GROUND:
            self._show_ground(screen)
        else:
            self._show_over(screen)

    def _show_ground(self, screen: Screen[None]) -> None:
        while len(self._app.screen_stack) > 2:
            self._app.pop_screen()
        if len(self._app.screen_stack) == 1:
            self._app.push_screen(screen)
        elif self._app.screen is not screen:
            self._app.switch_screen(screen)

    def _show_over(self, screen: Screen[None]) -> None:
        if screen not in self._app.screen_stack:
            self._app.push_screen(screen)
        while self._app.screen is not screen:
            self._app.pop_screen()


def _make_lexers() -> None:
    from kgtui.highlighting.lexers import make_lexers

    make_lexers()
