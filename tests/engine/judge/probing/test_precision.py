"""An honest answer errs like torch, or like a sum in the worst order; a lowered one by far more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

from engine import protocol
from engine.judge.inputs.outputs import expected_outputs
from engine.judge.probing.precision import honest_outputs, lowered_outputs, stepwise_outputs
from engine.protocol import tensors
from tests.operators import definition, find

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.engine.judge.conftest import Bench


def measure_precision(
    bench: Bench, problem: str, case: str, answer: Callable[[list[Any]], object]
) -> protocol.OutputPrecision:
    """What the judge says of the first output of this answer to a case of a real problem."""
    path = bench.folder / "real.in"
    opened = find(problem).id
    prepared = bench.ask(protocol.Prepare(id="i", problem=opened, case=case, arena_path=str(path), poison=0xFF, seed=1))
    assert isinstance(prepared, protocol.Prepared), prepared
    bench.spec = prepared.arena
    there = tensors.Arena(prepared.arena).storages
    returned = answer([tensors.value_of(spec, there) for spec in prepared.arguments])
    values = (returned,) if isinstance(returned, torch.Tensor) else ()
    command = protocol.MeasurePrecision(
        id="g", outputs=str(bench.outputs), max_output_bytes=1 << 24, returned=bench.hand_back(*values)
    )
    measured_precision = bench.ask(command)
    assert isinstance(measured_precision, protocol.PrecisionMeasured), measured_precision
    return measured_precision.outputs[0]


def tf32(values: torch.Tensor) -> torch.Tensor:
    return ((values.view(torch.int32) + 0x1000) & -0x2000).view(torch.float32)


def test_product_in_float32_has_the_expected_error(bench: Bench) -> None:
    reported = measure_precision(bench, "aten::mm", "15x1024x40 f32", lambda a: a[0] @ a[1])
    assert (reported.name, reported.precision) == ("return", "tf32")
    assert reported.got is not None
    assert reported.honest is not None
    assert reported.lowered is not None
    assert reported.got < 2 * reported.honest < reported.lowered / 100


def test_product_of_tf32_operands_has_the_lowered_error(bench: Bench) -> None:
    reported = measure_precision(bench, "aten::mm", "15x1024x40 f32", lambda a: tf32(a[0]) @ tf32(a[1]))
    assert reported.got is not None
    assert reported.lowered is not None
    assert reported.got == pytest.approx(reported.lowered, rel=0.5)


def test_sequential_sum_has_the_expected_error(bench: Bench) -> None:
    def sequential(arguments: list[Any]) -> torch.Tensor:
        total = torch.zeros(())
        for value in arguments[0].flatten():
            total = total + value
        return total

    reported = measure_precision(bench, "aten::sum", "40x65 dims all f32", sequential)
    assert reported.got is not None
    assert reported.honest == pytest.approx(reported.got, rel=1e-3)


def test_halves_are_measured_against_sums_in_their_type(bench: Bench) -> None:
    reported = measure_precision(
        bench, "aten::mm", "15x1024x40 bf16", lambda a: (a[0].float() @ a[1].float()).bfloat16()
    )
    assert reported.precision == "sums in bfloat16"
    assert reported.got is not None
    assert reported.lowered is not None
    assert reported.got == pytest.approx(reported.honest, rel=1e-6)  # the same but for a last bit of one element
    assert reported.got < reported.lowered / 8


def test_written_argument_is_measured_in_place(bench: Bench) -> None:
    def written(arguments: list[Any]) -> None:
        out, x, weight, epsilon = arguments
        out.copy_(x * torch.rsqrt(x.square().mean(-1, keepdim=True) + epsilon) * weight)

    reported = measure_precision(bench, "vllm::rms_norm", "5x497 f32", written)
    assert reported.name == "out"
    assert reported.got is not None
    assert reported.got < 1e-6


def test_integer_output_cannot_be_measured(bench: Bench) -> None:
    reported = measure_precision(bench, "aten::sum", "40x65 dims all f32", lambda a: a[0].sum().long())
    assert reported == protocol.OutputPrecision(name="return")


def test_type_without_lower_type_cannot_be_measured(bench: Bench) -> None:
    case = next(case.name for case in definition("aten::sum").cases if case.dtype.epsilon == 0)
    assert measure_precision(bench, "aten::sum", case, lambda a: a[0]) == protocol.OutputPrecision(name="return")


def test_lowered_product_rounds_operands_and_result() -> None:
    problem = definition("aten::mm")
    left, right = problem.make_inputs(problem.case("33x65x40 f32"), torch.Generator().manual_seed(1))
    assert isinstance(left, torch.Tensor)
    assert isinstance(right, torch.Tensor)
    (lowered,) = lowered_outputs(problem, (left, right), bits=11)
    product = tf32(left).double() @ tf32(right).double()
    again = tf32(product.float()).double()
    assert (lowered == again).double().mean() > 0.99  # here a tie goes away from zero, there to an even number
    assert (lowered == product).double().mean() < 0.5


@pytest.mark.parametrize("name", ["aten::softmax", "aten::cumsum", "vllm::rms_norm", "cublas::cublasSgemm_v2"])
def test_reference_runs_leave_the_inputs_unchanged(name: str) -> None:
    problem = definition(name)
    case = problem.cases[0]
    inputs = problem.make_inputs(case, torch.Generator().manual_seed(1))
    before = [value.clone() if isinstance(value, torch.Tensor) else value for value in inputs]
    honest_outputs(problem, inputs)
    lowered_outputs(problem, inputs, bits=11)
    stepwise_outputs(problem, inputs, bits=24, running=lambda terms: terms.cumsum(0))
    for value, kept in zip(inputs, before, strict=True):
        assert torch.equal(value, kept) if isinstance(value, torch.Tensor) else value == kept


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("aten::sum", "5x0 dims 0 f32"),
        ("aten::mm", "1x0x71 f32"),
        ("aten::softmax", "5x0 f32"),
        ("aten::cumsum", "5x0 f32"),
    ],
)
def test_empty_sum_matches_the_reference(name: str, case: str) -> None:
    problem = definition(name)
    inputs = problem.make_inputs(problem.case(case), torch.Generator().manual_seed(1))
    (stepwise,) = stepwise_outputs(problem, inputs, bits=24, running=lambda terms: terms.cumsum(0))
    (expected,) = expected_outputs(problem, inputs)
    assert torch.equal(stepwise, expected.double())


def test_reference_outputs_follow_the_order_of_the_problem() -> None:
    problem = definition("vllm::fused_add_rms_norm")
    inputs = problem.make_inputs(problem.cases[0], torch.Generator().manual_seed(1))
    for honest, expected in zip(honest_outputs(problem, inputs), expected_outputs(problem, inputs), strict=True):
        assert torch.allclose(honest, expected, rtol=1e-4, atol=1e-5)
