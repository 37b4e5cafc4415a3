"""The one driver of runs: takes a request and yields its stored events in batches.
Screen, commands and tuning run everything through it.  An event is in the store before a consumer gets it.  An error of
the store never stops a run; it is reported once, and the run continues without storage.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from typing import TYPE_CHECKING, TypeAlias

from engine.errors import KgtuiError, StoreError
from engine.model import Candidate, Launch, Outcome, Plan, Verdict
from engine.model.commands import CancelRun
from engine.model.events import (
    CaseFinished,
    Event,
    KernelLaunched,
    KernelPorted,
    PortingFinished,
    RunFinished,
    RunStarted,
)
from kgtui.ports.requests import RetargetRequest, RunHeader, RunRequest
from kgtui.runner.event_batches import event_batches
from kgtui.runner.stored_run import stored_run

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from kgtui.ports.protocols import EngineRuns, Recording

Request: TypeAlias = RunRequest | RetargetRequest
Update: TypeAlias = RunHeader | tuple[Event, ...]

_OURS = (Outcome.CANCELLED, Outcome.PROBLEM_ERROR, Outcome.ENGINE_ERROR, Outcome.UNSUPPORTED)


class RunDriver:
    """Runs one request at a time on one engine; `pace_s` is the shortest interval between batches of events.
    `fault` is the last unexpected error of the engine; the run ended by it still has a verdict.
    """

    def __init__(
        self,
        engine: EngineRuns,
        *,
        recording: Recording | None,
        on_trouble: Callable[[str], None],
        pace_s: float = 0.0,
    ) -> None:
        self.recording = recording
        self.fault: Exception | None = None
        self._engine = engine
        self._on_trouble = on_trouble
        self._pace_s = pace_s
        self._failed_cases: dict[str, tuple[str, ...]] = {}
        self._run_id = ""
        self._is_cancelled = False

    async def stored(self, request: RunRequest) -> tuple[RunHeader, tuple[Event, ...]] | None:
        """The stored run that answers exactly this request; None if there is none, or a new run is requested."""
        return await stored_run(request, recording=self.recording, on_trouble=self._on_trouble)

    async def run(self, request: Request) -> AsyncGenerator[Update, None]:
        """The header of the run, then its events; of a request for other targets only the events.

        `cancel` ends the run with a cancelled verdict; closing the generator ends it without.
        """
        self._run_id, self._is_cancelled = secrets.token_hex(8), False
        if isinstance(request, RetargetRequest):
            number, events = request.number, self._retargeted(request)
        else:
            if (answer := await self.stored(request)) is not None:
                for update in answer:
                    yield update
                return
            plan = request.plan(await self._failed_before(request))
            number = await self._begin(request)
            yield RunHeader(number=number, cached=False, digest=request.candidate.digest, picked=bool(request.cases))
            events = self._events(request, plan)
        failed: list[str] = []
        async with contextlib.aclosing(event_batches(events, pace_s=self._pace_s)) as batches:
            async for batch in batches:
                number = await self._record(number, batch)
                if isinstance(request, RunRequest):
                    self._remember(request, batch, failed)
                yield batch

    def cancel(self) -> None:
        """End the request in progress with a cancelled verdict; no effect when there is none."""
        self._is_cancelled = True
        self._engine.send(CancelRun(run_id=self._run_id))

    def _repeat_cancel(self) -> None:
        """Send the cancel again with an event of the run: the engine ignores a cancel that arrives before the run."""
        if self._is_cancelled:
            self._engine.send(CancelRun(run_id=self._run_id))

    async def _events(self, request: RunRequest, plan: Plan) -> AsyncGenerator[Event, None]:
        """The events of the run, and of its launches compiled for the request's other targets."""
        launches: list[Launch] = []
        last_s, outcome = 0.0, Outcome.ENGINE_ERROR
        async with contextlib.aclosing(self._evaluated(request, plan)) as events:
            async for event in events:
                last_s = event.at_s
                yield event
                if isinstance(event, KernelLaunched):
                    launches.append(event.launch)
                if isinstance(event, RunFinished):
                    outcome = event.verdict.outcome
                    if request.stops_at_verdict:
                        break
        if not request.targets or not launches or outcome is Outcome.CANCELLED:
            return
        retarget = RetargetRequest(
            candidate=request.candidate,
            entry=request.problem.entry,
            launches=tuple(launches),
            targets=request.targets,
            number=None,
            after_s=last_s,
        )
        async with contextlib.aclosing(self._retargeted(retarget)) as events:
            async for event in events:
                yield event
                if request.stops_at_verdict and isinstance(event, KernelPorted) and event.number == event.total:
                    break

    async def _evaluated(self, request: RunRequest, plan: Plan) -> AsyncGenerator[Event, None]:
        """The engine's events, ended with a verdict of the driver if the engine fails to give one."""
        candidate = request.candidate
        last: Event | None = None
        finished = False
        complaint = "the engine ended the run without a verdict; r repeats it"
        try:
            # Read to the end, also after the verdict, since the engine cleans up there.
            async with contextlib.aclosing(self._evaluate(candidate, request.against, plan)) as events:
                async for event in events:
                    self._repeat_cancel()
                    last, finished = event, finished or isinstance(event, RunFinished)
                    yield event
        except KgtuiError as error:
            complaint = str(error)
        except Exception as error:  # boundary: an engine error must not end the driver
            self.fault = error
            complaint = f"the engine failed: {type(error).__name__}: {error}; r runs it again"
        if finished:
            return
        if last is None:
            yield RunStarted(
                at_s=0.0,
                problem=plan.problem.name,
                digest=candidate.digest,
                device=plan.device,
                device_name=self._engine.device_name,
                target=plan.target,
                cases=len(plan.cases),
            )
        verdict = Verdict(outcome=Outcome.ENGINE_ERROR, sentence=complaint, passed=0, total=len(plan.cases))
        yield RunFinished(at_s=last.at_s if last else 0.0, verdict=verdict)

    def _evaluate(self, candidate: Candidate, other: Candidate | None, plan: Plan) -> AsyncGenerator[Event, None]:
        if other is None:
            return self._engine.evaluate(candidate, plan, run_id=self._run_id)
        return self._engine.compare(candidate, other, plan, run_id=self._run_id)

    async def _retargeted(self, request: RetargetRequest) -> AsyncGenerator[Event, None]:
        """The engine's events, ended by the driver if the engine fails to end them."""
        last_s, message = request.after_s, "the engine stopped before everything was compiled; r restarts"
        retargeting = self._engine.retarget(
            request.candidate,
            entry=request.entry,
            launches=request.launches,
            targets=request.targets,
            after_s=request.after_s,
            run_id=self._run_id,
        )
        try:
            async with contextlib.aclosing(retargeting):
                async for event in retargeting:
                    self._repeat_cancel()
                    last_s = event.at_s
                    yield event
                    if isinstance(event, PortingFinished):
                        message = ""
        except KgtuiError as error:
            message = str(error)
        except Exception as error:  # boundary: an engine error must not end the driver
            self.fault = error
            message = f"the engine failed: {type(error).__name__}: {error}; r restarts"
        if message:
            yield PortingFinished(at_s=last_s, outcome=Outcome.ENGINE_ERROR, message=message)

    # ------------------------------------------------------------ the store

    async def _failed_before(self, request: RunRequest) -> tuple[str, ...]:
        if request.problem.name in self._failed_cases or self.recording is None:
            return self._failed_cases.get(request.problem.name, ())
        try:
            return await asyncio.to_thread(self.recording.failed_cases, request)
        except StoreError as error:
            self._on_trouble(str(error))
            return ()

    def _remember(self, request: RunRequest, batch: Sequence[Event], failed: list[str]) -> None:
        """Remember the failed cases of a candidate with a verdict: they run first next time."""
        results = (event.result for event in batch if isinstance(event, CaseFinished))
        failed += (result.case for result in results if result.outcome is not Outcome.PASS)
        if any(isinstance(event, RunFinished) and event.verdict.outcome not in _OURS for event in batch):
            known = self._failed_cases.get(request.problem.name, ()) if request.cases else ()
            others = tuple(name for name in known if name not in request.cases)
            self._failed_cases[request.problem.name] = (*others, *failed)

    async def _begin(self, request: RunRequest) -> int | None:
        if self.recording is None:
            return None
        try:
            return await asyncio.to_thread(self.recording.begin, request)
        except StoreError as error:
            self._on_trouble(f"run not saved: {error}")
            return None

    async def _record(self, number: int | None, events: Sequence[Event]) -> int | None:
        """Record the events; after a failure the rest of the run is not recorded, and that is reported once."""
        if number is None or self.recording is None:
            return None
        try:
            await asyncio.to_thread(self.recording.record, number, events)
        except StoreError as error:
            self._on_trouble(f"rest of the run not saved: {error}")
            return None
        return number
