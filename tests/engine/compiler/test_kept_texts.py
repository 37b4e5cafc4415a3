"""Which texts of lowered kernels are found again."""

from __future__ import annotations

from typing import Any

import pytest
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend

from engine.compiler.kept_texts import KeptTexts
from engine.loading import warm_kernel
from engine.loading.frontend.lowering import LoweredText

TARGET = GPUTarget("cuda", 90, 32)
TEXT = LoweredText(made="made", ttir="module")
DIGEST = "ab" * 32
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
    kept_texts.keep(source(attributes={(0,): [["tt.divisibility", 16]]}), TARGET, options(), TEXT, digest=DIGEST)
    return kept_texts


def test_text_is_found_by_an_equal_source(kept_texts: KeptTexts) -> None:
    equal = source(attributes={(0,): [["tt.divisibility", 16]]})
    assert kept_texts.find(equal, TARGET, options(), digest=DIGEST) == TEXT


def test_empty_attributes_and_wrapped_constants_make_no_difference(kept_texts: KeptTexts) -> None:
    wrapped = {path: tl.constexpr(value) for path, value in CONSTANTS.items()}
    described = source(constants=wrapped, attributes={(0,): [["tt.divisibility", 16]], (1,): []})
    assert kept_texts.find(described, TARGET, options(), digest=DIGEST) == TEXT


def test_text_of_another_digest_is_not_found(kept_texts: KeptTexts) -> None:
    equal = source(attributes={(0,): [["tt.divisibility", 16]]})
    assert kept_texts.find(equal, TARGET, options(), digest="cd" * 32) is None


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
    assert kept_texts.find(made, target, options(**chosen), digest=DIGEST) is None


def test_only_the_last_texts_are_kept() -> None:
    kept_texts = KeptTexts()
    constants = [{path: value + number for path, value in CONSTANTS.items()} for number in range(9)]
    for one in constants:
        kept_texts.keep(source(constants=one), TARGET, options(), TEXT, digest=DIGEST)
    sources = [source(constants=one) for one in constants]
    found = [kept_texts.find(one, TARGET, options(), digest=DIGEST) is not None for one in sources]
    assert found == [False, *[True] * 8]


def test_very_long_text_is_not_kept() -> None:
    kept_texts = KeptTexts()
    kept_texts.keep(source(), TARGET, options(), LoweredText(made="m" * (1 << 20), ttir="t"), digest=DIGEST)
    assert kept_texts.find(source(), TARGET, options(), digest=DIGEST) is None
