"""Batches of candidates of one application: one at a time, its runs queued behind every save.

It imports no widget.  The batch of another process is read from the store, repeatedly while that process works on it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from textual.worker import Worker

from engine.errors import KgtuiError, UsageError
from engine.model import Policy, Problem
from kgtui.app.start import Settings
from kgtui.app.terminal import TerminalApp
from kgtui.background import in_background
from kgtui.batches.candidates import read_candidates
from kgtui.batches.names import DescribedNames
from kgtui.batches.request import BatchRequest
from kgtui.batches.results import BatchProgress, CandidateResult, ListedOperator, listed_operator, results_of
from kgtui.batches.running import BatchOrder, BatchRecording, BatchServices, carry_out
from kgtui.batches.typed import parse_wanted
from kgtui.generation.verifying import QueuedVerifier
from kgtui.ports.requests import Audience
from kgtui.runner.engine_service import EngineService
from sessions.candidates.checked import CheckBatchRow

if TYPE_CHECKING:
    from kgtui.screens.base.host import Host

_GROUP = "batch"


class Batching:
    """At most one batch at a time; `changed` is called when the shown batch or one of its results changes."""

    def __init__(
        self,
        host: Host,
        *,
        app: TerminalApp,
        audience: Audience,
        settings: Settings,
        service: EngineService,
        find: Callable[[str], Problem],
    ) -> None:
        self.row: CheckBatchRow | None = None
        self.progress: BatchProgress | None = None
        self.results: tuple[CandidateResult, ...] = ()
        self.changed: Callable[[], None] = lambda: None
        self._host = host
        self._app = app
        self._audience = audience
        self._settings = settings
        self._service = service
        self._find = find
        self._worker: Worker[None] | None = None

    @property
    def is_running(self) -> bool:
        """Whether a batch of this application is running."""
        return self._worker is not None and self._worker.is_running

    def begin(self, typed: str) -> None:
        """Verify the candidates named in the typed text.

        Raises:
            UsageError: the text is invalid, or a batch is running.
        """
        wanted = parse_wanted(typed)
        request = BatchRequest(
            candidates=str(self._settings.folder / Path(wanted.path).expanduser()),
            operator=wanted.operator,
            suites=(),
            device=self._settings.device,
            target=self._settings.target,
            tiers=wanted.tiers,
            policy=Policy.DEFAULT,
            timed=True,
        )
        self._start(request)

    def resume(self) -> None:
        """Run the rest of the shown batch.

        Raises:
            UsageError: no batch is shown, it is complete, or a batch is running.
        """
        if self.row is None:
            raise UsageError("no batch to resume; r starts one")
        if all(result.row.is_done for result in self.results):
            raise UsageError(f"batch {self.row.id} is complete; r starts another one")
        request = msgspec.json.decode(self.row.request, type=BatchRequest)
        if request.suites:
            raise UsageError("a batch of a suite is resumed by `kgtui check --suite PATH --candidates PATH --resume`")
        self._start(request, batch=self.row.id)

    def stop(self) -> bool:
        """Stop the batch; finished results stay in the store."""
        if self._worker is None or not self._worker.is_running:
            return False
        self._worker.cancel()
        return True

    def step(self, by: int) -> None:
        """Show an older or a newer batch."""
        in_background(self._app, partial(self._read, by), group="batch shown")

    def read(self) -> None:
        """Fetch the shown batch, or the newest one, from the store."""
        self.step(0)

    def _start(self, request: BatchRequest, *, batch: int | None = None) -> None:
        if self.is_running:
            raise UsageError("a batch is running; esc stops it")
        recording = self._host.run_history.recording
        if recording is None:
            raise UsageError("a batch needs a store for its results, and none is open")
        self._worker = in_background(self._app, partial(self._run, request, recording, batch), group=_GROUP)

    async def _run(self, request: BatchRequest, recording: BatchRecording, batch: int | None) -> None:
        try:
            names = DescribedNames(self._host.problems)
            path = Path(request.candidates)
            found = await asyncio.to_thread(partial(read_candidates, path, names, operator=request.operator))
            for complaint in found.complaints[:3]:
                self._app.notify(complaint, severity="warning", markup=False)
            order = BatchOrder(request=request, candidates=found.candidates, resume=batch is not None, batch=batch)
            await carry_out(order, self._services(request, recording))
        except* KgtuiError as group:
            self._app.notify(str(group.exceptions[0]), severity="error", markup=False)
        finally:
            self.progress = None
            self.read()

    def _services(self, request: BatchRequest, recording: BatchRecording) -> BatchServices:
        verifier = QueuedVerifier(
            self._service.enqueue,
            request.conditions,
            trouble=self._audience.trouble_arose,
            drop=self._service.drop,
        )
        return BatchServices(
            recording=recording,
            verifiers=(verifier,),
            problem=self._find,
            operators=self._operators,
            on_progress=self._report_progress,
            trouble=lambda text: self._app.notify(text, severity="warning", markup=False),
            clock=self._host.clock,
        )

    def _report_progress(
        self, progress: BatchProgress, changed: tuple[CandidateResult, ...], results: Sequence[CandidateResult]
    ) -> None:
        is_new = self.progress is None or self.progress.batch != progress.batch
        self.progress, self.results = progress, tuple(results)
        if is_new:
            self.row = None
            self.read()
        self._app.wake()
        self.changed()

    async def _read(self, by: int) -> None:
        recording = self._host.run_history.recording
        if recording is None:
            return
        store = recording.checked
        try:
            batches = await asyncio.to_thread(store.batches)
            self.row = _shown(batches, self.progress.batch if self.progress else None, self.row, by)
            if self.row is not None and self.progress is None:
                rows = await asyncio.to_thread(store.results, self.row.id)
                self.results = results_of(rows, self._operators)
        except KgtuiError as error:
            self._audience.trouble_arose(str(error))
        self.changed()

    @property
    def _operators(self) -> Mapping[str, ListedOperator]:
        return {one.name: listed_operator(one) for one in self._host.problems}


def _shown(
    batches: Sequence[CheckBatchRow], running: int | None, shown: CheckBatchRow | None, by: int
) -> CheckBatchRow | None:
    """The batch to show: the one running here, else the one `by` places from the shown one."""
    numbers = [row.id for row in batches]
    wanted = running if running is not None else shown.id if shown is not None else None
    if not batches:
        return None
    place = numbers.index(wanted) if wanted in numbers else 0
    return batches[min(max(0, place + (by if running is None else 0)), len(batches) - 1)]
