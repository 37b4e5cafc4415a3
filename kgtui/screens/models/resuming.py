"""The unfinished batch of the Models screen: the line that offers to resume it, and its key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import KgtuiError
from kgtui.generation.display.rows import unfinished_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from kgtui.screens.base.host import GenerationControl
    from kgtui.state.format.lines import Line


class Resuming:
    """One for each Models screen; `complain` shows why a batch cannot be resumed."""

    def __init__(self, *, generation: Callable[[], GenerationControl], complain: Callable[[str], None]) -> None:
        self._generation = generation
        self._complain = complain

    def action_resume(self) -> None:
        """Generate the missing answers of the unfinished batch."""
        try:
            self._generation().resume()
        except KgtuiError as error:
            self._complain(str(error))

    @property
    def lines(self) -> tuple[Line, ...]:
        """The offer; empty if no batch can be resumed."""
        generation = self._generation()
        return () if generation.is_running else unfinished_lines(generation.unfinished)
