"""The values to try: the table of tunables of the saved file, and the input line for values."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from textual.widgets import Input

from engine.errors import UsageError
from kgtui.screens.base.open_workbench import OpenWorkbench
from kgtui.screens.base.screen import KgtuiScreen
from kgtui.state.format.lines import Line, line
from kgtui.state.tuning.tunables import (
    LIST,
    Tunables,
    grid_line,
    nothing_found,
    parse_values,
    tunable_rows,
    tunables_in,
    usual_values,
    written,
)
from kgtui.widgets.text.toned import Grid


class TunablesEditor:
    """The tunables of the saved file and the values chosen for them."""

    def __init__(self, screen: KgtuiScreen, workbench: OpenWorkbench) -> None:
        self._screen = screen
        self._workbench = workbench
        self._edited: str | None = None
        self.tunables = Tunables(source=b"")

    @property
    def table(self) -> Grid:
        """The table of the tunables."""
        return self._screen.query_one("#tunables", Grid)

    @property
    def entry(self) -> Input:
        """The input line for values; hidden if there is nothing to type."""
        return self._screen.query_one("#values", Input)

    @property
    def is_current(self) -> bool:
        """Whether the tunables are those of the saved file."""
        return self._workbench.bench.saved == self.tunables.source

    @property
    def selected_values(self) -> str:
        """The values chosen for the tunable under the cursor, as text for the input."""
        return written(self.tunables.chosen.get(self.table.current or "", ()))

    def plan(self) -> tuple[Line, ...]:
        """Variants that r would try; an example while values are typed; or the reason if there are none."""
        if not self.tunables.has_any:
            return nothing_found(self.tunables)
        if self.entry.display:
            return (line(f"values of {self._edited}, such as 4, 8; leave empty to keep the current value"),)
        return (grid_line(self.tunables, timed=self._workbench.bench.benchmark is not None),)

    def draw(self) -> None:
        """Draw the table."""
        self.table.show(tunable_rows(self.tunables, glyphs=self._screen.host.glyphs))
        self._screen.set_class(not self.tunables.has_any, "-empty")

    async def read(self) -> None:
        """Read the tunables of the saved file, unless they are current; values chosen before are kept."""
        if not self.is_current:
            await self._choose(self._workbench.bench.saved, self.tunables.chosen)

    def edit(self) -> None:
        """Open the input line for the values of the selected tunable."""
        name = self.table.current
        tunable = next((one for one in self.tunables.tunables if one.name == name), None)
        if tunable is None:
            words = (
                "its entries are tried as they are; change them in the file" if name == LIST else "nothing to choose"
            )
            self._screen.notify(words, markup=False)
            return
        self._edited = tunable.name
        known = self.tunables.chosen.get(tunable.name)
        self.entry.value = written(known) if known else usual_values(tunable)
        self.entry.display = True
        self._screen.set_focus(self.entry)
        self._screen.draw()

    def leave(self) -> None:
        """Close the input line and discard its text."""
        self.entry.display = False
        self._screen.set_focus(self.table)
        self._screen.draw()

    async def take(self, typed: str) -> None:
        """Use the typed values for the edited tunable; invalid ones are reported and stay in the input."""
        try:
            values = parse_values(typed)
        except UsageError as error:
            self._screen.notify(str(error), severity="error", markup=False)
            return
        chosen: Mapping[str, tuple[int, ...]] = {
            **{name: known for name, known in self.tunables.chosen.items() if name != self._edited},
            **({self._edited: values} if self._edited is not None and values else {}),
        }
        self.leave()
        await self._choose(self.tunables.source, chosen)

    async def _choose(self, source: bytes, chosen: Mapping[str, tuple[int, ...]]) -> None:
        """Parse the text in a thread; only keys pressed meanwhile wait."""
        self.tunables = await asyncio.to_thread(tunables_in, source, chosen=chosen)
        if self._screen.query("#plan"):  # unless the screen was closed meanwhile
            self._screen.draw()
