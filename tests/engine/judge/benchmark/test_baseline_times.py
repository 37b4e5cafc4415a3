"""Baselines on slots: the same content and caches as the candidate, and copies of their own."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
import torch

from engine import protocol
from engine.model import CacheState, Case
from tests.engine.judge.benchmark.arranged import DOUBLE, EIGHT, REAL, Bench, toy, vector
from tests.operators import definition


@pytest.mark.parametrize(("name", "case"), REAL)
def test_baselines_run_on_private_copies_of_every_problem(name: str, case: str) -> None:
    bench = Bench(definition(name), case)
    assert bench.prepare() == protocol.Done(id="i")
    bench.refresh(*EIGHT)
    before = bench.device.blocks[-1].content.clone()
    for mode in (protocol.CallMode.SINGLE, protocol.CallMode.BURST, protocol.CallMode.SINGLE):
        bench.baseline(*EIGHT, mode=mode)
    assert torch.equal(bench.device.blocks[-1].content, before)
    assert bench.check(EIGHT, bench.timed(*EIGHT).returned) == protocol.Checked(id="i", right=8)


def test_baseline_chunk_evicts_cache_per_call() -> None:
    bench = Bench(DOUBLE)
    bench.prepare()
    bench.refresh(*EIGHT)
    evictions = bench.device.evictions
    timed = bench.baseline(3, 4)
    assert (bench.device.evictions - evictions, timed.method, timed.returned) == (2, "cupti", ())


@pytest.mark.parametrize(("cache", "evictions"), [(CacheState.COLD, 1), (CacheState.WARM, 0)])
def test_cold_timed_run_empties_cache_for_both_sides(cache: CacheState, evictions: int) -> None:
    bench = Bench(DOUBLE)
    bench.prepare()
    bench.refresh(*EIGHT)
    for side in (bench.baseline, bench.timed):
        side(0, 1, mode=protocol.CallMode.CAPTURE, cache=cache)
        for mode in (protocol.CallMode.BURST, protocol.CallMode.REPLAY):
            before = bench.device.evictions
            side(0, 1, mode=mode, cache=cache)
            assert bench.device.evictions - before == evictions


@dataclass
class ScriptedTimer:
    """A reference in another process, and what was asked of it."""

    asked: list[object] = field(default_factory=list)

    def prepare(self, case: Case) -> None:
        self.asked.append(case.name)

    def time(self, command: protocol.TimeBaseline) -> protocol.Timed:
        self.asked.append(command.slots)
        return protocol.Timed(id=command.id, elapsed_ns=7)

    def forget(self) -> None:
        self.asked.append("forget")


def test_foreign_reference_timed_by_its_own_process() -> None:
    timer = ScriptedTimer()
    bench = Bench(toy("f(x: Tensor) -> Tensor", vector, lambda x: x * 2, timer=timer))
    bench.refresh(*EIGHT)
    assert bench.prepare() == protocol.Done(id="i")
    assert bench.baseline(3, 4, mode=protocol.CallMode.BURST).elapsed_ns == 7
    bench.slots.carry_out(protocol.FreeSlots(id="i"))
    assert timer.asked == ["one", (3, 4), "forget"]


def test_warm_baseline_reads_its_own_inputs_before_calls() -> None:
    bench = Bench(DOUBLE)
    bench.prepare()
    bench.refresh(*EIGHT)
    bench.baseline(0, 1, cache=CacheState.WARM)
    assert bench.device.touched == [400, 400]


def device_of_eager(duration_ns: int) -> tuple[Bench, list[torch.Tensor]]:
    """A bench whose baseline takes this long, and what it was called on."""
    seen: list[torch.Tensor] = []
    benches: list[Bench] = []

    def eager(x: torch.Tensor) -> torch.Tensor:
        seen.append(x.clone())
        if benches:
            benches[0].device.put("eager_kernel", duration_ns)
        return x.mul_(2)

    problem = toy("f(x: Tensor) -> None", vector, lambda x: x * 2, returns=0, mutates=("x",), eager=eager)
    benches.append(Bench(problem))
    bench = benches[0]
    bench.entry = lambda x: x.mul_(2)
    assert bench.prepare() == protocol.Done(id="i")
    seen.clear()
    return bench, seen


def test_single_calls_of_baseline_are_recorded_separately() -> None:
    bench, _ = device_of_eager(70)
    bench.refresh(3, 4)
    timed = bench.baseline(3, 4)
    assert [(call.span_ns, call.activities) for call in timed.calls] == [(70, 1), (70, 1)]
    assert (timed.late, timed.method) == ((), "cupti")
    assert timed.kernels == (protocol.KernelTime(name="eager_kernel", device_ns=140, count=2),)
    assert not bench.device.is_recording


def test_in_place_baseline_gets_fresh_inputs_per_run() -> None:
    bench, seen = device_of_eager(70)
    bench.refresh(3, 4)
    wanted = [bench.storage(number).view(torch.float32).clone() for number in (3, 4)]
    bench.timed(3, 4)
    for mode in (protocol.CallMode.SINGLE, protocol.CallMode.BURST):
        seen.clear()
        bench.baseline(3, 4, mode=mode)
        assert all(torch.equal(one, other) for one, other in zip(seen, wanted, strict=True))
    assert bench.check((3, 4), ((), ())).right == 2


def test_judge_writes_between_runs_are_not_reported() -> None:
    bench, _ = device_of_eager(70)
    for _ in range(2):
        bench.refresh(3, 4)
        bench.device.put("the judge's", 10)
        assert bench.baseline(3, 4).late == ()


def test_baseline_replays_on_current_slot_content() -> None:
    bench, seen = device_of_eager(70)
    bench.refresh(0, 1)
    assert bench.baseline(0, 1, mode=protocol.CallMode.CAPTURE).kernels == (
        protocol.KernelTime(name="eager_kernel", count=2),
    )
    bench.refresh(5, 6)
    seen.clear()
    assert bench.baseline(5, 6, mode=protocol.CallMode.REPLAY).elapsed_ns == 140
    assert [one.tolist() for one in seen] == [bench.storage(number).view(torch.float32).tolist() for number in (5, 6)]


def test_graph_of_another_length_is_usage_error() -> None:
    bench, _ = device_of_eager(70)
    bench.refresh(0, 1)
    bench.baseline(0, 1, mode=protocol.CallMode.CAPTURE)
    with pytest.raises(RuntimeError, match="the graph holds 2 calls, 1 were requested"):
        bench.baseline(0, mode=protocol.CallMode.REPLAY)


def test_a_baseline_that_cannot_be_captured_is_unsupported() -> None:
    def eager(x: torch.Tensor) -> torch.Tensor:
        if benches and benches[0].device.capturing:
            raise RuntimeError("not while capturing")
        return x * 2

    benches: list[Bench] = []
    benches.append(Bench(toy("f(x: Tensor) -> Tensor", vector, lambda x: x * 2, eager=eager)))
    benches[0].prepare()
    benches[0].refresh(0)
    failed = benches[0].ask(
        protocol.TimeBaseline(id="i", name="eager", slots=(0,), mode=protocol.CallMode.CAPTURE, cache=CacheState.COLD),
        protocol.Failed,
    )
    assert (failed.kind, failed.message) == (
        protocol.FailureKind.UNSUPPORTED,
        "eager cannot be captured: RuntimeError: not while capturing",
    )


@pytest.mark.parametrize(
    ("name", "message"), [("cublas", "cuBLAS has no routine for toy::f"), ("fastest", "unknown baseline 'fastest'")]
)
def test_impossible_baseline_is_unsupported_with_reason(name: str, message: str) -> None:
    reply = Bench(DOUBLE).prepare(name)
    assert isinstance(reply, protocol.Failed)
    assert reply.kind is protocol.FailureKind.UNSUPPORTED
    assert message in reply.message


def test_failing_baseline_is_unsupported_with_reason() -> None:
    def eager(x: torch.Tensor) -> torch.Tensor:
        raise ArithmeticError("no")

    reply = Bench(toy("f(x: Tensor) -> Tensor", vector, lambda x: x * 2, eager=eager)).prepare()
    assert isinstance(reply, protocol.Failed)
    assert (reply.kind, reply.message) == (protocol.FailureKind.UNSUPPORTED, "eager of one: ArithmeticError: no")
