"""Outputs as a worker claims them: number, type, layout and bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine import protocol
from engine.model import Outcome

if TYPE_CHECKING:
    from tests.engine.judge.conftest import Bench

from tests.engine.judge.replies import failed, outcomes


def test_each_of_several_outputs_is_compared_by_name(bench: Bench) -> None:
    bench.prepare("PAIR")
    x = bench.arguments[0]
    compared = bench.compared(*bench.hand_back(x + 1, x + 1))
    assert outcomes(compared) == [("return[0]", Outcome.PASS), ("return[1]", Outcome.WRONG_VALUE)]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_wrong_number_of_returned_values_is_wrong_shape(bench: Bench, count: int) -> None:
    bench.prepare("PAIR")
    compared = bench.compared(*bench.hand_back(*(bench.arguments[0] for _ in range(count))))
    assert outcomes(compared) == [("return[0]", Outcome.WRONG_SHAPE), ("return[1]", Outcome.WRONG_SHAPE)]
    assert compared.reports[0].message == f"the entry returned {count} values, expected 2"


@pytest.mark.parametrize("type_name", ["NoneType", "float", "ndarray", "AgreeableTensor"])
def test_nontensor_return_value_error_states_type(bench: Bench, type_name: str) -> None:
    bench.prepare("TWICE")
    bench.hand_back()
    compared = bench.compared(protocol.ReturnedSpec(type_name=type_name))
    assert outcomes(compared) == [("return", Outcome.WRONG_DTYPE)]
    assert compared.reports[0].message == f"the entry returned {type_name}, expected Tensor"


@pytest.mark.parametrize(
    ("spec", "outcome"),
    [
        (
            protocol.ReturnedSpec(type_name="Tensor", dtype="float32", shape=(4,), offset=0, bytes=12),
            Outcome.WRONG_SHAPE,
        ),
        (
            protocol.ReturnedSpec(type_name="Tensor", dtype="float32", shape=(5,), offset=0, bytes=20),
            Outcome.WRONG_SHAPE,
        ),
        (
            protocol.ReturnedSpec(type_name="Tensor", dtype="float32", shape=(4,), offset=1, bytes=16),
            Outcome.WRONG_SHAPE,
        ),
        (
            protocol.ReturnedSpec(type_name="Tensor", dtype="float32", shape=(4,), offset=2**70, bytes=16),
            Outcome.WRONG_SHAPE,
        ),
        (
            protocol.ReturnedSpec(type_name="Tensor", dtype="float32", shape=(2**40,), offset=0, bytes=2**42),
            Outcome.WRONG_SHAPE,
        ),
        (
            protocol.ReturnedSpec(type_name="Tensor", dtype="float32", shape=(0,), offset=0, bytes=0),
            Outcome.WRONG_SHAPE,
        ),
        (protocol.ReturnedSpec(type_name="Tensor", dtype="float32", shape=(0, 2**62, 4)), Outcome.WRONG_SHAPE),
        (protocol.ReturnedSpec(type_name="Tensor", dtype="float32", shape=(0, 2**64)), Outcome.WRONG_SHAPE),
        (protocol.ReturnedSpec(type_name="Tensor", dtype="float32", shape=(2**63, 0)), Outcome.WRONG_SHAPE),
        (
            protocol.ReturnedSpec(type_name="Tensor", dtype="float32", shape=(2, 2), offset=0, bytes=16),
            Outcome.WRONG_SHAPE,
        ),
        (protocol.ReturnedSpec(type_name="Tensor", dtype="int32", shape=(4,), offset=0, bytes=16), Outcome.WRONG_DTYPE),
        (
            protocol.ReturnedSpec(type_name="Tensor", dtype="complex32", shape=(4,), offset=0, bytes=16),
            Outcome.WRONG_DTYPE,
        ),
        (protocol.ReturnedSpec(type_name="Tensor", dtype="", shape=(4,), offset=0, bytes=16), Outcome.WRONG_DTYPE),
    ],
)
def test_claim_not_fitting_bytes_or_problem_is_wrong(
    bench: Bench, spec: protocol.ReturnedSpec, outcome: Outcome
) -> None:
    bench.prepare("TWICE")
    bench.hand_back(2 * bench.arguments[0])
    assert outcomes(bench.compared(spec)) == [("return", outcome)]


def test_output_above_limit_or_no_file_is_tampering(bench: Bench) -> None:
    bench.prepare("TWICE")
    returned = bench.hand_back(2 * bench.arguments[0])
    assert failed(bench.compare(*returned, max_bytes=15)) == (
        protocol.FailureKind.TAMPERED,
        "case.out is not a regular file of at most 15 bytes",
    )
    bench.outputs.unlink()
    assert failed(bench.compare(*returned))[0] is protocol.FailureKind.TAMPERED


def test_shared_memory_that_was_cut_is_tampering(bench: Bench) -> None:
    bench.prepare("TWICE")
    returned = bench.hand_back(2 * bench.arguments[0])
    bench.arguments.clear()
    with bench.arena.open("r+b") as file:
        file.truncate(3)
    assert failed(bench.compare(*returned)) == (
        protocol.FailureKind.TAMPERED,
        "the shared memory of the case was cut short",
    )
