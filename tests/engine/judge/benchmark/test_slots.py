"""Slots from end to end: the judge fills them, a worker in this process is timed on them, the judge verifies."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pytest
import torch

from engine import protocol
from engine.clock.scripted import ScriptedBlock, ScriptedDevice
from engine.clock.stopwatch import Stopwatch
from engine.devices.hardware.device_memory import DeviceMemoryError
from engine.judge.benchmark import slots as judged_slots
from engine.judge.benchmark.slots import Slots, memory_by_block
from engine.judge.inputs import cases
from engine.model import CacheState, Case, Cost, DType, Outcome, ProblemDefinition, ProblemId, Tier, Tolerance
from engine.protocol import tensors
from tests.operators import definition

CPU = torch.device("cpu")
CASE = Case(name="one", dtype=DType.FLOAT32, tier=Tier.BENCH, params={})
EIGHT = tuple(range(8))
TOY = ProblemId(source="toy", name="toy::f")


def toy(
    signature: str, make_inputs: Callable[..., Any], reference: Callable[..., Any], **changes: Any
) -> ProblemDefinition:
    fields: dict[str, Any] = {"eager": reference, "tolerance": lambda case: Tolerance(relative=1e-6, absolute=1e-6)}
    return ProblemDefinition(
        name="toy::f",
        entry="f",
        signature=signature,
        summary="",
        category="toy",
        cases=(CASE,),
        make_inputs=make_inputs,
        reference=reference,
        cost=lambda case: Cost(flops=1, bytes_read=1, bytes_written=1),
        **{**fields, **changes},
    )


def vector(case: Case, rng: torch.Generator) -> tuple[torch.Tensor]:
    return (torch.randn(100, generator=rng),)


DOUBLE = toy("f(x: Tensor) -> Tensor", vector, lambda x: x * 2)


class Bench:
    """A judge with a case arranged and a worker that has occupied its slots, on one scripted device."""

    def __init__(
        self, problem: ProblemDefinition, case: str = "one", *, most_slots: int = 8, cache_bytes: int = 1 << 20
    ) -> None:
        self.device = ScriptedDevice(cache_bytes=cache_bytes)
        self.problem = problem
        self.entry: Callable[..., Any] = problem.eager
        self.slots = Slots(
            CPU,
            lambda _: problem,
            instruments=self.device.instruments(),
            memory=lambda _, size_bytes: self.device.memory(size_bytes),
        )
        self.worker = Stopwatch(
            CPU, lambda: self.entry, instruments=self.device.instruments(), open_block=self.device.open_block
        )
        self.arranged = self.judge(
            protocol.Arrange(id="i", problem=TOY, case=case, most_slots=most_slots, most_bytes=1 << 24),
            protocol.Arranged,
        )
        layout = self.arranged.layouts[0]
        occupied = self.worker.carry_out(
            protocol.OpenSlots(id="i", case=case, arguments=self.arranged.arguments, layout=layout)
        )
        assert occupied == protocol.Done(id="i")

    def judge(self, command: Any, kind: type[Any]) -> Any:
        reply = self.slots.carry_out(command)
        assert isinstance(reply, kind), reply
        return reply

    def refresh(self, *slots: int) -> None:
        self.judge(protocol.Refresh(id="i", slots=slots), protocol.Done)

    def timed(
        self, *slots: int, how: protocol.How = protocol.How.SINGLE, cache: CacheState = CacheState.COLD
    ) -> protocol.Timed:
        if how is not protocol.How.SINGLE:
            assert self.worker.carry_out(protocol.Fetch(id="i", slots=slots, cache=cache)) == protocol.Done(id="i")
        reply = self.worker.carry_out(protocol.TimeCalls(id="i", slots=slots, how=how, cache=cache))
        assert isinstance(reply, protocol.Timed), reply
        return reply

    def check(
        self, slots: tuple[int, ...], returned: tuple[tuple[protocol.ReturnedSpec, ...], ...]
    ) -> protocol.Checked:
        checked = self.judge(protocol.Check(id="i", slots=slots, returned=returned), protocol.Checked)
        assert isinstance(checked, protocol.Checked)
        return checked

    def run(self, *slots: int) -> protocol.Checked:
        """One chunk: refreshed, timed, checked."""
        self.refresh(*slots)
        return self.check(slots, self.timed(*slots).returned)

    def baseline(
        self, *slots: int, how: protocol.How = protocol.How.SINGLE, cache: CacheState = CacheState.COLD
    ) -> protocol.Timed:
        reply = self.judge(
            protocol.TimeBaseline(id="i", name="eager", slots=slots, how=how, cache=cache), protocol.Timed
        )
        assert isinstance(reply, protocol.Timed)
        return reply

    def prepare(self, name: str = "eager") -> protocol.AnyReply:
        return self.slots.carry_out(protocol.PrepareBaseline(id="i", name=name))

    def slot(self, number: int) -> torch.Tensor:
        """The bytes of a slot."""
        layout = self.arranged.layouts[0]
        first = layout.first + number * layout.stride
        return self.device.blocks[-1].content[first : first + layout.stride]

    def number_of(self, argument: torch.Tensor) -> int:
        """The slot that an argument lies in: in the worker's own memory, where the entry sees no slots."""
        return (argument.data_ptr() - self.worker._slots[0].own.data_ptr()) // self.arranged.layouts[0].stride

    def own(self, at: int, count: int) -> torch.Tensor:
        """Bytes of the worker's own memory, which a candidate can write to by address."""
        address = self.worker._slots[0].own.data_ptr() + at
        return torch.frombuffer((ctypes.c_uint8 * count).from_address(address), dtype=torch.uint8)

    def storage(self, number: int, storage: int = 0) -> torch.Tensor:
        return tensors.part(self.slot(number), self.arranged.layouts[0].storages[storage])


def nth_call(call: int, wrong: Callable[..., Any], right: Callable[..., Any]) -> Callable[..., Any]:
    """An entry that does something else on one of its calls, counted from 0."""
    calls = iter(range(1 << 20))
    return lambda *arguments: (wrong if next(calls) == call else right)(*arguments)


REAL = (
    ("aten::softmax", "7x781 f32"),
    ("aten::softmax", "13x65 bf16 transposed"),
    ("aten::softmax", "0x5 f32"),
    ("vllm::fused_add_rms_norm", "5x497 bf16"),
    ("vllm::topk_softmax", "5x64 top 4"),
    ("cublas::cublasSaxpy_v2", "497 alpha 0.5 inc 2 3"),
    ("aten::gather", "9x65 dim 1 bf16"),
)


@pytest.mark.parametrize(("name", "case"), REAL)
def test_honest_entry_is_right_on_every_slot(name: str, case: str) -> None:
    bench = Bench(definition(name), case)
    for _ in range(2):
        assert bench.run(*EIGHT) == protocol.Checked(id="i", right=8)


@pytest.mark.parametrize(("name", "case"), REAL)
def test_baselines_run_on_private_copies_of_every_problem(name: str, case: str) -> None:
    bench = Bench(definition(name), case)
    assert bench.prepare() == protocol.Done(id="i")
    bench.refresh(*EIGHT)
    before = bench.device.blocks[-1].content.clone()
    for how in (protocol.How.SINGLE, protocol.How.BURST, protocol.How.SINGLE):
        bench.baseline(*EIGHT, how=how)
    assert torch.equal(bench.device.blocks[-1].content, before)
    assert bench.check(EIGHT, bench.timed(*EIGHT).returned) == protocol.Checked(id="i", right=8)


def test_slots_are_consecutive_and_exceed_cache_five_times() -> None:
    bench = Bench(DOUBLE, cache_bytes=1024, most_slots=64)
    layout = bench.arranged.layouts[0]
    assert bench.arranged.slot_bytes == 400 + layout.outputs.bytes
    assert layout.slots == -(-5 * 1024 // bench.arranged.slot_bytes)
    assert layout.bytes == layout.slots * layout.stride == bench.device.blocks[0].size_bytes
    assert bench.arranged.l2_bytes == 1024


@pytest.mark.parametrize(("cache_bytes", "most_slots", "slots"), [(0, 256, 4), (1 << 20, 256, 256), (1 << 20, 7, 7)])
def test_slots_are_at_least_four_and_within_limit(cache_bytes: int, most_slots: int, slots: int) -> None:
    assert Bench(DOUBLE, cache_bytes=cache_bytes, most_slots=most_slots).arranged.layouts[0].slots == slots


def test_case_that_does_not_fit_four_times_is_unsupported() -> None:
    device = ScriptedDevice()
    slots = Slots(
        CPU, lambda origin: DOUBLE, instruments=device.instruments(), memory=lambda _, size: device.memory(size)
    )
    failed = slots.carry_out(protocol.Arrange(id="i", problem=TOY, case="one", most_slots=256, most_bytes=4000))
    assert isinstance(failed, protocol.Failed)
    assert failed.kind is protocol.FailureKind.UNSUPPORTED
    assert failed.message == (
        "one needs 4 input sets of 2304 bytes, and there is room for 1 (4000 bytes); end what else uses the device, "
        "or time a smaller case"
    )
    assert device.blocks == []


def test_case_arranged_again_reuses_its_own_block() -> None:
    bench = Bench(DOUBLE)
    again = protocol.Arrange(id="i", problem=TOY, case="one", most_slots=8, most_bytes=1 << 14)
    assert again.most_bytes < bench.arranged.layouts[0].bytes
    assert bench.judge(again, protocol.Arranged).layouts[0].slots == bench.arranged.layouts[0].slots


def test_memory_that_is_unavailable_leaves_nothing_arranged() -> None:
    def memory(_: int, size_bytes: int) -> ScriptedBlock:
        raise DeviceMemoryError("cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY")

    slots = Slots(CPU, lambda origin: DOUBLE, instruments=ScriptedDevice().instruments(), memory=memory)
    failed = slots.carry_out(protocol.Arrange(id="i", problem=TOY, case="one", most_slots=8, most_bytes=1 << 20))
    assert failed == protocol.Failed(
        id="i", kind=protocol.FailureKind.UNSUPPORTED, message="cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY"
    )
    with pytest.raises(RuntimeError, match="no slots were arranged"):
        slots.carry_out(protocol.Refresh(id="i", slots=(0,)))


def test_a_device_without_a_clock_is_unsupported() -> None:
    failed = Slots(CPU, lambda origin: DOUBLE).carry_out(
        protocol.Arrange(id="i", problem=TOY, case="one", most_slots=8, most_bytes=1 << 20)
    )
    assert isinstance(failed, protocol.Failed)
    assert (failed.kind, failed.message) == (
        protocol.FailureKind.UNSUPPORTED,
        "calls are timed on NVIDIA GPUs only; this device is cpu",
    )


def test_every_refresh_draws_new_content() -> None:
    bench = Bench(DOUBLE)
    seen = set()
    for _ in range(3):
        bench.refresh(*EIGHT)
        seen |= {tuple(bench.storage(number).tolist()) for number in EIGHT}
    assert len(seen) == 24


def test_a_refresh_leaves_other_slots_alone() -> None:
    bench = Bench(DOUBLE)
    bench.refresh(*EIGHT)
    before = [bench.slot(number).clone() for number in EIGHT]
    bench.refresh(2, 5)
    assert [number for number in EIGHT if not torch.equal(bench.slot(number), before[number])] == [2, 5]


def test_outputs_and_guard_zones_hold_one_nonzero_poison() -> None:
    bench = Bench(DOUBLE)
    poisons = set()
    for _ in range(20):
        bench.refresh(0)
        rest = bench.slot(0).clone()
        outputs = tensors.part(rest, bench.arranged.layouts[0].outputs)
        poisons.add(int(outputs[0]))
        tensors.part(rest, bench.arranged.layouts[0].storages[0]).copy_(outputs[0])
        assert rest.unique().numel() == 1
    assert len(poisons) > 1 and 0 not in poisons


def test_an_argument_that_is_only_written_is_poison() -> None:
    problem = toy(
        "f(x: Tensor, out: Tensor) -> None",
        lambda case, rng: (torch.randn(8, generator=rng), torch.zeros(8)),
        lambda x, out: x + 1,
        returns=0,
        mutates=("out",),
        written_only=("out",),
        eager=lambda x, out: out.copy_(x + 1) and None,
    )
    bench = Bench(problem)
    bench.refresh(0)
    assert bench.storage(0, 1).unique().tolist() == [int(bench.slot(0)[0])]
    bench.entry = lambda x, out: out.copy_(x + 1)
    assert bench.run(*EIGHT).right == 8
    bench.entry = lambda x, out: out[:4].copy_(x[:4] + 1)
    (report,) = bench.run(3).reports
    assert "4 of 8 wrong" in report.message and "never written" in report.message


def test_a_wrong_output_is_found_among_right_ones() -> None:
    bench = Bench(DOUBLE)
    bench.entry = nth_call(5, lambda x: x * 2 + (torch.arange(100) == 7), lambda x: x * 2)
    checked = bench.run(*EIGHT)
    assert (checked.right, checked.first_wrong, checked.trouble) == (7, 5, None)
    (report,) = checked.reports
    assert (report.name, report.outcome, report.mismatched, report.first_wrong) == (
        "return",
        Outcome.WRONG_VALUE,
        1,
        (7,),
    )


@pytest.mark.parametrize("together", [1, 3, 100], ids=["one by one", "three and two", "all"])
@pytest.mark.parametrize("waited_for", [1, 5, 100], ids=["each", "five and three", "once"])
def test_result_is_independent_of_calls_compared_together(
    monkeypatch: pytest.MonkeyPatch, together: int, waited_for: int
) -> None:
    bench = Bench(DOUBLE)
    stride = bench.arranged.layouts[0].stride
    monkeypatch.setattr(judged_slots, "_TOGETHER_BYTES", together * stride)
    monkeypatch.setattr(judged_slots, "_WAITED_FOR_BYTES", waited_for * stride)
    bench.entry = lambda x: x * 2 + (bench.number_of(x) in (2, 6))
    checked = bench.run(7, 5, 6, 0, 1, 3, 4, 2)
    assert (checked.right, checked.first_wrong) == (6, 2)


def test_output_of_another_kind_is_found_among_compared() -> None:
    bench = Bench(DOUBLE)
    bench.entry = nth_call(2, lambda x: (x * 2).half(), nth_call(4, lambda x: x * 2 + 1, lambda x: x * 2))
    checked = bench.run(*EIGHT)
    assert (checked.right, checked.first_wrong, checked.reports[0].outcome) == (6, 2, Outcome.WRONG_DTYPE)


def test_first_wrong_slot_is_reported_and_all_counted() -> None:
    bench = Bench(DOUBLE)
    bench.entry = lambda x: x * 2 + (bench.number_of(x) in (2, 6))
    checked = bench.run(7, 6, 0, 2)
    assert (checked.right, checked.first_wrong) == (2, 1)


def test_two_workers_have_separate_blocks_and_poisons() -> None:
    bench = Bench(DOUBLE)
    bench.judge(
        protocol.Arrange(id="i", problem=TOY, case="one", most_slots=8, most_bytes=1 << 24, blocks=2),
        protocol.Arranged,
    )
    first, second = (block.content for block in bench.device.blocks[-2:])
    bench.judge(protocol.Refresh(id="i", slots=(0, 1), block=1), protocol.Done)
    assert not first.any() and second.any()
    with pytest.raises(RuntimeError, match="slot 0 was never refreshed in block 0"):
        bench.slots.carry_out(protocol.Check(id="i", slots=(0,), returned=((),), block=0))
    wrong = bench.judge(protocol.Check(id="i", slots=(0,), returned=((),), block=1), protocol.Checked)
    assert (wrong.right, wrong.first_wrong) == (0, 0)


def test_blocks_do_not_overlap_and_are_reused() -> None:
    device = ScriptedDevice()
    block = memory_by_block(lambda: cases.Memory(CPU, allocate=lambda size_bytes, _: device.memory(size_bytes)))  # type: ignore[arg-type, return-value]  # a double of the driver's block
    first, second = block(0, 100), block(1, 100)
    assert first.handle != second.handle
    assert (block(0, 50), block(1, 100)) == (first, second)


def test_an_output_of_the_content_before_is_wrong() -> None:
    bench = Bench(DOUBLE)
    kept: dict[int, torch.Tensor] = {}
    bench.entry = lambda x: kept.setdefault(x.data_ptr(), x * 2)
    assert bench.run(*EIGHT).right == 8
    assert bench.run(*EIGHT).right == 0


@pytest.mark.parametrize(
    ("entry", "outcome", "message"),
    [
        (lambda x: (x * 2)[:50], Outcome.WRONG_SHAPE, "return has shape (50,), expected (100,)"),
        (lambda x: torch.zeros(1 << 16), Outcome.WRONG_SHAPE, "return has shape (65536,), expected (100,)"),
        (lambda x: (x * 2).double(), Outcome.WRONG_DTYPE, "return is float64, expected float32"),
        (lambda x: None, Outcome.WRONG_DTYPE, "the entry returned NoneType, expected Tensor"),
        (lambda x: (x * 2, x), Outcome.WRONG_SHAPE, "the entry returned 2 values, expected 1"),
        (lambda x: x * torch.nan, Outcome.NONFINITE, "100 are not finite"),
    ],
)
def test_malformed_output_is_reported(entry: Callable[..., Any], outcome: Outcome, message: str) -> None:
    bench = Bench(DOUBLE)
    bench.entry = entry
    checked = bench.run(0, 1)
    assert (checked.right, checked.first_wrong, checked.reports[0].outcome) == (0, 0, outcome)
    assert message in checked.reports[0].message


def test_several_outputs_are_each_compared() -> None:
    pair = toy("f(x: Tensor) -> tuple", vector, lambda x: (x + 1, x.sum().view(1)), returns=2)
    bench = Bench(pair)
    assert bench.run(*EIGHT).right == 8
    bench.entry = lambda x: (x + 1, x.sum().view(1) + 1)
    assert [report.outcome for report in bench.run(4).reports] == [Outcome.PASS, Outcome.WRONG_VALUE]


def test_false_claims_about_outputs_are_found_by_bytes() -> None:
    bench = Bench(DOUBLE)
    bench.refresh(0)
    ((honest,),) = bench.timed(0).returned
    assert bench.check((0,), ((honest,),)).right == 1
    for lie in ({"offset": 1 << 40}, {"bytes": 396}, {"offset": 258}, {"shape": (1 << 62,)}, {"dtype": "none"}):
        spec = protocol.ReturnedSpec(
            **{**{field: getattr(honest, field) for field in honest.__struct_fields__}, **lie}  # type: ignore[arg-type]
        )
        assert bench.check((0,), ((spec,),)).right == 0


def test_outputs_for_another_number_of_slots_are_tampering() -> None:
    bench = Bench(DOUBLE)
    bench.refresh(0, 1)
    reply = bench.judge(protocol.Check(id="i", slots=(0, 1), returned=((),)), protocol.Failed)
    assert reply.kind is protocol.FailureKind.TAMPERED


def test_changed_input_with_right_output_is_found() -> None:
    bench = Bench(DOUBLE)

    def entry(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        x[99] += 1
        return y

    bench.entry = nth_call(2, entry, lambda x: x * 2)
    checked = bench.run(*EIGHT)
    assert (checked.right, checked.first_wrong) == (7, 2)
    assert checked.trouble == "input x was changed; the signature does not say that it is written"
    assert [report.outcome for report in checked.reports] == [Outcome.PASS]


TWO = toy(
    "f(first: Tensor, second: Tensor) -> Tensor",
    lambda case, rng: (torch.randn(100, generator=rng), torch.randn(50, generator=rng)),
    lambda first, second: first.sum() + second,
)


@pytest.mark.parametrize(
    ("storage", "at", "message"),
    [
        (0, 400, "past the end of argument first was written (2 bytes)"),
        (0, 460, "past the end of argument first was written (2 bytes)"),
        (0, -2, "before the beginning of argument first was written (2 bytes)"),
        (0, -256, "before the beginning of argument first was written (2 bytes)"),
        (1, 200, "past the end of argument second was written (2 bytes)"),
        (1, -2, "before the beginning of argument second was written (2 bytes)"),
    ],
)
def test_write_beside_tensor_names_tensor_and_side(storage: int, at: int, message: str) -> None:
    bench = Bench(TWO)

    def entry(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        layout = bench.arranged.layouts[0]
        bench.own(layout.stride + layout.storages[storage].offset + at, 2).bitwise_xor_(0xFF)
        return first.sum() + second

    bench.entry = nth_call(1, entry, bench.entry)
    checked = bench.run(0, 1, 2)
    assert (checked.right, checked.first_wrong) == (2, 1)
    assert checked.trouble == f"memory {message}: a store without a mask, or with a wrong one"


def test_a_write_behind_the_outputs_is_found() -> None:
    bench = Bench(DOUBLE)
    bench.refresh(0)
    returned = bench.timed(0).returned
    bench.slot(0)[-1] ^= 1
    assert "past the end of the place for outputs" in str(bench.check((0,), returned).trouble)


def test_a_write_into_another_slot_is_found_there() -> None:
    bench = Bench(DOUBLE)
    bench.entry = lambda x: (bench.storage(1).zero_(), x * 2)[1]
    bench.refresh(0, 1)
    returned = bench.timed(0).returned
    assert bench.check((0, 1), (*returned, ())).first_wrong == 1


def test_write_into_another_slot_is_found_there() -> None:
    bench = Bench(DOUBLE)

    def entry(x: torch.Tensor) -> torch.Tensor:
        bench.own(2 * bench.arranged.layouts[0].stride + 300, 1).bitwise_xor_(1)
        return x * 2

    bench.entry = nth_call(3, entry, bench.entry)
    assert bench.run(0, 2, 4, 6).first_wrong == 1


def test_the_entry_sees_memory_of_its_own_process() -> None:
    bench = Bench(DOUBLE)
    seen: list[int] = []
    bench.entry = lambda x: (seen.append(x.untyped_storage().data_ptr()), x * 2)[1]
    assert bench.run(0, 1).right == 2
    assert bench.device.blocks[-1].content.data_ptr() not in seen


def test_argument_written_in_place_is_compared_without_its_gaps() -> None:
    bench = Bench(definition("cublas::cublasSaxpy_v2"), "497 alpha 0.5 inc 2 3")

    def entry(n: int, alpha: float, x: torch.Tensor, incx: int, y: torch.Tensor, incy: int) -> torch.Tensor:
        bench.problem.eager(n, alpha, x, incx, y, incy)
        y[-1] += 1
        return y

    bench.entry = entry
    assert [report.name for report in bench.run(0).reports] == ["return", "y"]
    bench.entry = lambda n, alpha, x, incx, y, incy: y
    checked = bench.run(0)
    assert [report.outcome for report in checked.reports] == [Outcome.WRONG_VALUE] * 2


def test_bursts_and_replays_are_checked_after_collection() -> None:
    bench = Bench(DOUBLE)
    made = [torch.zeros(100) for _ in EIGHT]
    bench.entry = lambda x: torch.mul(x, 2, out=made[bench.number_of(x)])
    bench.refresh(*EIGHT)
    bench.timed(*EIGHT, how=protocol.How.CAPTURE)
    for how in (protocol.How.BURST, protocol.How.REPLAY, protocol.How.REPLAY):
        bench.refresh(*EIGHT)
        bench.timed(*EIGHT, how=how)
        collected = bench.worker.carry_out(protocol.Collect(id="i"))
        assert isinstance(collected, protocol.Timed) and not collected.shared_outputs
        assert bench.check(EIGHT, collected.returned).right == 8


def test_outputs_sharing_memory_keep_only_the_last() -> None:
    bench = Bench(DOUBLE)
    memory = torch.zeros(100)
    bench.entry = lambda x: torch.mul(x, 2, out=memory)
    bench.refresh(*EIGHT)
    bench.timed(*EIGHT, how=protocol.How.BURST)
    collected = bench.worker.carry_out(protocol.Collect(id="i"))
    assert isinstance(collected, protocol.Timed) and collected.shared_outputs
    assert bench.check(EIGHT, collected.returned).right == 1
    assert bench.check((7,), collected.returned[7:]).right == 1


def test_a_baseline_is_timed_as_the_candidate_is() -> None:
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
        side(0, 1, how=protocol.How.CAPTURE, cache=cache)
        for how in (protocol.How.BURST, protocol.How.REPLAY):
            before = bench.device.evictions
            side(0, 1, how=how, cache=cache)
            assert bench.device.evictions - before == evictions


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


def test_in_place_baseline_gets_fresh_inputs_for_every_run() -> None:
    bench, seen = device_of_eager(70)
    bench.refresh(3, 4)
    wanted = [bench.storage(number).view(torch.float32).clone() for number in (3, 4)]
    bench.timed(3, 4)
    for how in (protocol.How.SINGLE, protocol.How.BURST):
        seen.clear()
        bench.baseline(3, 4, how=how)
        assert all(torch.equal(one, other) for one, other in zip(seen, wanted, strict=True))
    assert bench.check((3, 4), ((), ())).right == 2


def test_judge_writes_between_baseline_runs_are_not_reported() -> None:
    bench, _ = device_of_eager(70)
    for _ in range(2):
        bench.refresh(3, 4)
        bench.device.put("the judge's", 10)
        assert bench.baseline(3, 4).late == ()


def test_baseline_replays_on_current_slot_content() -> None:
    bench, seen = device_of_eager(70)
    bench.refresh(0, 1)
    assert bench.baseline(0, 1, how=protocol.How.CAPTURE).kernels == (
        protocol.KernelTime(name="eager_kernel", count=2),
    )
    bench.refresh(5, 6)
    seen.clear()
    assert bench.baseline(5, 6, how=protocol.How.REPLAY).elapsed_ns == 140
    assert [one.tolist() for one in seen] == [bench.storage(number).view(torch.float32).tolist() for number in (5, 6)]


def test_graph_of_another_length_is_usage_error() -> None:
    bench, _ = device_of_eager(70)
    bench.refresh(0, 1)
    bench.baseline(0, 1, how=protocol.How.CAPTURE)
    with pytest.raises(RuntimeError, match="the graph holds 2 calls, 1 were asked for"):
        bench.baseline(0, how=protocol.How.REPLAY)


def test_a_baseline_that_cannot_be_captured_is_unsupported() -> None:
    def eager(x: torch.Tensor) -> torch.Tensor:
        if benches and benches[0].device.capturing:
            raise RuntimeError("not while capturing")
        return x * 2

    benches: list[Bench] = []
    benches.append(Bench(toy("f(x: Tensor) -> Tensor", vector, lambda x: x * 2, eager=eager)))
    benches[0].prepare()
    benches[0].refresh(0)
    failed = benches[0].judge(
        protocol.TimeBaseline(id="i", name="eager", slots=(0,), how=protocol.How.CAPTURE, cache=CacheState.COLD),
        protocol.Failed,
    )
    assert (failed.kind, failed.message) == (
        protocol.FailureKind.UNSUPPORTED,
        "eager cannot be captured: RuntimeError: not while capturing",
    )


@pytest.mark.parametrize(
    ("name", "message"), [("cublas", "cuBLAS has no routine for toy::f"), ("fastest", "'fastest' is no baseline")]
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


def test_peaks_of_non_gpu_device_are_unsupported() -> None:
    reply = Slots(CPU, lambda origin: DOUBLE).carry_out(protocol.MeasurePeaks(id="i"))
    assert isinstance(reply, protocol.Failed)
    assert reply.kind is protocol.FailureKind.UNSUPPORTED


def test_slots_never_refreshed_cannot_be_checked_or_timed() -> None:
    bench = Bench(DOUBLE)
    bench.prepare()
    bench.refresh(0)
    with pytest.raises(RuntimeError, match="slot 1 was never refreshed"):
        bench.check((0, 1), ((), ()))
    with pytest.raises(RuntimeError, match="slot 2 was never refreshed"):
        bench.baseline(2)


def test_after_disbanding_nothing_is_arranged() -> None:
    bench = Bench(DOUBLE)
    bench.judge(protocol.FreeSlots(id="i"), protocol.Done)
    with pytest.raises(RuntimeError, match="no slots were arranged"):
        bench.refresh(0)


def test_input_shapes_depending_on_seed_are_problem_error() -> None:
    sizes = iter(range(1, 100))
    bench = Bench(toy("f(x: Tensor) -> Tensor", lambda case, rng: (torch.zeros(next(sizes)),), lambda x: x))
    with pytest.raises(ValueError, match="shapes and scalars of one depend on the seed"):
        bench.refresh(0)


def test_verified_outputs_are_copied_before_any_computation() -> None:
    benches: list[Bench] = []

    def reference(x: torch.Tensor) -> torch.Tensor:
        if benches:
            benches[0].slot(0).zero_()  # as a worker may, while the judge computes
        return x * 2

    benches.append(Bench(toy("f(x: Tensor) -> Tensor", vector, reference, eager=lambda x: x * 2)))
    assert benches[0].run(0).right == 1
