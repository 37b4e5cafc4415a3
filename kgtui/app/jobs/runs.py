"""The runs of one application: those of the open file, a grid, a generated batch and candidates, on one engine.

The grid and the batches are created on first use, so that their modules do not delay the first paint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.model import Problem
    from kgtui.app.jobs.batching import Batching
    from kgtui.app.jobs.generating import Generating
    from kgtui.app.jobs.tuning import Tuning
    from kgtui.app.notifications import Notifications
    from kgtui.app.start import Settings
    from kgtui.app.terminal import TerminalApp
    from kgtui.app.troubles import Troubles
    from kgtui.ports.requests import Audience, RetargetRequest, RunRequest
    from kgtui.runner.engine_service import EngineService
    from kgtui.screens.base.host import Host


class Runs:
    """Requests runs of `service`; implements `RunControl` of the host."""

    def __init__(
        self,
        host: Host,
        app: TerminalApp,
        *,
        audience: Audience,
        service: EngineService,
        settings: Settings,
        notifications: Notifications,
        troubles: Troubles,
        find: Callable[[str], Problem],
    ) -> None:
        self._host = host
        self._app = app
        self._audience = audience
        self._service = service
        self._settings = settings
        self._notifications = notifications
        self._troubles = troubles
        self._tuning: Tuning | None = None
        self._generating: Generating | None = None
        self._find = find
        self._batching: Batching | None = None

    @property
    def busy(self) -> bool:
        """Whether a run is in progress or queued; False while the engine could not be started."""
        starting = self._service.waits_for_engine and not self._troubles.sentences
        return starting or self._service.busy

    @property
    def tuning(self) -> Tuning:
        """The grid of variants."""
        if self._tuning is None:
            from kgtui.app.jobs.tuning import Tuning

            self._tuning = Tuning(
                self._host, audience=self._audience, service=self._service, notifications=self._notifications
            )
        return self._tuning

    @property
    def generation(self) -> Generating:
        """Generated candidates for the open operator."""
        if self._generating is None:
            from kgtui.app.jobs.generating import Generating

            self._generating = Generating(
                self._host, app=self._app, audience=self._audience, settings=self._settings, service=self._service
            )
        return self._generating

    @property
    def batch(self) -> Batching:
        """Batches of candidates."""
        if self._batching is None:
            from kgtui.app.jobs.batching import Batching

            self._batching = Batching(
                self._host,
                app=self._app,
                audience=self._audience,
                settings=self._settings,
                service=self._service,
                find=self._find,
            )
        return self._batching

    def submit(self, request: RunRequest) -> None:
        """Queue this run, and watch the files that the candidate imports."""
        self._app.wake()
        self._stop_grid()
        self._host.file_watch.follow_imports(request)
        self._service.submit(request)

    def retarget(self, request: RetargetRequest) -> None:
        """Compile the launches of a run for other targets."""
        self._stop_grid()
        self._service.submit(request)

    def cancel(self) -> bool:
        """Stop the run in progress; False when there is none."""
        was_busy = self._service.cancel()
        self._stop_grid()
        return was_busy

    def _stop_grid(self) -> None:
        if self._tuning is not None:
            self._tuning.stop()
