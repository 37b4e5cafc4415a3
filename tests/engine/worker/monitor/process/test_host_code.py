"""Python that a kernel calls is told, and nothing of what Triton compiles."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from engine.protocol.monitoring import ActionKind
from engine.worker.monitor.process.host_code import HostCode

# What stands here is a kernel's, and is never run.

WIDTH = tl.constexpr(4)


def helper(x: Any) -> Any:
    return x


class Caller:
    def __call__(self, x: Any) -> Any:
        return x

    def method(self, x: Any) -> Any:
        return x


CALLER = Caller()
BOUND = CALLER.method
PARTIAL = functools.partial(helper, 1)
TABLE = np.zeros(4)
NUMBERS = [1.0, 2.0]


class Doer:
    def __new__(cls, x: Any) -> Any:
        return x


class Holder:
    pass


class Claiming:
    def __call__(self, x: Any) -> Any:
        return x


HOLDER = Holder()
CLAIMING = Claiming()
Claiming.__module__ = "triton.language.core"


def claiming(x: Any) -> Any:
    return x


claiming.__module__ = "math"


class Shape(NamedTuple):
    rows: int


@triton.jit
def inner(x):  # type: ignore[no-untyped-def]
    return tl.exp(x)


inner.numbers = [1.0, 2.0]


@triton.jit
def outer(x):  # type: ignore[no-untyped-def]
    return helper(inner(x))


def reported(kernel: Callable[..., Any]) -> list[str]:
    host_code = HostCode()
    host_code.look(kernel)
    host_code.look(kernel)
    assert {action.kind for action in host_code.seen()} <= {ActionKind.HOST_CODE}
    return [action.detail for action in host_code.seen()]


def in_a_closure() -> Callable[..., Any]:
    helping = helper

    def kernel(x: Any) -> Any:
        return helping(x)

    return kernel


@pytest.mark.parametrize(
    ("kernel", "names"),
    [
        (lambda x: helper(x), ["helper"]),
        (lambda x: CALLER(x), ["CALLER"]),
        (lambda x: CALLER.method(x), ["CALLER", "CALLER.method"]),
        (lambda x: BOUND(x), ["BOUND"]),
        (lambda x: PARTIAL(x), ["PARTIAL"]),
        (lambda x: np.exp(x), ["np.exp"]),
        (lambda x: torch.softmax(x, 0), ["torch.softmax"]),
        (lambda x: operator.add(x, x), ["operator.add"]),
        (lambda x: tl.load(x).handle.data.sort(), ["handle"]),
        (in_a_closure(), ["helping"]),
        (lambda x: outer(x), ["helper"]),
        (lambda x: [helper(one) for one in (x,)], ["helper"]),
        (lambda x: getattr(getattr(x, "handle"), "data"), ["getattr"]),  # noqa: B009  # what is tested
        (lambda x: vars(x), ["vars"]),
        (lambda x: x.__dict__["handle"], ["__dict__"]),
        (lambda x: x.to.__func__, ["to.__func__"]),
        (lambda x: x + TABLE, ["TABLE"]),
        (lambda x: x * NUMBERS[0], ["NUMBERS"]),
        (lambda x: Doer(x), ["Doer"]),
        (lambda x: x * HOLDER.numbers[0], ["HOLDER"]),
        (lambda x: x * inner.numbers[0], ["inner.numbers"]),
        (lambda x: claiming(x), ["claiming"]),
        (lambda x: CLAIMING(x), ["CLAIMING"]),
        (lambda x: operator.attrgetter("handle")(x), ["operator.attrgetter"]),
    ],
)
def test_python_is_reported(kernel: Callable[..., Any], names: list[str]) -> None:
    assert reported(kernel) == names


@pytest.mark.parametrize(
    "kernel",
    [
        lambda x: tl.sum(tl.load(x) * WIDTH + tl.sigmoid(x), 0).to(tl.float32),
        lambda x: inner(x) + tl.math.exp(x) + tl.extra.cuda.libdevice.tanh(x),
        lambda x: min(max(x, 0), int(x)) + len((x, x)) + float("inf"),
        lambda x: math.pi * math.ceil(x) + torch.iinfo(torch.int32).max,
        lambda x: isinstance(x, tl.tensor) and x.sum(0) and triton.cdiv(x, 2),
        lambda x: print(x) or range(x) or tl.static_range(x),
        lambda x: getattr(tl, "exp")(x),  # noqa: B009  # what is tested
        lambda x: [inner(one) for one in (x, Shape(x).rows)],
    ],
)
def test_code_compiled_by_triton_is_not_reported(kernel: Callable[..., Any]) -> None:
    assert reported(kernel) == []


def test_launch_arguments_are_inspected() -> None:
    host_code = HostCode()
    given = {"x": torch.ones(1), "n": 4, "KIND": tl.float32, "of": inner, "WIDTH": WIDTH, "table": TABLE, "OF": helper}
    host_code.look(lambda x: x, given)
    assert [action.detail for action in host_code.seen()] == ["table", "OF"]


def test_kernel_constants_are_reported_once_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    host_code = HostCode()
    names = {"WIDTH": WIDTH, "tl": tl, "inner": inner, "several": (1.0, 2.0)}
    kernel = FunctionType((lambda x: tl.load(x) * WIDTH + inner(several[0])).__code__, names)  # type: ignore[name-defined]  # noqa: F821
    assert host_code.look(kernel) == ()
    assert host_code.look(kernel) == ()
    names["several"] = (3.0, 4.0)
    assert host_code.look(kernel) == (WIDTH, (3.0, 4.0))
    assert host_code.seen() == ()
    names["inner"] = helper
    host_code.look(kernel)
    assert [action.detail for action in host_code.seen()] == ["inner"]


def test_attribute_is_read_without_calling_its_owner() -> None:
    assert reported(lambda x: BUSY.anything(x)) == ["BUSY"]


class Busy:
    def __getattr__(self, name: str) -> Any:
        raise AssertionError("it was asked")


BUSY = Busy()


def test_the_line_is_that_of_the_call() -> None:
    host_code = HostCode()
    host_code.look(helper_in_its_second_line)
    (action,) = host_code.seen()
    assert action.line == helper_in_its_second_line.__code__.co_firstlineno + 2


def helper_in_its_second_line(x: Any) -> Any:
    x = x + 1
    return helper(x)
