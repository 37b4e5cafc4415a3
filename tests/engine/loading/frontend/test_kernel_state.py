"""The state of a kernel is one for all processes in which the frontend reads the same, and another one otherwise."""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from typing import Any

import pytest
import triton
import triton.language as tl
from triton.runtime.jit import JITFunction

from engine.loading.frontend.kernel_state import state_of

FACTOR = tl.constexpr(2)
table = types.ModuleType("table")
table.factor = tl.constexpr(2)  # type: ignore[attr-defined]  # as a module of a candidate has


@triton.jit
def doubled(x):
    return x * FACTOR


@triton.jit
def tripled(x):
    return x * 3


scaled = doubled


@triton.jit
def scaling(x, y, n, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    value = tl.load(x + at, mask=at < n).to(tl.float32) * table.factor + math.pi
    tl.store(y + at, scaled(tl.exp(value)), mask=at < n)


@triton.jit
def reading_an_object(x):
    tl.store(x, FACTOR + len(unknown))


unknown = object()


def state(kernel: Any = scaling, constant: object = 16) -> str:
    return state_of(types.SimpleNamespace(fn=kernel, constants={(3,): constant}))


def test_state_is_the_same_digest_each_time() -> None:
    assert len(state()) == 64
    assert state() == state()


@pytest.mark.parametrize(
    "change",
    [
        lambda patch: patch.setitem(globals(), "scaled", tripled),
        lambda patch: patch.setitem(globals(), "FACTOR", tl.constexpr(3)),
        lambda patch: patch.setattr(table, "factor", tl.constexpr(3)),
        lambda patch: patch.setattr(math, "pi", 3.0),
        lambda patch: patch.setattr(doubled, "_src", doubled._src.replace("*", "+")),
        lambda patch: patch.setattr(tl, "exp", tripled),
    ],
    ids=["function", "constant", "attribute", "number", "text", "language"],
)
def test_state_changes_with_what_the_frontend_reads(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[pytest.MonkeyPatch], None]
) -> None:
    before = state()
    scaling.cache_key  # noqa: B018 - Triton keeps its own hash from here on
    change(monkeypatch)
    assert state() not in ("", before)


def test_function_that_is_a_constant_belongs_to_the_state() -> None:
    assert len({state(), state(constant=doubled), state(constant=tripled)}) == 3


def test_name_with_an_object_has_no_state() -> None:
    assert state(reading_an_object) == ""


def test_kernel_with_a_method_of_its_own_has_no_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vars(doubled), "parse", tripled.parse)
    assert state() == ""


def test_kernel_of_another_class_has_no_state(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other(JITFunction):  # type: ignore[misc,type-arg]  # of Triton, which is not typed
        pass

    monkeypatch.setitem(globals(), "scaled", Other(tripled.fn))
    assert state() == ""


def test_recursive_function_has_a_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "FACTOR", doubled)
    assert len(state()) == 64
