"""A run on a device whose processes are scripted by the test."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from engine import protocol
from engine.artefacts import ArtefactStore
from engine.devices import Device
from engine.model import (
    BenchmarkPlan,
    Candidate,
    Case,
    Cost,
    DType,
    Launch,
    Limits,
    Outcome,
    OutputReport,
    Plan,
    ProblemDefinition,
    Tier,
    Tolerance,
    events,
)
from engine.probes import Probe
from engine.run.engine_resources import EngineResources
from engine.run.pipeline import Run
from engine.timing.measurement_context import MeasurementContext

if TYPE_CHECKING:
    from tests.engine.conftest import Employ


DEFINITION = ProblemDefinition(
    name="toy::twice",
    entry="f",
    signature="f(x: Tensor) -> Tensor",
    summary="",
    category="toy",
    cases=(Case(name="empty", dtype=DType.FLOAT32, tier=Tier.FULL, params={}),),
    make_inputs=lambda case, rng: (torch.zeros(0),),
    reference=lambda x: 2 * x,
    eager=lambda x: 2 * x,
    tolerance=lambda case: Tolerance(relative=0.0, absolute=0.0),
    cost=lambda case: Cost(flops=1, bytes_read=1, bytes_written=1),
)
PROBLEM = DEFINITION.problem("toy_problems")
LAUNCH = Launch(
    kernel="k", signature={"x": "*fp32"}, constants={}, divisible_by_16=(), num_warps=4, num_stages=3, grid=(1,), line=2
)


ARENA = protocol.ArenaSpec(
    handle="0f" * 64,
    block_bytes=4096,
    storages=(protocol.StorageSpec(offset=256, bytes=16),),
    bytes=1024,
    outputs=protocol.StorageSpec(offset=768, bytes=16),
)


CASES = tuple(Case(name=name, dtype=DType.FLOAT32, tier=Tier.FULL, params={}) for name in "ab")
GPU = Device(platform="cuda", index=0, name="a GPU", target="sm_90", driver="580.1")


class DeviceRun:
    """A run on a device whose processes are scripted; `asked` has their commands in order."""

    def __init__(self, employ: Employ, folder: Path) -> None:
        self.asked: list[tuple[str, protocol.AnyCommand]] = []
        self.changes: Callable[[str, protocol.AnyCommand], protocol.AnyReply | None] = lambda kind, command: None
        self.silent: tuple[type[protocol.AnyCommand], ...] = ()
        self.fork_server, self.process_pool = employ(self._answer, target="sm_90")
        self._artefacts = ArtefactStore(folder=folder)

    def open(
        self,
        *cases: Case,
        target: str | None = "sm_90",
        timed: tuple[Case, ...] | BenchmarkPlan | None = None,
        measurement_context: MeasurementContext | None = None,
        other: Candidate | None = None,
        probes: tuple[Probe, ...] = (),
        one_worker: bool = False,
    ) -> Run:
        """A run of these cases; `timed` of None has no benchmark."""
        problem = replace(DEFINITION, cases=cases).problem("toy_problems")
        candidate = Candidate(source=b"import triton\n@triton.jit\ndef k(): ...\ndef f(x): ...\n", problem="toy::twice")
        benchmark = BenchmarkPlan(cases=timed) if isinstance(timed, tuple) else timed
        plan = Plan(
            problem=problem, cases=cases, device="cuda", target=target, benchmark=benchmark, one_worker=one_worker
        )
        resources = EngineResources(
            process_pool=self.process_pool,
            artefacts=self._artefacts,
            device=GPU,
            limits=Limits(),
            measurement_context=measurement_context,
        )
        return Run(candidate, plan, resources, other=other, probes=probes)

    async def run(
        self,
        *cases: Case,
        target: str | None = "sm_90",
        timed: tuple[Case, ...] | BenchmarkPlan | None = None,
        measurement_context: MeasurementContext | None = None,
    ) -> list[events.Event]:
        """All events of such a run."""
        run = self.open(*cases, target=target, timed=timed, measurement_context=measurement_context)
        return [event async for event in run.stream(asyncio.Event())]

    def commands(self, *kinds: type[protocol.AnyCommand]) -> list[protocol.AnyCommand]:
        """The commands of these kinds, in their order."""
        return [command for _, command in self.asked if isinstance(command, kinds)]

    def _answer(self, kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        self.asked.append((kind, command))
        changed = self.changes(kind, command)
        return None if isinstance(command, self.silent) else changed or self._default_answer(command)

    def _default_answer(self, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        report = OutputReport(name="return", outcome=Outcome.PASS, shape=(4,), dtype="float32", total=4)
        met = protocol.SuppressedLaunch(launch=LAUNCH, specialisation='{"signature": {"x": "*fp32"}}')
        match command:
            case protocol.Load():
                return protocol.Loaded(id=command.id)
            case protocol.Describe():
                shape = protocol.Shape(arguments=(), storages=(16,))
                return protocol.Described(id=command.id, shapes=(shape,) * len(command.cases))
            case protocol.RunDry():
                return protocol.DryRunDone(id=command.id, launches=(met,))
            case protocol.Compile() | protocol.DescribeCompiled() | protocol.BuildLauncher():
                return protocol.Compiled(id=command.id, stages={})
            case protocol.Prepare():
                arena = ARENA
                if command.arena_path is not None:
                    arena = protocol.ArenaSpec(path=command.arena_path, storages=ARENA.storages, bytes=1024)
                return protocol.Prepared(id=command.id, arguments=(), arena=arena, elapsed_s=0.0)
            case protocol.Call():
                return protocol.Called(id=command.id, returned=(), launches=(LAUNCH,), elapsed_s=0.0)
            case protocol.Compare() | protocol.CompareSnapshot():
                return protocol.Compared(id=command.id, reports=(report,), repeated=None, mutated=None)
            case protocol.Release():
                return protocol.Released(id=command.id, seed=1)
        return protocol.Done(id=command.id)


def verdict(emitted: list[events.Event]) -> Outcome:
    [finished] = [event for event in emitted if isinstance(event, events.RunFinished)]
    return finished.verdict.outcome


def notes(emitted: list[events.Event]) -> list[tuple[str, str]]:
    return [
        (event.finding.check, event.finding.message) for event in emitted if isinstance(event, events.FindingRaised)
    ]


async def listen(run: Run, cancelled: asyncio.Event, emitted: list[events.Event]) -> None:
    """Add the events of the run to `emitted`, also when it ends with an error."""
    async for event in run.stream(cancelled):
        emitted.append(event)  # noqa: PERF401  # a list of them all would be lost with the error
