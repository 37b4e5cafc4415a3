"""Specialisations that differ in the divisibility of arguments only are lowered once, to the text that each has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend

from engine.loading.frontend import lowering, variants
from engine.loading.frontend.variants import Variants

TARGET = GPUTarget("cuda", 90, 32)
SIGNATURE = {"x": "*fp32", "rows": "i32", "block": "constexpr", "y": "*fp32", "stride": "i64"}
CONSTANTS: dict[tuple[int, ...], Any] = {(2,): 16}
ROWS = 1  # the place of a parameter
DIVISIBLE = (["tt.divisibility", 16],)


@triton.jit
def largest(a, b):
    return tl.where(a > b, a, b)


@triton.jit
def running(x, rows, block: tl.constexpr, y, stride):
    at = tl.arange(0, block)
    highest = tl.zeros((block,), tl.float32)
    for row in range(rows):
        highest = largest(highest, tl.load(tl.multiple_of(x, 16) + row * stride + at, mask=at < stride))
    tl.store(y + at, highest)


@triton.jit
def unknown_name(x, rows, block: tl.constexpr, y, stride):
    tl.store(y, missing)  # type: ignore[name-defined]  # noqa: F821


@triton.jit
def of_pair(rest, y, pair):
    tl.store(y, tl.load(pair[0]) + pair[1])


@triton.jit
def of_descriptor(block, y):
    tl.store(y + tl.arange(0, 16), block.load([0]))


@triton.jit
def store_constant(y, constant: tl.constexpr):
    tl.store(y, 3 if constant == 1 else 4)


def options(**chosen: int) -> object:
    return make_backend(TARGET).parse_options(chosen)


def source(places: Sequence[int], *, constants: dict[tuple[int, ...], Any] | None = None) -> ASTSource:
    """The source of `running` where the parameters at these places are divisible by 16."""
    constants = constants or CONSTANTS
    signature = {**SIGNATURE, **{running.arg_names[place]: "constexpr" for (place,) in constants}}
    return ASTSource(running, signature, constants, {(place,): list(DIVISIBLE) for place in places})


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> list[ASTSource]:
    """The sources that Triton's frontend has lowered since."""
    noted: list[ASTSource] = []

    def noting(lower: Callable[..., Any]) -> Callable[..., Any]:
        def lower_noted(source: ASTSource, *rest: object) -> object:
            noted.append(source)
            return lower(source, *rest)

        return lower_noted

    monkeypatch.setattr(variants, "module_of", noting(lowering.module_of))
    monkeypatch.setattr(variants, "ttir_of", noting(lowering.ttir_of))
    return noted


EVERY = [(), (0,), (0, 3), (1, 4), (0, 1, 3, 4)]


@pytest.mark.parametrize("first", EVERY)
def test_variants_have_the_texts_of_their_own_lowering(first: Sequence[int], lowered: list[ASTSource]) -> None:
    made = Variants()
    for places in (first, *EVERY):
        text = made.ttir_of(source(places), TARGET, options())
        assert text == lowering.ttir_of(source(places), TARGET, options())
        assert text.count("{tt.divisibility = 16 : i32}") == len(places)
    assert len(lowered) == 1


@pytest.mark.parametrize(
    ("other", "chosen"),
    [
        (source((), constants={(2,): 32}), {}),
        (source((), constants={(ROWS,): 1, (2,): 16}), {}),
        (ASTSource(running, {**SIGNATURE, "x": "*fp16"}, CONSTANTS, {}), {}),
        (source(()), {"num_warps": 8}),
    ],
)
def test_other_specialisations_are_lowered(other: ASTSource, chosen: dict[str, int], lowered: list[ASTSource]) -> None:
    made = Variants()
    made.ttir_of(source(()), TARGET, options())
    text = made.ttir_of(other, TARGET, options(**chosen))
    assert text == lowering.ttir_of(other, TARGET, options(**chosen))
    assert len(lowered) == 2


def test_constants_of_equal_text_are_told_apart() -> None:
    made = Variants()
    for constant in (1, "1"):
        stored = ASTSource(store_constant, {"y": "*i32", "constant": "constexpr"}, {(1,): constant}, {})
        assert made.ttir_of(stored, TARGET, options()) == lowering.ttir_of(stored, TARGET, options())


def test_other_attribute_is_kept(lowered: list[ASTSource]) -> None:
    made = Variants()
    made.ttir_of(source((0,)), TARGET, options())
    other = ASTSource(running, SIGNATURE, CONSTANTS, {(0,): [["tt.pointer_range", 32]]})
    assert "tt.pointer_range = 32" in made.ttir_of(other, TARGET, options())
    assert len(lowered) == 2


@pytest.mark.parametrize(
    ("kernel", "signature", "places"),
    [
        (of_pair, {"rest": (), "y": "*fp32", "pair": ("*fp32", "fp32")}, [(), (1,)]),
        (of_pair, {"rest": "i32", "y": "*fp32", "pair": ("*fp32", "fp32")}, [(), (1,), (2, 0)]),
        (of_descriptor, {"block": "tensordesc<fp32[16]>", "y": "*fp32"}, [(), (1,)]),
    ],
    ids=["as many arguments as parameters", "more arguments", "a descriptor"],
)
def test_arguments_without_a_place_of_their_own_are_lowered_each_time(
    kernel: Any, signature: dict[str, Any], places: Sequence[tuple[int, ...]]
) -> None:
    made = Variants()
    for path in places:
        one = ASTSource(kernel, signature, {}, {path: list(DIVISIBLE)} if path else {})
        assert made.ttir_of(one, TARGET, options()) == lowering.ttir_of(one, TARGET, options())


def test_error_of_frontend_is_raised_each_time() -> None:
    made = Variants()
    broken = ASTSource(unknown_name, SIGNATURE, CONSTANTS, {})
    for _ in range(2):
        with pytest.raises(Exception, match="missing"):
            made.ttir_of(broken, TARGET, options())


def test_texts_are_dropped_beyond_the_limit(lowered: list[ASTSource], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variants, "_MOST_KERNELS", 2)
    made = Variants()
    for block in (16, 32, 64, 64, 16):
        made.ttir_of(source((), constants={(2,): block}), TARGET, options())
    assert [one.constants[(2,)] for one in lowered] == [16, 32, 64, 16]
