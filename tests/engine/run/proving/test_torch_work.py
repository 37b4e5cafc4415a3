"""The work of torch on a tape: its weight, and its description."""

from __future__ import annotations

import msgspec
import pytest

from engine.protocol.proof.tape import Given, TapedStorage
from engine.run.proving.torch_work import AnswerKind, Weight, describe_memory, origins_of, weight_of
from tests.engine.replay.tapes import launched, tape, vector

LAUNCH = launched(vector(0), vector(1))
TABLE = Given(storage=1, line=8)


@pytest.mark.parametrize(
    ("operator", "integers", "answer", "weight"),
    [
        ("aten::mm", False, AnswerKind(has_fractions=True), Weight.COMPUTES),
        ("aten::sum", False, AnswerKind(has_fractions=True), Weight.ASSISTS),
        ("aten::floor_divide", True, AnswerKind(has_fractions=True), Weight.ADDRESSES),
        ("aten::floor_divide", True, AnswerKind(), Weight.COMPUTES),
        ("aten::bincount", True, AnswerKind(has_fractions=True), Weight.ADDRESSES),
        ("aten::bincount", True, AnswerKind(), Weight.COMPUTES),
        ("aten::flip", False, AnswerKind(has_fractions=True), Weight.ASSISTS),
        ("aten::flip", False, AnswerKind(has_fractions=True, is_rearrangement=True), Weight.COMPUTES),
    ],
)
def test_weight_depends_on_the_kind_of_answer(
    operator: str, answer: AnswerKind, weight: Weight, *, integers: bool
) -> None:
    assert weight_of(Given(storage=1, operator=operator, integers=integers), answer) is weight


def test_origins_are_told_apart_by_operator_and_line() -> None:
    made = Given(storage=1, operator="aten::div", line=57)
    assert origins_of((TABLE, made, TABLE)) == (" (line 8)", "aten::div (line 57)")


def test_constants_of_torch_are_told_from_memory_of_unknown_origin():
    made = Given(storage=1, data=bytes(24), operator="aten::div", line=57)
    recorded = tape(made, TABLE, LAUNCH)
    assert describe_memory(recorded, [made]) == "a constant that torch made: 24 bytes by aten::div (line 57)"
    assert describe_memory(recorded, [made, TABLE]) == (
        "memory of unknown origin: 24 bytes (line 8), and a constant that torch made: 24 bytes by aten::div (line 57)"
    )


def test_memory_of_one_byte_is_singular():
    made = Given(storage=0, data=bytes(1), line=5)
    recorded = msgspec.structs.replace(tape(made), storages=(TapedStorage(bytes=1),))
    assert describe_memory(recorded, [made]) == "memory of unknown origin: 1 byte (line 5)"
