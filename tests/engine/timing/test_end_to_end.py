"""The parent's benchmark with the real judge and worker behind it, on a device that is scripted."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
import torch

from engine import protocol
from engine.clock.scripted import ScriptedDevice
from engine.clock.stopwatch import Stopwatch
from engine.devices import Device
from engine.judge.benchmark.slots import Slots
from engine.model import BenchmarkPlan, CacheState, Finding, Outcome
from engine.model.benchmark import CaseBenchmark, CaseEstimate, DeviceState, Method
from engine.timing.bench import Bench
from engine.timing.exchange import Exchange
from engine.timing.timed_candidates import TimedCandidate
from engine.timing.timed_device import TimedDevice
from tests.operators import definition, find

CPU = torch.device("cpu")
SOFTMAX, DEFINITION = find("aten::softmax"), definition("aten::softmax")
CASE = SOFTMAX.case("7x781 f32")
KERNEL_NS = 5000


class Worker:
    """A stopwatch in this process, as a side; what it records is its own, the memory is the judge's."""

    def __init__(
        self, judges: ScriptedDevice, entry: Callable[[ScriptedDevice], Callable[..., Any]], *, precise: bool
    ) -> None:
        own = ScriptedDevice(cache_bytes=judges.cache_bytes)
        called = entry(own)
        self.unrecorded = "" if precise else "no record is kept"
        self._stopwatch = Stopwatch(
            CPU,
            lambda: called,
            instruments=own.instruments(precise=precise),
            open_block=judges.open_block,
        )

    async def ask(self, command: Any, *, deadline_s: float) -> protocol.AnyReply:
        assert protocol.decode_command(protocol.encode(command)) == command
        reply = self._stopwatch.carry_out(command)
        return protocol.decode_reply(protocol.encode(reply))

    async def clear(self) -> None:
        raise AssertionError("nothing here deserves to be killed")


class Results:
    """What a benchmark reports."""

    def __init__(self) -> None:
        self.cases: list[CaseBenchmark] = []
        self.findings: list[Finding] = []

    def case_estimated(self, estimate: CaseEstimate) -> None:
        pass

    def case_timed(self, benchmark: CaseBenchmark, findings: tuple[Finding, ...]) -> None:
        self.cases.append(benchmark)
        self.findings += findings


async def timed(
    entry: Callable[[ScriptedDevice], Callable[..., Any]], *, precise: bool = True, cache: CacheState = CacheState.COLD
) -> tuple[CaseBenchmark, list[Finding]]:
    """The record of softmax by this entry, and the findings."""
    device = ScriptedDevice(cache_bytes=1 << 16)
    slots = Slots(
        CPU,
        lambda _: DEFINITION,
        instruments=device.instruments(precise=precise),
        memory=lambda _, size: device.memory(size),
    )
    looks = count()
    results = Results()

    async def judge(command: Any) -> protocol.AnyReply:
        return protocol.decode_reply(protocol.encode(slots.carry_out(command)))

    bench = Bench(
        BenchmarkPlan(cases=(CASE,), cache=cache),
        SOFTMAX,
        candidate=TimedCandidate(side=Worker(device, entry, precise=precise)),
        exchange=Exchange(ask_judge=judge, clock=lambda: next(looks) * 1e-3, on_work=lambda *_: None),
        device=TimedDevice(
            device=Device(platform="cuda", index=0, name="scripted"),
            state=lambda: DeviceState(sm_clock_mhz=1980),
            peaks=None,
            free_bytes=1 << 26,
            stored_us=lambda *_: None,
        ),
        rng=random.Random(5),
        listener=results,
    )
    await bench.run()
    return results.cases[0], results.findings


def honest(device: ScriptedDevice) -> Callable[..., Any]:
    def softmax(x: torch.Tensor, dim: int, dtype: torch.dtype | None = None) -> torch.Tensor:
        device.put("softmax_kernel", KERNEL_NS)
        return torch.softmax(x, dim)

    return softmax


@pytest.mark.parametrize("cache", list(CacheState))
async def test_kernel_has_device_time_and_all_outputs_verified(cache):
    case, findings = await timed(honest, cache=cache)
    assert (case.outcome, case.message) == (Outcome.PASS, "")
    assert case.timing.method is Method.CUPTI
    assert case.timing.device_us.value == KERNEL_NS / 1e3
    assert case.verified == case.calls > 0
    assert [baseline.side for baseline in case.baselines] == ["eager"]
    assert {finding.severity.value for finding in findings} <= {"note"}


async def test_output_cached_by_address_is_wrong_when_timed():
    answers: dict[int, torch.Tensor] = {}

    def caching(device: ScriptedDevice) -> Callable[..., Any]:
        def softmax(x: torch.Tensor, dim: int, dtype: torch.dtype | None = None) -> torch.Tensor:
            device.put("softmax_kernel", KERNEL_NS)
            return answers.setdefault(x.data_ptr(), torch.softmax(x, dim)).clone()

        return softmax

    case, _ = await timed(caching)
    assert case.outcome is Outcome.WRONG_VALUE
    assert case.timing is None


async def test_a_changed_input_is_reported_as_such():
    def meddling(device: ScriptedDevice) -> Callable[..., Any]:
        def softmax(x: torch.Tensor, dim: int, dtype: torch.dtype | None = None) -> torch.Tensor:
            y = torch.softmax(x, dim)
            x.view(-1)[0] += 1
            return y

        return softmax

    case, _ = await timed(meddling)
    assert case.outcome is Outcome.MUTATED_INPUT


async def test_missing_recorder_is_replaced_and_reported():
    case, findings = await timed(honest, precise=False)
    assert case.outcome is Outcome.PASS
    assert case.timing.method is not Method.CUPTI
    assert any("scripted without a recorder" in finding.message for finding in findings if finding.check == "timer")
