"""Generated candidates of one application: one batch at a time, its runs queued behind every save.

It imports no widget.  Events are far more frequent than screen updates; a screen reads `progress` when it draws.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual.worker import Worker

from engine.devices import platform_named
from engine.errors import KgtuiError, UsageError
from kgtui.app.jobs.resuming import reply_messages, rest_of, with_conversation
from kgtui.background import in_background
from kgtui.generation.batch import DEFAULT_CONCURRENCY, GenerationRequest, Task, suites_of
from kgtui.generation.carrying_out import GenerationOrder, GenerationServices, carry_out
from kgtui.generation.display.typed import parse_wanted
from kgtui.generation.events import AnswerStored, BatchEnded, CandidateVerified, GenerationEvent
from kgtui.generation.lines import ending_text
from kgtui.generation.prices import PriceList, read_prices
from kgtui.generation.progress import NO_BATCH, GenerationProgress
from kgtui.generation.prompts import Prompts
from kgtui.generation.records import Sampling
from kgtui.generation.replying import reply_request
from kgtui.settings.paths import find_paths

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from kgtui.app.start import PreparedBatch, Settings
    from kgtui.app.terminal import TerminalApp
    from kgtui.ports.requests import Audience
    from kgtui.runner.engine_service import EngineService
    from kgtui.screens.base.host import Host
    from sessions.candidates.generation_rows import BatchRow, GenerationRow, Limits

_GROUP = "generation"


class Generating:
    """At most one batch at a time; `changed` is called when an answer or a verdict was stored, and at the end."""

    def __init__(
        self, host: Host, *, app: TerminalApp, audience: Audience, settings: Settings, service: EngineService
    ) -> None:
        self.progress: GenerationProgress = NO_BATCH
        self.rows: tuple[GenerationRow, ...] = ()
        self.unfinished: BatchRow | None = None
        self.changed: Callable[[], None] = lambda: None
        self._host = host
        self._app = app
        self._audience = audience
        self._settings = settings
        self._service = service
        self._worker: Worker[None] | None = None
        self._own_prices: PriceList | None = None

    @property
    def is_running(self) -> bool:
        """Whether a batch has begun and not ended."""
        return self._worker is not None and self._worker.is_running

    def begin(self, typed: str) -> None:
        """Generate for the open operator.

        Raises:
            UsageError: no file is open, the text is invalid, or a batch is running.
        """
        self._refuse_second()
        wanted = parse_wanted(typed)
        task = self._task()
        request = GenerationRequest(
            operators=(task.problem.name,),
            models=wanted.models,
            strategy=wanted.strategy,
            options=wanted.options,
            sampling=Sampling(),
            device=self._settings.device,
            target=self._settings.target,
            suites=suites_of((task,)),
        )
        services = self._services()
        self._start(partial(self._run, self._order(request, task, wanted.limits), services))

    def carry_out(self, batch: PreparedBatch) -> None:
        """Generate a batch prepared before the start, for any operators; its prices stay in use."""
        self._own_prices = batch.prices
        try:
            self._start(partial(self._run, batch.order, self._services()))
        except UsageError as error:
            self._app.notify(str(error), severity="error", markup=False)

    def resume(self) -> None:
        """Generate the missing answers of the unfinished batch.

        Raises:
            UsageError: there is none, or a batch is running.
        """
        self._refuse_second()
        if self.unfinished is None:
            raise UsageError("the last batch is complete; r starts another one")
        self._start(partial(self._resume, self.unfinished, self._services()))

    def reply(self, row: GenerationRow, remark: str) -> None:
        """Send a stored answer back to its model, with the report of its run and a remark.

        Raises:
            UsageError: no file is open, or a batch is running.
        """
        self._refuse_second()
        self._start(partial(self._reply, row, remark, self._task(), self._services()))

    def stop(self) -> bool:
        """Stop generating; answers received so far are stored."""
        if self._worker is None or not self.is_running:
            return False
        self._worker.cancel()
        return True

    def read(self) -> None:
        """Fetch the stored answers for the open operator."""
        in_background(self._app, self._read, group="generated rows")

    async def fetch(self) -> None:
        """Read the stored answers for the open operator, and wait for them."""
        await self._read()

    def _refuse_second(self) -> None:
        if self.is_running:
            raise UsageError("a batch is running; esc stops it")

    def _task(self) -> Task:
        """The open operator."""
        workbench = self._host.workbench
        if workbench is None:
            raise UsageError("no file is open: enter on an operator opens its file, then generate")
        problem = workbench.bench.problem
        described = next((one for one in self._host.problems if one.name == problem.name), None)
        if described is None:
            raise UsageError(f"{problem.name} has no description yet; try again in a moment")
        return Task(problem=problem, description=described)

    def _order(self, request: GenerationRequest, task: Task, limits: Limits) -> GenerationOrder:
        return GenerationOrder(
            request=request,
            tasks=(task,),
            limits=limits,
            device=platform_named(self._settings.device).detect()[0],
            concurrency=DEFAULT_CONCURRENCY,
        )

    def _start(self, work: Callable[[], Coroutine[None, None, None]]) -> None:
        self.progress = NO_BATCH
        self._worker = in_background(self._app, work, group=_GROUP)

    async def _run(self, order: GenerationOrder, services: GenerationServices) -> None:
        try:
            await carry_out(order, services)
        except KgtuiError as error:
            self._app.notify(str(error), severity="error", markup=False)
        except asyncio.CancelledError:
            self.read()
            raise
        await self._read()  # so that the last answer can be shown when the batch ends

    async def _reply(self, row: GenerationRow, remark: str, task: Task, services: GenerationServices) -> None:
        """Read the run and the batch of the answer, then carry the reply out within the budget of that batch."""
        recording = services.recording
        try:
            if row.batch is None:
                raise UsageError("this answer belongs to no batch; generate a new one")
            batch = await asyncio.to_thread(recording.generations.batch, row.batch)
            request = replace(
                reply_request(row, batch, remark=remark), device=self._settings.device, target=self._settings.target
            )
            messages = await asyncio.to_thread(
                partial(reply_messages, row, recording, remark=remark, prompts=services.prompts)
            )
        except KgtuiError as error:
            self._app.notify(str(error), severity="error", markup=False)
            return
        await self._run(self._order(request, replace(task, conversation=messages), batch.limits), services)

    async def _resume(self, batch: BatchRow, services: GenerationServices) -> None:
        try:
            order = rest_of(batch, self._host, device=self._settings.device)
            order = await asyncio.to_thread(
                partial(with_conversation, order, services.recording, prompts=services.prompts)
            )
        except KgtuiError as error:
            self._app.notify(str(error), severity="error", markup=False)
            return
        await self._run(order, services)

    async def every_row(self) -> tuple[GenerationRow, ...]:
        """Every stored answer, for all operators."""
        recording = self._host.run_history.recording
        if recording is None:
            return ()
        try:
            return await asyncio.to_thread(recording.generations.of_every_session)
        except KgtuiError as error:
            self._audience.trouble_arose(str(error))
            return ()

    @property
    def prices(self) -> PriceList:
        """The prices in use: those of a prepared batch, else the user's own and the maintained ones."""
        return self._own_prices if self._own_prices is not None else read_prices(self.price_file)

    @property
    def price_file(self) -> Path:
        """Path of the user's own prices, if there are any."""
        return find_paths(self._settings.environment).prices

    async def _read(self) -> None:
        workbench, recording = self._host.workbench, self._host.run_history.recording
        if recording is None:
            return
        try:
            self.unfinished = await asyncio.to_thread(recording.generations.newest_unfinished)
            if workbench is not None:
                self.rows = await asyncio.to_thread(recording.generations.of_problem, workbench.bench.problem.name)
        except KgtuiError as error:
            self._audience.trouble_arose(str(error))
        self._app.wake()
        self.changed()

    def _on_generation_event(self, event: GenerationEvent, progress: GenerationProgress) -> None:
        self.progress = progress
        self._app.wake()
        if isinstance(event, BatchEnded) and event.message:
            self._app.notify(ending_text(progress), severity="warning", markup=False)
        if isinstance(event, AnswerStored | CandidateVerified | BatchEnded):
            self.read()

    def _services(self) -> GenerationServices:
        recording = self._host.run_history.recording
        if recording is None:
            raise UsageError("answers that cost money must be stored, so nothing is generated without a store")
        return GenerationServices(
            recording=recording,
            submit=self._service.enqueue,
            drop=self._service.drop,
            prices=self.prices,
            prompts=Prompts(find_paths(self._settings.environment).prompts),
            environment=self._settings.environment,
            trouble=self._audience.trouble_arose,
            on_generation_event=self._on_generation_event,
            clock=self._host.clock,
            now=self._host.now,
        )
