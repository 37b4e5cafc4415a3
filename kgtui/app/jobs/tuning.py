"""The grid of one application: its variants are queued as a batch, and their results are collected here.

It imports no widget, and is the only job that writes to the user's file, and only on request.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.errors import UsageError
from engine.model import Outcome
from engine.model.events import Event, RunFinished
from engine.tuning.trials import Trial
from kgtui.files import disk
from kgtui.ports.requests import Audience, Priority, RunHeader
from kgtui.state.tuning.grid import Ending, VariantGrid
from sessions.rows import VARIANT_TAG

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kgtui.app.notifications import Notifications
    from kgtui.runner.engine_service import EngineService
    from kgtui.runner.run_queue import Ticket
    from kgtui.screens.base.host import Host
    from kgtui.screens.base.open_workbench import OpenWorkbench
    from kgtui.state.tuning.tunables import Tunables


class Tuning:
    """At most one grid at a time; a new one replaces the previous one.

    `changed` is called when a variant begins or ends, and when the grid does.
    """

    def __init__(self, host: Host, *, audience: Audience, service: EngineService, notifications: Notifications) -> None:
        self.grid: VariantGrid | None = None
        self.changed: Callable[[], None] = lambda: None
        self._host = host
        self._audience = audience
        self._service = service
        self._run_notifications = notifications
        self._tickets: tuple[Ticket, ...] = ()
        self._number = 0

    def begin(self, tunables: Tunables) -> None:
        """Try these variants of the open file, the unchanged file first.

        Raises:
            UsageError: it cannot begin now; the text says what to do first.
        """
        bench, now_s = self._workbench.bench, self._host.clock()
        if bench.unsaved:
            raise UsageError(f"{bench.path.name} has unsaved text, which would not be tried: ctrl+s saves it")
        if bench.waiting:
            raise UsageError(f"{bench.path.name} is about to run; once it has started, r tunes it")
        self._number += 1
        self.grid = VariantGrid(
            path=bench.path,
            problem=bench.problem.name,
            device=bench.device,
            target=bench.target,
            variants=tunables.grid,
            now=tunables.now if tunables.chosen else {},
            began_s=now_s,
            last_s=now_s,
        )
        request, number = bench.order(again=True), self._number
        # Ends at the verdict: the disassembly after it would delay the next variant.
        batched = replace(request, tag=VARIANT_TAG, priority=Priority.BATCH, stops_at_verdict=True)
        self._service.cancel()
        self._tickets = tuple(
            self._service.enqueue(
                replace(batched, content=one.source, note=one.name), _VariantAudience(self, number=number, place=place)
            )
            for place, one in enumerate(tunables.grid)
        )
        self.changed()

    def stop(self) -> None:
        """Try no further variants; no effect when none is being tried."""
        if self._end():
            for ticket in self._tickets:
                self._service.drop(ticket)

    def watch_file(self) -> None:
        """Stop if the file has changed, which the watcher does not report while verification is paused."""
        if self.grid is not None and not self._is_of_the_file(self.grid):
            self.stop()

    def write(self) -> str:
        """Write the proposed values into the file, run it, and report that.

        Raises:
            UsageError: nothing was proposed, or the file is not the tuned version; it stays unchanged.
        """
        grid, workbench = self.grid, self._workbench
        if grid is None or grid.winner is None:
            raise UsageError("no variant was measured as faster than the file, so there is nothing to write")
        name = grid.path.name
        if workbench.bench.unsaved:
            raise UsageError(f"{name} has unsaved text, which writing would lose: save or discard it first")
        if not self._is_of_the_file(grid) or disk.read(grid.path) != grid.source:
            raise UsageError(f"{name} has changed since it was tuned, so nothing was written; r tunes the new version")
        disk.write(grid.path, grid.winner.source)
        self.grid = replace(grid, is_written=True)
        workbench.file.saved(grid.winner.source)
        self.changed()
        return f"{name} was written with {grid.winner.name}"

    # Reports of the runs

    def is_current(self, number: int) -> bool:
        """Whether the grid of this number is still running."""
        return number == self._number and self.grid is not None and self.grid.ending is None

    @property
    def lacks_file(self) -> bool:
        """Whether the grid has kept the workbench from a verdict on the file."""
        bench = self._workbench.bench
        view = bench.live.view
        has_verdict = view.verdict is not None and view.verdict.outcome is not Outcome.CANCELLED
        return not has_verdict or view.digest != bench.content_digest

    def variant_began(self, place: int, header: RunHeader, *, shows_file: bool) -> None:
        """Note that this variant is running; the run of the unchanged file may be shown as the file's, too."""
        assert self.grid is not None
        if shows_file:
            workbench, now_s = self._workbench, self._host.clock()
            workbench.bench = replace(workbench.bench, ordered_s=now_s)
            self._audience.run_began(header)
        elif place == 1:
            self._run_notifications.run_began(is_cached=False)
        self.grid = self.grid.run_began()
        self.changed()

    def add_variant_events(self, events: Sequence[Event]) -> None:
        """Note new events of the running variant."""
        assert self.grid is not None
        self.grid = self.grid.with_events(events)
        self.watch_file()

    def variant_finished(self, number: int | None) -> None:
        """Note the verdict of the variant; `number` is its run in the store."""
        assert self.grid is not None
        run = replace(self.grid.running, file=self.grid.path.name, number=number)
        if run.cancelled:
            self._end()
            return
        trial = Trial(variant=self.grid.variants[len(self.grid.tried)], run=run)
        self.grid = self.grid.finished(trial, now_s=self._host.clock())
        self._workbench.history.read()
        if self.grid.ending is not None:
            self._run_notifications.run_ended(f"kgtui: {len(self.grid.tried)} variants of {self.grid.path.name} tried")
        self.changed()

    def pass_events(self, events: Sequence[Event]) -> None:
        """Forward events of the unchanged file's run."""
        self._audience.on_events(events)

    def report_trouble(self, message: str) -> None:
        """Report an error of the store."""
        self._audience.trouble_arose(message)

    # Inside

    @property
    def _workbench(self) -> OpenWorkbench:
        workbench = self._host.workbench
        assert workbench is not None  # the Tune screen covers the workbench
        return workbench

    def _is_of_the_file(self, grid: VariantGrid) -> bool:
        bench = self._workbench.bench
        return (bench.path, bench.saved) == (grid.path, grid.source)

    def _end(self) -> bool:
        """End the grid; whether it had not ended before."""
        if self.grid is None or self.grid.ending is not None:
            return False
        self.grid = self.grid.ended(Ending.STOPPED if self._is_of_the_file(self.grid) else Ending.SAVED)
        self.changed()
        return True


@dataclass
class _VariantAudience:
    """Listener of the run of one variant; events after the end of its grid are dropped."""

    tuning: Tuning
    number: int
    place: int
    run: int | None = None
    shows_file: bool = False
    done: bool = False

    def run_began(self, header: RunHeader) -> None:
        """Note that the run begins."""
        self.run = header.number
        if self.tuning.is_current(self.number):
            self.shows_file = self.place == 0 and self.tuning.lacks_file
            self.tuning.variant_began(self.place, header, shows_file=self.shows_file)

    def on_events(self, events: Sequence[Event]) -> None:
        """Note new events; the variant counts once it has a verdict."""
        if self.shows_file:
            self.tuning.pass_events(events)
        if self.done or not self.tuning.is_current(self.number):
            return
        self.tuning.add_variant_events(events)
        if any(isinstance(event, RunFinished) for event in events) and self.tuning.is_current(self.number):
            self.done = True
            self.tuning.variant_finished(self.run)

    def trouble_arose(self, message: str) -> None:
        """Report an error of the store."""
        self.tuning.report_trouble(message)
