"""Events on their way to the screen, drawn together: a burst of them costs one drawing.

The first events of a run, and its verdict, do not wait.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.timer import Timer

from engine.model.events import Event, RunFinished
from kgtui.app.terminal import TerminalApp

FLUSH_S = 1 / 5


class EventBatcher:
    """Between the loop and the workbench of one application."""

    def __init__(self, app: TerminalApp, show: Callable[[Sequence[Event]], None]) -> None:
        self._app = app
        self._show = show
        self._pending: list[Event] = []
        self._first_of_run = False
        self._flusher: Timer | None = None

    @property
    def holds_any(self) -> bool:
        """Whether something is not shown yet."""
        return bool(self._pending)

    def run_began(self) -> None:
        """What follows belongs to another run, so what came before is shown now."""
        self._app.wake()
        self.flush()
        self._first_of_run = True

    def add(self, events: Sequence[Event]) -> None:
        """Keep these until the next flush, unless they are the first or the last of a run."""
        self._app.wake()
        self._pending += events
        if self._first_of_run or finish(events):
            self._first_of_run = False
            self.flush()
        elif self._flusher is None:
            self._flusher = self._app.set_interval(FLUSH_S, self.flush)
        else:
            self._flusher.resume()

    def flush(self) -> None:
        """Show all that has been gathered."""
        events, self._pending = self._pending, []
        if self._flusher is not None:
            self._flusher.pause()
        if events:
            self._show(events)


def finish(events: Sequence[Event]) -> bool:
    """Whether the verdict is among these."""
    return any(isinstance(event, RunFinished) for event in events)
