"""Checks of timed calls: outputs, claims about them, inputs and guard zones of every slot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from engine import protocol
from engine.judge.benchmark import slots as judged_slots
from engine.model import Outcome
from tests.engine.judge.benchmark.arranged import DOUBLE, EIGHT, Bench, toy, vector
from tests.operators import definition


def nth_call(call: int, wrong: Callable[..., Any], right: Callable[..., Any]) -> Callable[..., Any]:
    """An entry that does something else on one of its calls, counted from 0."""
    calls = iter(range(1 << 20))
    return lambda *arguments: (wrong if next(calls) == call else right)(*arguments)


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
    reply = bench.ask(protocol.Check(id="i", slots=(0, 1), returned=((),)), protocol.Failed)
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
    assert "past the end of the output buffer" in str(bench.check((0,), returned).trouble)


def test_write_to_other_slot_names_the_slot() -> None:
    bench = Bench(DOUBLE)
    bench.entry = lambda x: (bench.storage(1).zero_(), x * 2)[1]
    bench.refresh(0, 1)
    returned = bench.timed(0).returned
    assert bench.check((0, 1), (*returned, ())).first_wrong == 1


def test_own_write_to_other_slot_is_found() -> None:
    bench = Bench(DOUBLE)

    def entry(x: torch.Tensor) -> torch.Tensor:
        bench.own(2 * bench.arranged.layouts[0].stride + 300, 1).bitwise_xor_(1)
        return x * 2

    bench.entry = nth_call(3, entry, bench.entry)
    assert bench.run(0, 2, 4, 6).first_wrong == 1


def test_in_place_argument_is_compared_without_gaps() -> None:
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
    bench.timed(*EIGHT, mode=protocol.CallMode.CAPTURE)
    for mode in (protocol.CallMode.BURST, protocol.CallMode.REPLAY, protocol.CallMode.REPLAY):
        bench.refresh(*EIGHT)
        bench.timed(*EIGHT, mode=mode)
        collected = bench.worker.carry_out(protocol.Collect(id="i"))
        assert isinstance(collected, protocol.Timed) and not collected.shared_outputs
        assert bench.check(EIGHT, collected.returned).right == 8


def test_outputs_sharing_memory_keep_only_the_last() -> None:
    bench = Bench(DOUBLE)
    memory = torch.zeros(100)
    bench.entry = lambda x: torch.mul(x, 2, out=memory)
    bench.refresh(*EIGHT)
    bench.timed(*EIGHT, mode=protocol.CallMode.BURST)
    collected = bench.worker.carry_out(protocol.Collect(id="i"))
    assert isinstance(collected, protocol.Timed) and collected.shared_outputs
    assert bench.check(EIGHT, collected.returned).right == 1
    assert bench.check((7,), collected.returned[7:]).right == 1


def test_slots_never_refreshed_cannot_be_checked_or_timed() -> None:
    bench = Bench(DOUBLE)
    bench.prepare()
    bench.refresh(0)
    with pytest.raises(RuntimeError, match="slot 1 was never refreshed"):
        bench.check((0, 1), ((), ()))
    with pytest.raises(RuntimeError, match="slot 2 was never refreshed"):
        bench.baseline(2)


def test_verified_outputs_are_copied_before_any_computation() -> None:
    benches: list[Bench] = []

    def reference(x: torch.Tensor) -> torch.Tensor:
        if benches:
            benches[0].slot(0).zero_()  # as a worker may, while the judge computes
        return x * 2

    benches.append(Bench(toy("f(x: Tensor) -> Tensor", vector, reference, eager=lambda x: x * 2)))
    assert benches[0].run(0).right == 1
