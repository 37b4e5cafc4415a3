"""Arguments of a launch become the bytes that its binary takes, or are refused."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from engine.errors import UnsupportedError
from engine.machine.ir import Function
from engine.machine.reader import read_module
from engine.protocol.messages import FloatSpec
from engine.protocol.proof.tape import TapedDescriptor, TapedNumber, TapedValue, TapedView
from engine.replay.device.parameters import packed
from tests.engine.compiler.test_ttir import MIXED
from tests.engine.replay.tapes import vector

MIXED_FUNCTION = read_module(MIXED).kernel
ALIGNED = read_module(MIXED.replace("%y: !tt.ptr<f32>,", "%y: !tt.ptr<f32> {tt.divisibility = 16 : i32},")).kernel
SIZES = (8, 4, 8, 1, 1, 2, 8)
VALUES: tuple[TapedValue, ...] = (
    vector(0), FloatSpec(hex=1.5.hex()), FloatSpec(hex=0.1.hex()), TapedNumber(value=True), TapedNumber(value=-1),
    TapedNumber(value=-2), TapedNumber(value=1 << 40),
)  # fmt: skip


def at(address: int):
    return lambda view: address + view.offset_bytes


def packing(
    function: Function, values: tuple[TapedValue, ...], address_of: Callable[[TapedView], int], sizes: tuple[int, ...]
) -> list[bytes]:
    return packed(function, values, address_of, sizes, map_of=lambda *_: b"")


def test_arguments_are_packed_by_their_types() -> None:
    found = packing(MIXED_FUNCTION, VALUES, at(0x7000), SIZES)
    assert b"".join(found) == struct.pack("<Qfd?bhq", 0x7000, 1.5, 0.1, True, -1, -2, 1 << 40)


def test_numbers_beyond_a_float_are_infinite() -> None:
    values = (VALUES[0], FloatSpec(hex=(1e300).hex()), *VALUES[2:])
    assert packing(MIXED_FUNCTION, values, at(0), SIZES)[1] == struct.pack("<f", float("inf"))


@pytest.mark.parametrize(("address", "fits"), [(0x7000, True), (0x7008, False)])
def test_addresses_have_the_divisibility_of_their_specialisation(address: int, fits: bool) -> None:
    if fits:
        assert packing(ALIGNED, VALUES, at(address), SIZES)
        return
    with pytest.raises(UnsupportedError, match="is not divisible by 16"):
        packing(ALIGNED, VALUES, at(address), SIZES)


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (0, TapedNumber(value=1), "a number of another type"),
        (1, vector(0), "a tensor of another type"),
        (1, TapedNumber(value=1), "a number of another type than f32"),
        (6, FloatSpec(hex="0x1p0"), "a number of another type than i64"),
        (6, FloatSpec(hex="no number"), "the number 'no number'"),
        (0, TapedDescriptor(base=vector(0), shape=(6,), strides=(1,)), "a tensor descriptor for a parameter"),
    ],
)
def test_arguments_of_another_type_are_refused(place: int, value: TapedValue, words: str) -> None:
    values = (*VALUES[:place], value, *VALUES[place + 1 :])
    with pytest.raises(UnsupportedError, match=words):
        packing(MIXED_FUNCTION, values, at(0), SIZES)


def test_a_binary_with_other_parameters_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="takes other parameters than its TTIR"):
        packing(MIXED_FUNCTION, VALUES, at(0), (8, 8, *SIZES[2:]))


def test_a_launch_with_too_few_arguments_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="takes 7 arguments, not 6"):
        packing(MIXED_FUNCTION, VALUES[:6], at(0), SIZES)
