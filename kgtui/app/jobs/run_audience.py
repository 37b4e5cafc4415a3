"""Events of the runs, shown on the workbench, in the terminal's title and as notifications.

The modules that draw a run are imported with the first run, so that the first paint does not wait for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.model.events import Event
    from kgtui.app.notifications import Notifications
    from kgtui.app.terminal import TerminalApp
    from kgtui.app.troubles import Troubles
    from kgtui.ports.requests import RunHeader
    from kgtui.screens.base.host import Host
    from kgtui.state.workbench.workbench import Workbench

STORE = "store"


class RunAudience:
    """Receiver of the events of all runs of the workbench; `on_end` is called after each verdict."""

    def __init__(
        self,
        host: Host,
        app: TerminalApp,
        *,
        notifications: Notifications,
        troubles: Troubles,
        on_end: Callable[[], None],
    ) -> None:
        self._host = host
        self._app = app
        self._notifications = notifications
        self._troubles = troubles
        self._on_end = on_end

    def run_began(self, header: RunHeader) -> None:
        """Show that a run begins, with its first event."""
        self._app.wake()
        self._notifications.run_began(is_cached=header.cached)
        if header.number is not None:
            self._troubles.clear(STORE)  # this run is stored
        if self._host.workbench is not None:
            self._host.workbench.runs.run_began(header)

    def on_events(self, events: Sequence[Event]) -> None:
        """Show new events of the run."""
        from engine.model.events import RunFinished

        self._app.wake()
        if self._host.workbench is None:
            return
        self._host.workbench.runs.on_events(events)
        self._show_title(self._host.workbench.bench)
        if any(isinstance(event, RunFinished) for event in events):
            self._notifications.run_ended(self._app.title)
            self._on_end()

    def trouble_arose(self, message: str) -> None:
        """Report that the store cannot be read or written."""
        self._troubles.set(STORE, message)

    def _show_title(self, bench: Workbench) -> None:
        from kgtui.state.workbench.strip import title

        self._app.title = title(bench.view, bench.strip_context(self._host.clock()), self._host.glyphs)
        self._notifications.show_title(self._app.title)
