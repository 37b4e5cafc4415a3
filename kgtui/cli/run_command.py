"""One run of the engine for a command: every event kept, then told, then collected.

The same engine and the same events as on the screen.  Every event is in the store before it is
printed.  A file that does not parse gets its verdict before any process is started.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Protocol

from engine.artefacts import ArtefactStore
from engine.devices import Device
from engine.model import BenchmarkPlan, Candidate, Cost, Launch, Outcome, Plan, Policy, Problem, Stage, Tier
from engine.model.events import (
    Event,
    KernelLaunched,
    KernelPorted,
    RunFinished,
    RunStarted,
    StageFinished,
    StageStarted,
)
from engine.reports.reducer import record_of
from engine.reports.run_record import RunRecord
from engine.reports.text import PlainLine, plain_lines
from engine.static.source import SourceError, is_quickly_parsed, read_source
from engine.verdict.decide import Facts, Stop, judge
from kgtui.cli.choices import KernelFile
from kgtui.cli.console import Console
from kgtui.cli.run_recorder import Keeper, artefact_folder, open_keeper
from kgtui.runner.run_environment import environment_of
from kgtui.settings.paths import find_paths

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SIGNAL_BASE = 128


class Judging(Protocol):
    """The engine, as a command uses it."""

    async def __aenter__(self) -> Judging: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def evaluate(
        self, candidate: Candidate, plan: Plan, *, cancelled: asyncio.Event | None = None
    ) -> AsyncGenerator[Event, None]:
        """Judge the candidate; when `cancelled` is set, end at once with a cancelled verdict."""

    def port(
        self,
        candidate: Candidate,
        *,
        entry: str,
        launches: Sequence[Launch],
        targets: Sequence[str],
        after_s: float = 0.0,
        cancelled: asyncio.Event | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Compile what a run launched for other targets."""


class EngineFactory(Protocol):
    """Makes an engine that is not started yet."""

    def __call__(
        self, *, device: str, artefacts: ArtefactStore, environment: Mapping[str, str], warm_target: str | None
    ) -> Judging: ...


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is to be judged, where, and how it is told.

    `label` is what the session is called in the store.  `costs` are those of the cases that a user wants
    to have timed; `benchmark` of None times none of them.  What the run launches is compiled for `port_to` as well.
    `is_aside` leaves the output to what `close` prints.
    """

    label: str
    file: KernelFile
    problem: Problem
    device: Device
    target: str | None
    tiers: tuple[Tier, ...]
    policy: Policy
    is_kept: bool
    is_plain: bool
    document: Callable[[RunRecord], str] | None
    wants_profile: bool = False
    benchmark: BenchmarkPlan | None = None
    port_to: tuple[str, ...] = ()
    is_aside: bool = False
    costs: Mapping[str, Cost] = field(default_factory=dict)

    @property
    def candidate(self) -> Candidate:
        """The file as the engine takes it."""
        return self.file.candidate(self.problem)

    def plan(self, failed_before: tuple[str, ...]) -> Plan:
        """The cases, those that failed last time first."""
        plan = Plan.for_tiers(
            self.problem,
            tiers=self.tiers,
            device=self.device.platform,
            target=self.target,
            failed_before=failed_before,
        )
        return replace(plan, benchmark=self.benchmark, policy=self.policy)


def carry_out(
    request: Request, console: Console, *, engine_factory: EngineFactory | None, close: Callable[[RunRecord], int]
) -> int:
    """Judge what was asked for; the exit code is what `close` says of the whole run, unless a signal ended it."""
    paths = find_paths(console.environment)
    keeper = open_keeper(paths, warn=console.warn) if request.is_kept else Keeper(None, warn=console.warn)
    try:
        with artefact_folder(paths, is_kept=request.is_kept, warn=console.warn) as artefacts:
            running = _Running(request, console, keeper=keeper)
            return asyncio.run(running.run(engine_factory or real_engine, artefacts, close))
    finally:
        keeper.close()


def tell(request: Request, console: Console, line: PlainLine) -> None:
    """Print a state change; beside the output where that is one document."""
    console.show(line, plain=request.is_plain, aside=request.is_aside or request.document is not None)


def real_engine(
    *, device: str, artefacts: ArtefactStore, environment: Mapping[str, str], warm_target: str | None
) -> Judging:
    """The engine that starts processes."""
    from engine.engine import Engine  # only here: a file that does not parse needs none

    return Engine(
        device=device,
        artefacts=artefacts,
        environment=environment,
        warm_target=warm_target,
        peaks_folder=find_paths(environment).peaks,
    )


class _Running:
    """One run from its first event to the exit code; a signal ends it with a verdict, a second one without."""

    def __init__(self, request: Request, console: Console, *, keeper: Keeper) -> None:
        self._request = request
        self._console = console
        self._keeper = keeper
        self._cancelled = asyncio.Event()
        self._is_judging = False
        self._signal: int | None = None
        self._events: list[Event] = []

    async def run(
        self, engine_factory: EngineFactory, artefacts: ArtefactStore, close: Callable[[RunRecord], int]
    ) -> int:
        """Judge, print, and say how it ended."""
        self._heed_signals()
        try:
            async with contextlib.aclosing(self._stream(engine_factory, artefacts)) as events:
                async for event in events:
                    await self._tell(event)
                    if self._request.document is None and self._is_last_shown(event):
                        break  # what follows is disassembly, which plain lines do not show
        except asyncio.CancelledError:
            if self._signal is None:
                raise
            return _SIGNAL_BASE + self._signal
        run = record_of(
            self._events,
            file=self._request.file.shown,
            number=self._keeper.number,
            costs=self._request.costs,
        )
        exit_code = close(run)
        return exit_code if self._signal is None else _SIGNAL_BASE + self._signal

    async def _stream(self, engine_factory: EngineFactory, artefacts: ArtefactStore) -> AsyncGenerator[Event, None]:
        request = self._request
        plan = request.plan(await self._keeper.failed_before(request.problem, request.file.path))
        await self._keeper.begin(
            request.candidate,
            label=request.label,
            environment=environment_of(request.device),
            device=plan.device,
            target=plan.target,
            tiers=request.tiers,
            path=request.file.path,
        )
        refusal = _refusal(request, plan)
        if refusal:
            for event in refusal:
                yield event
            return
        engine = engine_factory(
            device=plan.device, artefacts=artefacts, environment=self._console.environment, warm_target=plan.target
        )
        async with engine:
            self._is_judging = True
            judging = engine.evaluate(request.candidate, plan, cancelled=self._cancelled)
            async with contextlib.aclosing(judging):
                async for event in judging:
                    yield event
            launches = [event.launch for event in self._events if isinstance(event, KernelLaunched)]
            if request.port_to and launches and self._signal is None:
                porting = engine.port(
                    request.candidate,
                    entry=request.problem.entry,
                    launches=launches,
                    targets=request.port_to,
                    after_s=self._events[-1].at_s,
                    cancelled=self._cancelled,
                )
                async with contextlib.aclosing(porting):
                    async for event in porting:
                        yield event

    async def _tell(self, event: Event) -> None:
        await self._keeper.record(event)
        self._events.append(event)
        for line in plain_lines(event, file=self._request.file.shown, number=self._keeper.number):
            tell(self._request, self._console, line)

    def _is_last_shown(self, event: Event) -> bool:
        if self._request.port_to:
            return isinstance(event, KernelPorted) and event.number == event.total
        return isinstance(event, RunFinished)

    def _heed_signals(self) -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def stop(number: int) -> None:
            # Before the first event there is no run to cancel, only an engine that is being started.
            if self._signal is None and self._is_judging:
                self._cancelled.set()
            else:
                task.cancel()
            self._signal = number

        for number in _SIGNALS:
            loop.add_signal_handler(number, stop, number)


def _refusal(request: Request, plan: Plan) -> tuple[Event, ...]:
    """The whole run of a file that is no candidate; empty for one that parses and has its entry."""
    began_s = time.monotonic()
    if not is_quickly_parsed(request.candidate.source):
        return ()  # the engine reads it in a process of its own
    try:
        read_source(request.candidate, request.problem.entry)
    except SourceError as error:
        took_s = time.monotonic() - began_s
        stop = Stop(outcome=Outcome.COMPILE_ERROR, message=str(error), location=error.location)
        facts = Facts(planned=len(plan.cases), policy=plan.policy, stop=stop)
        return (
            RunStarted(
                at_s=0.0, problem=request.problem.name, digest=request.candidate.digest, device=plan.device,
                device_name=request.device.name, target=plan.target, cases=len(plan.cases),
                policy=plan.policy,
            ),
            StageStarted(at_s=0.0, stage=Stage.PARSE),
            StageFinished(
                at_s=took_s, stage=Stage.PARSE, outcome=stop.outcome, elapsed_s=took_s, message=stop.message,
                location=stop.location,
            ),
            RunFinished(at_s=took_s, verdict=judge(facts)),
        )  # fmt: skip
    return ()
