"""Outputs of every form: lists, addresses, as many as the case has, Python numbers, in any order, random."""

from __future__ import annotations

import math
import struct
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest
import torch

from engine import protocol
from engine.errors import ReferenceFaultError
from engine.judge.inputs.outputs import expected_outputs, returned_values
from engine.model import CandidateForm, Outcome, OutputReport, ReturnedMemory, SuiteOrigin
from engine.protocol import tensors
from engine.protocol.messages import ReturnedPlace
from tests.engine.judge import toy_problems
from tests.engine.judge.probing.test_input_variants import drawn, problem

if TYPE_CHECKING:
    from tests.engine.judge.conftest import Bench


NOT_WRITTEN = "return is not a0, which is written in place and must be returned itself"


def outcomes(compared: protocol.Compared) -> dict[str, Outcome]:
    return {report.name: report.outcome for report in compared.reports}


@pytest.mark.parametrize(
    ("returns", "outputs", "message"),
    [
        (1, 1, "the reference of toy::f has 1 outputs, not 2: 1 returned, then a0 as written"),
        (0, 0, "the reference of toy::f has 0 outputs, not 1: 0 returned, then a0 as written"),
        (None, 0, "the reference of toy::f has 0 outputs, not 1: 0 returned, then a0 as written"),
        (0, 2, "the reference of toy::f has 2 outputs, not 1: 0 returned, then a0 as written"),
    ],
)
def test_reference_without_a_written_output_is_refused(returns: int | None, outputs: int, message: str) -> None:
    judged = problem(drawn(3), lambda x: (x,) * outputs, mutates=("a0",), returns=returns)
    with pytest.raises(ReferenceFaultError) as raised:
        expected_outputs(judged, (torch.ones(3),))
    assert str(raised.value) == message


def test_entry_gets_the_addresses_of_a_pointer_array(bench: Bench) -> None:
    prepared = bench.prepare("BATCHED")
    storages = tensors.Arena(prepared.arena).storages
    given = tensors.value_of(prepared.arguments[0], storages)
    addresses = tensors.argument_of(prepared.arguments[0], storages)
    assert isinstance(addresses, torch.Tensor)
    assert addresses.dtype == torch.int64
    assert addresses.tolist() == [tensor.data_ptr() for tensor in tensors.tensors_in(given)]


def test_each_tensor_of_pointer_array_is_compared(bench: Bench) -> None:
    bench.prepare("BATCHED")
    xs, ys = bench.arguments
    for x, y in zip(xs.tensors, ys.tensors, strict=True):
        y.copy_(2 * x)
    ys.tensors[1][0] += 1
    compared = bench.compared()
    assert outcomes(compared) == {"ys[0]": Outcome.PASS, "ys[1]": Outcome.WRONG_VALUE}
    assert compared.mutated is None


def test_read_tensor_of_a_pointer_array_must_stay(bench: Bench) -> None:
    bench.prepare("BATCHED")
    bench.arguments[0].tensors[0].zero_()
    assert bench.compared().mutated == "input xs was changed; the signature does not say that it is written"


def test_each_written_tensor_of_a_list_is_compared(bench: Bench) -> None:
    bench.prepare("LISTED")
    x, (first, none, second) = bench.arguments
    assert none is None
    first.copy_(x + 1)
    second.copy_(x)
    assert outcomes(bench.compared()) == {"outs[0]": Outcome.PASS, "outs[1]": Outcome.WRONG_VALUE}


def test_case_decides_the_number_of_returned_tensors(bench: Bench) -> None:
    bench.prepare("SPLIT")
    parts = bench.arguments[0].split(2)
    compared = bench.compared(*bench.hand_back(*parts))
    assert outcomes(compared) == dict.fromkeys(("return[0]", "return[1]", "return[2]"), Outcome.PASS)
    too_few = bench.compared(*bench.hand_back(*parts[:2]))
    assert too_few.reports[0].message == "the entry returned 2 values, expected 3"


def number(bench: Bench, value: float) -> protocol.ReturnedSpec:
    """A Python float as the worker leaves it."""
    bench.outputs.write_bytes(struct.pack("<d", value))
    return protocol.ReturnedSpec(type_name="float", dtype="float64", shape=(), offset=0, bytes=8, is_number=True)


def test_python_number_is_compared_as_a_number(bench: Bench) -> None:
    bench.prepare("ITEM")
    value = bench.arguments[0].item()
    assert outcomes(bench.compared(number(bench, value))) == {"return": Outcome.PASS}
    assert outcomes(bench.compared(number(bench, value + 1))) == {"return": Outcome.WRONG_VALUE}
    (tensor,) = bench.compared(*bench.hand_back(bench.arguments[0][0].double())).reports
    assert tensor.message == "the entry returned Tensor, expected a Python number"


def test_python_number_is_not_a_tensor(bench: Bench) -> None:
    bench.prepare("TWICE")
    (report,) = bench.compared(number(bench, 1.0)).reports
    assert report.message == "the entry returned float, expected Tensor"


def test_number_returned_by_suite_task_is_output() -> None:
    suite = SuiteOrigin(suite="kernelbench", form=CandidateForm.MODULE, own_rule="")
    spec = protocol.ReturnedSpec(type_name="float", dtype="float64", shape=(), offset=0, bytes=8, is_number=True)
    content = torch.frombuffer(bytearray(struct.pack("<d", 2.5)), dtype=torch.uint8)
    expected = (torch.tensor(2.5, dtype=torch.float64),)
    problem, given = replace(toy_problems.TWICE, suite=suite), (protocol.DTypeSpec(name="float32"),)

    (value,) = returned_values(problem, given, (spec,), expected, lambda: content)

    assert isinstance(value, torch.Tensor)
    assert value.item() == 2.5


def test_argument_on_the_cpu_is_marked(bench: Bench) -> None:
    prepared = bench.prepare("ON_CPU")
    assert [spec.on_cpu for spec in prepared.arguments if isinstance(spec, protocol.TensorSpec)] == [False, True]


def test_lazy_conjugation_travels(bench: Bench) -> None:
    prepared = bench.prepare("CONJUGATED")
    (x,) = bench.arguments
    assert x.is_conj()
    assert outcomes(bench.compared(*bench.hand_back(x.resolve_conj()))) == {"return": Outcome.PASS}
    assert outcomes(bench.compared(*bench.hand_back(x.conj().resolve_conj()))) == {"return": Outcome.WRONG_VALUE}
    spec = prepared.arguments[0]
    assert isinstance(spec, protocol.TensorSpec)
    assert msgspec.structs.replace(spec, conjugated=False) != spec


def test_lazy_output_is_rejected_where_not_allowed(bench: Bench) -> None:
    bench.prepare("WRITTEN_OUT")
    (x,) = bench.arguments
    (spec,) = bench.hand_back(x.resolve_conj())
    assert outcomes(bench.compared(spec)) == {"return": Outcome.PASS}
    (report,) = bench.compared(msgspec.structs.replace(spec, is_lazy=True)).reports
    assert (report.outcome, report.message) == (
        Outcome.WRONG_DTYPE,
        "return has the lazy conjugate or negative bit set: its values are not in memory",
    )


OTHER_MEMORY = ReturnedPlace(strides=(3, 1))
ARGUMENT = ReturnedPlace(strides=(1, 2), storage=0, offset_bytes=8)


@pytest.mark.parametrize(
    ("memory", "place", "message"),
    [
        (ReturnedMemory.ANY, ARGUMENT, ""),
        (ReturnedMemory.NEW, OTHER_MEMORY, ""),
        (ReturnedMemory.NEW, ARGUMENT, "return shares memory with an argument; it must be a copy"),
        (ReturnedMemory.CONTIGUOUS, OTHER_MEMORY, ""),
        (ReturnedMemory.CONTIGUOUS, ARGUMENT, "return has strides (1, 2); it must be contiguous"),
        (ReturnedMemory.WRITTEN, ARGUMENT, ""),
        (ReturnedMemory.WRITTEN, OTHER_MEMORY, NOT_WRITTEN),
        (ReturnedMemory.WRITTEN, msgspec.structs.replace(ARGUMENT, storage=1), NOT_WRITTEN),
        (ReturnedMemory.WRITTEN, msgspec.structs.replace(ARGUMENT, offset_bytes=4), NOT_WRITTEN),
        (ReturnedMemory.WRITTEN, msgspec.structs.replace(ARGUMENT, strides=(3, 1)), NOT_WRITTEN),
        (ReturnedMemory.WRITTEN, None, ""),
    ],
)
def test_returned_tensor_must_lie_where_the_contract_says(
    memory: ReturnedMemory, place: ReturnedPlace | None, message: str
) -> None:
    judged = problem(drawn(2, 3), lambda x: (x, x), mutates=("a0",), returned_memory=memory)
    given = protocol.TensorSpec(storage=0, dtype="float32", shape=(2, 3), strides=(1, 2), first=2)
    spec = protocol.ReturnedSpec(type_name="Tensor", dtype="float32", shape=(2, 3), bytes=24, place=place)
    expected = torch.zeros(2, 3)
    (value,) = returned_values(judged, (given,), (spec,), (expected, expected), lambda: torch.zeros(24).byte())
    if message:
        assert isinstance(value, OutputReport)
        assert (value.outcome, value.message) == (Outcome.WRONG_SHAPE, message)
    else:
        assert isinstance(value, torch.Tensor)


@pytest.mark.parametrize(("shape", "strides"), [((0, 3), (1, 7)), ((1, 3), (9, 1)), ((), ())])
def test_strides_of_dimensions_without_neighbours_do_not_matter(
    shape: tuple[int, ...], strides: tuple[int, ...]
) -> None:
    judged = problem(drawn(*shape), lambda x: x, returned_memory=ReturnedMemory.CONTIGUOUS)
    size_bytes = 4 * math.prod(shape)
    spec = protocol.ReturnedSpec(
        type_name="Tensor", dtype="float32", shape=shape, bytes=size_bytes,
        place=ReturnedPlace(strides=strides),
    )  # fmt: skip
    given = protocol.TensorSpec(storage=0, dtype="float32", shape=shape, strides=strides, first=0)
    content = torch.zeros(size_bytes, dtype=torch.uint8)
    (value,) = returned_values(judged, (given,), (spec,), (torch.zeros(shape),), lambda: content)
    assert isinstance(value, torch.Tensor)


def test_comparer_decides_over_an_output(bench: Bench) -> None:
    bench.prepare("SHUFFLED")
    (x,) = bench.arguments
    assert outcomes(bench.compared(*bench.hand_back(x.flip(0)))) == {"return": Outcome.PASS}
    (report,) = bench.compared(*bench.hand_back(x + 1)).reports
    assert (report.outcome, report.message) == (Outcome.WRONG_VALUE, "return: another set of numbers")
    assert report.max_absolute_error is None
    assert report.explanation is None


def test_repeated_random_numbers_are_wrong(bench: Bench) -> None:
    bench.prepare("DRAWN")
    drawn = torch.rand(4)
    assert outcomes(bench.compared(*bench.hand_back(drawn))) == {"return": Outcome.PASS}
    assert outcomes(bench.compared(*bench.hand_back(drawn))) == {"return": Outcome.WRONG_VALUE}
    assert outcomes(bench.compared(*bench.hand_back(torch.rand(4)))) == {"return": Outcome.PASS}
