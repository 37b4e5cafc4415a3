"""Which texts of lowered kernels are found again."""

from __future__ import annotations

from typing import Any

import pytest
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend

from engine.compiler.kept_texts import KeptTexts
from engine.loading import warm_kernel
from engine.loading.lowering import LoweredText

TARGET = GPUTarget("cuda", 90, 32)
TEXT = LoweredText(made="made", ttir='module loc("/tmp/a.py":1:2)')
CONSTANTS = warm_kernel.CONSTANTS


def source(
    *, signature: dict[str, Any] = warm_kernel.SIGNATURE, constants: Any = CONSTANTS, attributes: Any = None
) -> ASTSource:
    return ASTSource(warm_kernel.copy, signature, constants, attributes or {})


def options(**chosen: Any) -> Any:
    return make_backend(TARGET).parse_options(chosen)


@pytest.fixture
def kept_texts() -> KeptTexts:
    kept_texts = KeptTexts()
    kept_texts.keep(source(attributes={(0,): [["tt.divisibility", 16]]}), TARGET, options(), TEXT)
    return kept_texts


def test_text_is_found_by_an_equal_source(kept_texts: KeptTexts) -> None:
    found = kept_texts.find(source(attributes={(0,): [["tt.divisibility", 16]]}), TARGET, options())
    assert found is not None
    assert found.text == TEXT


def test_empty_attributes_and_wrapped_constants_make_no_difference(kept_texts: KeptTexts) -> None:
    wrapped = {path: tl.constexpr(value) for path, value in CONSTANTS.items()}
    described = source(constants=wrapped, attributes={(0,): [["tt.divisibility", 16]], (1,): []})
    assert kept_texts.find(described, TARGET, options()) is not None


def test_digest_is_that_of_the_text_without_folders(kept_texts: KeptTexts) -> None:
    elsewhere = LoweredText(made="made", ttir='module loc("/home/a.py":1:2)')
    kept_texts.keep(source(), TARGET, options(), elsewhere)
    digests = [
        found.digest
        for attributes in ({}, {(0,): [["tt.divisibility", 16]]})
        if (found := kept_texts.find(source(attributes=attributes), TARGET, options())) is not None
    ]
    assert len(digests) == 2
    assert digests[0] == digests[1]


@pytest.mark.parametrize(
    ("made", "target", "chosen"),
    [
        (source(), TARGET, {}),
        (source(attributes={(1,): [["tt.divisibility", 16]]}), TARGET, {}),
        (source(constants={path: float(value) for path, value in CONSTANTS.items()}), TARGET, {}),
        (source(constants={path: value + 1 for path, value in CONSTANTS.items()}), TARGET, {}),
        (source(signature={**warm_kernel.SIGNATURE, next(iter(warm_kernel.SIGNATURE)): "*fp64"}), TARGET, {}),
        (source(attributes={(0,): [["tt.divisibility", 16]]}), GPUTarget("cuda", 80, 32), {}),
        (source(attributes={(0,): [["tt.divisibility", 16]]}), TARGET, {"num_warps": 8}),
    ],
    ids=["no attributes", "other attributes", "another type", "another constant", "signature", "target", "options"],
)
def test_text_of_another_kernel_is_not_found(kept_texts: KeptTexts, made: ASTSource, target: Any, chosen: Any) -> None:
    assert kept_texts.find(made, target, options(**chosen)) is None


def test_only_the_last_texts_are_kept() -> None:
    kept_texts = KeptTexts()
    constants = [{path: value + number for path, value in CONSTANTS.items()} for number in range(9)]
    for one in constants:
        kept_texts.keep(source(constants=one), TARGET, options(), TEXT)
    found = [kept_texts.find(source(constants=one), TARGET, options()) is not None for one in constants]
    assert found == [False, *[True] * 8]


def test_very_long_text_is_not_kept() -> None:
    kept_texts = KeptTexts()
    kept_texts.keep(source(), TARGET, options(), LoweredText(made="m" * (1 << 20), ttir="t"))
    assert kept_texts.find(source(), TARGET, options()) is None
