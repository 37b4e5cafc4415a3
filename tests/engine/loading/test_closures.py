"""Kernels made from the same source text are distinguished by their free variables."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from engine.loading.closures import closure_of


def plain() -> None:
    """A function without a closure."""


def made(value: Any) -> Callable[[], Any]:
    """A function that takes `value` from this one."""

    def kernel() -> Any:
        return value

    return kernel


class constexpr:  # noqa: N801 -- Triton's name
    """A constant as Triton has it."""

    value = 2


LINE = plain.__code__.co_firstlineno


@pytest.mark.parametrize(
    ("function", "closure"),
    [
        (plain, ""),
        (made(2.0), "value=2.0"),
        (made(constexpr()), "value=2"),
        (made(plain), f"value=plain:{LINE}"),
        (made(SimpleNamespace(fn=plain)), f"value=plain:{LINE}"),
        (made(made(3)), f"value=kernel:{made(3).__code__.co_firstlineno}(value=3)"),
        (made(object()), "value=object"),
    ],
    ids=["none", "number", "constant", "function", "kernel", "function with a closure", "other"],
)
def test_closure_names_values_and_functions(function: Callable[..., Any], closure: str) -> None:
    assert closure_of(function) == closure


def test_long_closure_becomes_a_digest() -> None:
    one, other = closure_of(made("x" * 300)), closure_of(made("x" * 299 + "y"))
    assert (len(one), one != other) == (32, True)


def test_function_that_closes_over_itself_ends() -> None:
    def again() -> Any:
        return again

    assert closure_of(again).count("again:") == 4
