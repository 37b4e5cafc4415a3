"""A recorded launch becomes what Triton's compiler wants, or is said not to be captured."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import triton
import triton.language as tl

from engine.compiler.specialise import Specialisation, specialise
from engine.errors import UnsupportedError
from engine.model import Launch


@triton.jit
def helper(x):
    return x


@triton.jit
def kernel(x, n, m, block: tl.constexpr, act: tl.constexpr):
    tl.store(x + n, act(tl.load(x + m)))


@triton.jit(do_not_specialize=["n"], do_not_specialize_on_alignment=["m"])
def careful(x, n, m, block: tl.constexpr, act: tl.constexpr):
    tl.store(x + n, act(tl.load(x + m)))


@triton.jit
def annotated(x, n: tl.int64):
    tl.store(x, n)


LAUNCH = Launch(
    kernel="kernel",
    signature={"x": "*fp32", "n": "i32", "m": "i32", "block": "constexpr", "act": "constexpr"},
    constants={"block": "128", "act": "@helper"},
    divisible_by_16=("x", "m"),
    num_warps=4,
    num_stages=3,
    grid=(1,),
    line=1,
)


def find(name: str) -> Any:
    return {"helper": helper}[name]


def constant(text: str) -> object:
    return specialise(kernel, replace(LAUNCH, constants={"block": text, "act": "None"}), find).constants[(3,)]


def test_types_constants_and_alignment_go_to_their_places() -> None:
    assert specialise(kernel, LAUNCH, find) == Specialisation(
        signature={"x": "*fp32", "n": "i32", "m": "i32", "block": "constexpr", "act": "constexpr"},
        constants={(3,): 128, (4,): helper},
        attributes={(0,): [["tt.divisibility", 16]], (2,): [["tt.divisibility", 16]]},
    )


def test_integer_one_becomes_constant() -> None:
    special = specialise(kernel, replace(LAUNCH, constants={**LAUNCH.constants, "n": "1"}), find)
    assert (special.signature["n"], special.constants[(1,)]) == ("constexpr", 1)


def test_kernel_opting_out_is_not_specialised() -> None:
    launch = replace(LAUNCH, constants={**LAUNCH.constants, "n": "1"}, divisible_by_16=("x", "n", "m"))
    special = specialise(careful, launch, find)
    assert special.signature["n"] == "i32"
    assert set(special.constants) == {(3,), (4,)}
    assert set(special.attributes) == {(0,)}


def test_none_is_constant_without_declaration() -> None:
    launch = replace(
        LAUNCH, signature={**LAUNCH.signature, "m": "constexpr"}, constants={**LAUNCH.constants, "m": "None"}
    )
    special = specialise(kernel, launch, find)
    assert (special.signature["m"], special.constants[(2,)]) == ("constexpr", None)


def test_annotated_type_overrides_recorded_type() -> None:
    launch = replace(LAUNCH, kernel="annotated", signature={"x": "*i64", "n": "i32"}, constants={}, divisible_by_16=())
    assert specialise(annotated, launch, find).signature == {"x": "*i64", "n": "i64"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("128", 128),
        ("True", True),
        ("None", None),
        ("0.5", 0.5),
        ("-inf", float("-inf")),
        ("inf", float("inf")),
        ("'sum'", "sum"),
        ("(1, 2)", (1, 2)),
        ("tl.float32", tl.float32),
        ("tl.float8e4nv", tl.float8e4nv),
        ("@helper", helper),
    ],
)
def test_a_constant_is_read_back(text: str, value: object) -> None:
    assert constant(text) == value


def test_nan_is_read_back() -> None:
    value = constant("nan")
    assert isinstance(value, float)
    assert value != value


@pytest.mark.parametrize("text", ["torch.float32", "<object object at 0x7f>", "(tl.float32,)", "__import__('os')", ""])
def test_a_constant_without_a_literal_is_not_captured(text: str) -> None:
    with pytest.raises(UnsupportedError, match="is not captured: it has no literal"):
        constant(text)


def test_constant_unnamed_by_triton_is_not_captured() -> None:
    with pytest.raises(
        UnsupportedError, match=r"^constant tl\.no_such_type is not captured: this triton does not name"
    ):
        constant("tl.no_such_type")


def test_tuple_elements_go_to_their_positions() -> None:
    launch = replace(
        LAUNCH,
        signature={**LAUNCH.signature, "n": "('constexpr', 'i64', ('*fp16', 'constexpr'))"},
        constants={**LAUNCH.constants, "n.0": "1", "n.2.1": "None"},
        divisible_by_16=("n.1", "n.2.0"),
    )
    special = specialise(kernel, launch, find)
    assert special.signature["n"] == ("constexpr", "i64", ("*fp16", "constexpr"))
    assert special.constants == {(1, 0): 1, (1, 2, 1): None, (3,): 128, (4,): helper}
    assert special.attributes == {(1, 1): [["tt.divisibility", 16]], (1, 2, 0): [["tt.divisibility", 16]]}


def test_named_tuple_signature_keeps_field_names() -> None:
    launch = replace(
        LAUNCH,
        signature={**LAUNCH.signature, "n": "P(rows='constexpr', x=('*fp16',))"},
        constants={**LAUNCH.constants, "n.0": "1"},
        divisible_by_16=("n.1.0",),
    )
    special = specialise(kernel, launch, find)
    assert repr(special.signature["n"]) == "P(rows='constexpr', x=('*fp16',))"
    assert (special.constants[(1, 0)], special.attributes) == (1, {(1, 1, 0): [["tt.divisibility", 16]]})


def test_tuple_of_untyped_values_is_not_captured() -> None:
    launch = replace(LAUNCH, signature={**LAUNCH.signature, "n": "(<object>, 'i32')"})
    with pytest.raises(UnsupportedError, match=r"a tuple of types .* is not captured"):
        specialise(kernel, launch, find)


def test_an_argument_that_was_not_recorded_is_named() -> None:
    with pytest.raises(UnsupportedError, match="argument m of kernel was not recorded"):
        specialise(kernel, replace(LAUNCH, signature={"x": "*fp32", "n": "i32"}), find)
