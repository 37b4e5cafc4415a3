"""Functions of Triton's frontend that a candidate replaces are noticed."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest
import triton.language as tl
from triton.compiler import code_generator
from triton.runtime.jit import JITFunction

from engine.loading.frontend.replaced import FrontendFunctions


def other(*_: object) -> None:
    """What a candidate puts in the place of a function."""


@pytest.mark.parametrize(
    "replace",
    [
        lambda patch: patch.setattr(JITFunction, "parse", other),
        lambda patch: patch.setattr(code_generator, "ast_to_ttir", other),
        lambda patch: patch.setattr(code_generator.CodeGenerator, "visit_If", other),
        lambda patch: patch.setattr(code_generator.ast_to_ttir, "__code__", other.__code__),
        lambda patch: patch.setattr(code_generator.CodeGenerator.visit_If, "__code__", other.__code__),
        lambda patch: patch.setattr(tl, "exp", other),
        lambda patch: patch.setattr(ast, "parse", other),
    ],
    ids=["parse", "lowering", "method", "code", "code of a method", "language", "python's parser"],
)
def test_replaced_function_is_noticed(
    monkeypatch: pytest.MonkeyPatch, replace: Callable[[pytest.MonkeyPatch], None]
) -> None:
    functions = FrontendFunctions()
    assert not functions.are_replaced()
    replace(monkeypatch)
    assert functions.are_replaced()
