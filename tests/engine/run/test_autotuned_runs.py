"""Runs of an autotuned kernel: cases wait for one configuration, the others are compiled later and within a budget."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from engine import protocol
from engine.model import Case, DType, Outcome, Stage, Tier, events
from engine.model.plan import BenchmarkPlan
from tests.engine.run.device_run import CASES, LAUNCH, DeviceRun, verdict

if TYPE_CHECKING:
    from pathlib import Path

    from engine.timing.measurement_context import MeasurementContext
    from tests.engine.conftest import Employ

TIMED = Case(name="timed", dtype=DType.FLOAT32, tier=Tier.BENCH, params={})
CONFIGURATIONS = tuple(replace(LAUNCH, num_warps=4, constants={"BLOCK": str(16 << step)}) for step in range(30))
VERIFIED, TUNED = CONFIGURATIONS[0], CONFIGURATIONS[1:]


def tuned(kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
    """A case launches the first configuration; to tune, all of them are launched."""
    match command:
        case protocol.RunDry(tunes=tunes):
            launches = tuple(
                protocol.SuppressedLaunch(launch=one, specialisation='{"signature": {"x": "*fp32"}}')
                for one in (CONFIGURATIONS if tunes else CONFIGURATIONS[:1])
            )
            return protocol.DryRunDone(id=command.id, launches=launches)
        case protocol.Call():
            return protocol.Called(id=command.id, returned=(), launches=(VERIFIED,), elapsed_s=0.0)
    return None


class HeldCompilers(DeviceRun):
    """Its compilers answer for no configuration but the verified one, until `let_go`."""

    tuned: list[tuple[int, protocol.AnyCommand]]
    is_held = True

    def let_go(self) -> None:
        """Answer what was held; nothing more is held."""
        self.is_held = False
        for pid, command in self.tuned:
            self.fork_server.say(pid, protocol.encode(protocol.Compiled(id=command.id, stages={})))

    def _answer(self, kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | None:
        reply = super()._answer(kind, command)
        if isinstance(command, protocol.Compile) and command.launch != VERIFIED:
            self.tuned.append((self.fork_server.serving, command))
            return None if self.is_held else reply
        return reply


@pytest.fixture
def held_compilers(employ: Employ, tmp_path: Path) -> HeldCompilers:
    compilers = HeldCompilers(employ, tmp_path)
    compilers.tuned, compilers.changes = [], tuned
    return compilers


async def test_one_configuration_is_compiled_before_the_others(
    device_run: DeviceRun, measurement_context: MeasurementContext
) -> None:
    device_run.changes = tuned
    emitted = await device_run.run(*CASES, timed=(TIMED,), measurement_context=measurement_context)
    dry_runs = [one for one in device_run.commands(protocol.RunDry) if isinstance(one, protocol.RunDry)]
    assert [(one.case, one.tunes) for one in dry_runs] == [("a", False), ("b", False), ("timed", True)]
    compiled = [one.launch for one in device_run.commands(protocol.Compile) if isinstance(one, protocol.Compile)]
    large = [one for one in TUNED if int(one.constants["BLOCK"]) >= 32 * 32 * one.num_warps]
    assert compiled == [VERIFIED, *large, *(one for one in TUNED if one not in large)]
    assert verdict(emitted) is Outcome.PASS


async def test_compiled_configurations_are_counted_as_progress(
    device_run: DeviceRun, measurement_context: MeasurementContext
) -> None:
    device_run.changes = tuned
    emitted = await device_run.run(*CASES, timed=(TIMED,), measurement_context=measurement_context)
    counts = [(event.number, event.total) for event in emitted if isinstance(event, events.KernelCompiled)]
    assert [number for number, _ in counts] == list(range(1, len(CONFIGURATIONS) + 1))
    assert counts[-1] == (len(CONFIGURATIONS), len(CONFIGURATIONS))


async def test_configurations_beyond_the_budget_are_not_compiled(
    held_compilers: HeldCompilers, measurement_context: MeasurementContext
) -> None:
    run = held_compilers.open(
        *CASES, timed=BenchmarkPlan(cases=(TIMED,), tuning_s=0.0), measurement_context=measurement_context
    )
    emitted: list[events.Event] = []
    async for event in run.stream(asyncio.Event()):
        emitted.append(event)
        if isinstance(event, events.LogWritten) and "autotuner" in event.text:
            held_compilers.let_go()
    logged = [event.text for event in emitted if isinstance(event, events.LogWritten)]
    assert logged == ["no more autotuner configurations are compiled after 0 s"]
    assert sum(isinstance(event, events.CaseFinished) for event in emitted) == len(CASES)
    assert len(held_compilers.tuned) <= held_compilers.fork_server.forked.count("compiler")
    assert Stage.BENCHMARK in [event.stage for event in emitted if isinstance(event, events.StageStarted)]
    assert verdict(emitted) is Outcome.PASS
