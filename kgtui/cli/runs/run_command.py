"""One run for a command, by the same driver as on the screen: printed as it proceeds, then reported as a whole.

A file that does not parse gets its verdict before any process is started.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, Self

from engine.artefacts import ArtefactStore
from engine.devices import Device
from engine.model import BenchmarkPlan, Cost, Policy, Problem, Tier
from engine.model.events import Event
from engine.reports.plain_lines import JoinedLines, PlainLine
from engine.reports.reducer import record_of
from engine.reports.run_record import RunRecord
from engine.reports.text import plain_lines
from kgtui.cli.choices import KernelFile
from kgtui.cli.console import Console
from kgtui.cli.runs.artefact_folder import artefact_folder
from kgtui.cli.runs.refusal import Refusing, refusal_of
from kgtui.cli.runs.result_lines import show_line
from kgtui.cli.runs.run_recorder import open_recording
from kgtui.cli.runs.signals import SIGNAL_BASE, handle_signals
from kgtui.ports.protocols import EngineRuns, Recording
from kgtui.ports.requests import RunHeader, RunRequest
from kgtui.runner.driver import RunDriver
from kgtui.runner.run_environment import environment_of
from kgtui.settings.paths import find_paths


class StartedEngine(EngineRuns, Protocol):
    """The engine of a command: it runs while its context is open."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class EngineFactory(Protocol):
    """Makes an engine that is not started yet."""

    def __call__(
        self,
        *,
        device: str,
        artefacts: ArtefactStore,
        environment: Mapping[str, str],
        warm_target: str | None,
        times: bool = True,
    ) -> StartedEngine: ...


@dataclass(frozen=True, kw_only=True)
class Request:
    """A run to be carried out and reported: candidate, place and output.

    `label` names the session in the store.  `costs` are those of the cases to be timed; `benchmark` of None times none.
    Launches are also compiled for `port_to`. `is_aside` keeps the output for what `close` prints.  All random draws
    follow from `draw_seed`; None chooses one. `sanitizes` runs compute-sanitizer on a call of a passing kernel.
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
    sanitizes: bool = False
    draw_seed: int | None = None
    costs: Mapping[str, Cost] = field(default_factory=dict)

    @property
    def run(self) -> RunRequest:
        """The request for the driver; a command always runs its file, even if the store has a result."""
        return RunRequest(
            problem=self.problem,
            path=self.file.path,
            content=self.file.content,
            device=self.device.platform,
            target=self.target,
            tiers=self.tiers,
            policy=self.policy,
            again=True,
            draw_seed=self.draw_seed,
            chooses_seed=self.draw_seed is None,
            benchmark=self.benchmark,
            targets=self.port_to,
            sanitizes=self.sanitizes,
            stops_at_verdict=self.document is None,  # disassembly, which plain lines do not show
        )


def carry_out(
    request: Request, console: Console, *, engine_factory: EngineFactory | None, close: Callable[[RunRecord], int]
) -> int:
    """Carry out the run; returns the exit code of `close`, unless a signal ended it."""
    paths = find_paths(console.environment)
    with (
        recording_of(request, console) as recording,
        artefact_folder(paths, is_kept=request.is_kept, warn=console.warn) as artefacts,
    ):
        running = _Running(request, console, recording=recording)
        return asyncio.run(running.run(engine_factory or real_engine, artefacts, close))


def recording_of(request: Request, console: Console) -> contextlib.AbstractContextManager[Recording | None]:
    """The user's store, if the run is to be stored and the store can be opened."""
    if not request.is_kept:
        return contextlib.nullcontext()
    paths = find_paths(console.environment)
    environment = environment_of(request.device)
    return open_recording(paths, label=request.label, environment=environment, warn=console.warn)


def print_state(request: Request, console: Console, line: PlainLine) -> None:
    """Print a state change; on the error stream if the output is a document."""
    show_line(console, line, plain=request.is_plain, aside=request.is_aside or request.document is not None)


def real_engine(
    *,
    device: str,
    artefacts: ArtefactStore,
    environment: Mapping[str, str],
    warm_target: str | None,
    times: bool = True,
) -> StartedEngine:
    """The engine that starts processes."""
    from engine.engine import Engine  # imported late: a file that does not parse needs no engine

    return Engine(
        device=device,
        artefacts=artefacts,
        environment=environment,
        warm_target=warm_target,
        peaks_folder=find_paths(environment).peaks,
        times=times,
    )


class _Running:
    """One run from its first event to the exit code; a signal ends it with a verdict, a second signal without."""

    def __init__(self, request: Request, console: Console, *, recording: Recording | None) -> None:
        self._request = request
        self._console = console
        self._recording = recording
        self._driver: RunDriver | None = None
        self._signal: int | None = None
        self._number: int | None = None
        self._events: list[Event] = []
        self._joined = JoinedLines()
        if recording is not None:
            recording.listen(self._moved)

    async def run(
        self, engine_factory: EngineFactory, artefacts: ArtefactStore, close: Callable[[RunRecord], int]
    ) -> int:
        """Run, print, and return how it ended."""
        request = self._request
        self._handle_signals()
        try:
            name = request.device.name
            if refusal := refusal_of(request.run, device_name=name):
                await self._drive(Refusing(refusal, device_name=name))
            else:
                engine = engine_factory(
                    device=request.device.platform,
                    artefacts=artefacts,
                    environment=self._console.environment,
                    warm_target=request.target,
                )
                async with engine:
                    await self._drive(engine)
        except asyncio.CancelledError:
            if self._signal is None:
                raise
            return SIGNAL_BASE + self._signal
        run = record_of(self._events, file=request.file.shown, number=self._number, costs=request.costs)
        exit_code = close(run)
        return exit_code if self._signal is None else SIGNAL_BASE + self._signal

    async def _drive(self, engine: EngineRuns) -> None:
        """Print every event of the run; an internal error is raised at the end of the run."""
        self._driver = driver = RunDriver(engine, recording=self._recording, on_trouble=self._console.warn)
        async with contextlib.aclosing(driver.run(self._request.run)) as updates:
            async for update in updates:
                if isinstance(update, RunHeader):
                    self._number = update.number
                else:
                    self._show(update)
        self._print(self._joined.end())
        if driver.fault is not None:
            raise driver.fault

    def _moved(self, sentence: str, numbers: Mapping[int, int]) -> None:
        """Note that the store continues in another file, where runs may have other numbers."""
        if self._number is not None:
            self._number = numbers.get(self._number, self._number)
        self._console.warn(sentence)

    def _show(self, events: Sequence[Event]) -> None:
        self._events += events
        for event in events:
            for line in plain_lines(event, file=self._request.file.shown, number=self._number):
                self._print(self._joined.add(line))

    def _print(self, lines: Iterable[PlainLine]) -> None:
        for line in lines:
            print_state(self._request, self._console, line)

    def _handle_signals(self) -> None:
        task = asyncio.current_task()
        assert task is not None

        def stop(number: int) -> None:
            # Before the first event there is no run to cancel, only an engine that is being started.
            if self._signal is None and self._driver is not None:
                self._driver.cancel()
            else:
                task.cancel()
            self._signal = number

        handle_signals(stop)
