"""What is noted of a launch: types, constants, what Triton would specialise on, and each only once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

from engine.loading import generated
from engine.model import Launch, Traffic
from engine.protocol.launches import MOST_LAUNCHES
from engine.worker.launches.records import LaunchLog, bound_arguments, describe

Function = Callable[..., Any]


def kernel(x, n, scale=1.0, block: tl.constexpr = 64, act: tl.constexpr = None):
    """Stands for the Python function of a kernel."""


@triton.jit
def helper(x):
    return x


def record(
    book: LaunchLog, function: Function, args: Sequence[Any], kwargs: Mapping[str, Any], grid: Sequence[Any]
) -> None:
    """Note a launch with these arguments."""
    values = bound_arguments(function, args, kwargs)
    book.add(describe(function, values, kwargs, tuple(int(size) for size in grid)))


def launch(*args: Any, grid: tuple[Any, ...] = (1,), function: Function = kernel, **kwargs: Any) -> Launch:
    book = LaunchLog()
    record(book, function, args, kwargs, grid)
    [noted] = book.take_unreported()
    return noted


ALIGNED = torch.zeros(64)


def test_launch_record_suffices_to_compile_again() -> None:
    noted = launch(ALIGNED, 5, grid=(3, torch.tensor(2)), num_warps=8, num_stages=2, maxnreg=128)
    assert noted == Launch(
        kernel="kernel",
        signature={"x": "*fp32", "n": "i32", "scale": "fp32", "block": "constexpr", "act": "constexpr"},
        constants={"block": "64", "act": "None"},
        divisible_by_16=("x",),
        num_warps=8,
        num_stages=2,
        grid=(3, 2),
        line=kernel.__code__.co_firstlineno,
        count=1,
        options={"maxnreg": "128"},
    )


def test_tuple_elements_are_recorded_by_position() -> None:
    noted = launch(ALIGNED, (1, 32, (ALIGNED[2:], None)))
    assert noted.signature["n"] == "('constexpr', 'i32', ('*fp32', 'constexpr'))"
    assert noted.constants == {"n.0": "1", "n.2.1": "None", "block": "64", "act": "None"}
    assert noted.divisible_by_16 == ("x", "n.1")


@pytest.mark.parametrize(
    ("value", "kind", "constant", "divisible"),
    [
        (1, "i32", "1", False),
        (2, "i32", None, False),
        (16, "i32", None, True),
        (0, "i32", None, True),
        (8, "i32", None, False),
        (ALIGNED[2:], "*fp32", None, False),
        (-32, "i32", None, True),
        (2**31, "i64", None, True),
        (2**63 + 1, "u64", None, False),
        (1.0, "fp32", None, False),
        (16.0, "fp32", None, False),
        (True, "u1", None, False),
        (None, "constexpr", "None", False),
        (ALIGNED, "*fp32", None, True),
        (ALIGNED[1:], "*fp32", None, False),
        (ALIGNED[4:], "*fp32", None, True),
        (torch.zeros(4, dtype=torch.bool), "*u1", None, True),
        (torch.zeros(4, dtype=torch.float16), "*fp16", None, True),
        (torch.zeros(4, dtype=torch.uint8), "*u8", None, True),
    ],
    ids=lambda value: str(value) if not isinstance(value, torch.Tensor) else f"{value.dtype}+{value.storage_offset()}",
)
def test_argument_is_recorded_with_tritons_specialisation(
    value: Any, kind: str, constant: str | None, divisible: bool
) -> None:
    noted = launch(ALIGNED[1:], value)
    assert (noted.signature["n"], noted.constants.get("n"), "n" in noted.divisible_by_16) == (kind, constant, divisible)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (128, "128"), (True, "True"), (0.5, "0.5"), (float("-inf"), "-inf"), ("sum[x]", "'sum[x]'"), (None, "None"),
        ((1, 2), "(1, 2)"), (tl.float32, "tl.float32"), (tl.bfloat16, "tl.bfloat16"), (tl.int64, "tl.int64"),
        (tl.uint8, "tl.uint8"), (tl.float8e4nv, "tl.float8e4nv"), (tl.constexpr(7), "7"),
        (tl.constexpr(tl.float16), "tl.float16"), (helper, "@helper:25"),
    ],
)  # fmt: skip
def test_constant_is_recorded_as_readable_text(value: Any, text: str) -> None:
    assert launch(ALIGNED, 2, act=value).constants["act"] == text


def test_the_same_specialisation_is_reported_once_and_counted() -> None:
    book = LaunchLog()
    for n in (3, 5, 7):
        record(book, kernel, (ALIGNED, n), {}, (n,))
    [noted] = book.take_unreported()
    assert (noted.count, noted.grid) == (3, (3,))
    assert book.take_unreported() == ()
    record(book, kernel, (ALIGNED, 9), {}, (1,))
    assert book.take_unreported() == ()


def test_traffic_is_wanted_until_a_launch_has_it() -> None:
    book = LaunchLog()
    described = launch(ALIGNED, 3)
    wanted = []
    for traffic in (None, Traffic(programs=1, accesses=(), operations={}), None):
        wanted.append(not book.has_traffic(described))
        book.add(described, traffic=traffic)
    assert wanted == [True, True, False]
    assert not book.has_traffic(launch(ALIGNED, 16))


def test_grid_along_another_axis_is_reported_again() -> None:
    book = LaunchLog()
    for grid in ((1, 1), (1, 4), (1, 7), (2, 1), (2, 4)):
        record(book, kernel, (ALIGNED, 3), {}, grid)
    assert [(noted.grid, noted.count) for noted in book.take_unreported()] == [((2, 1), 5)]
    record(book, kernel, (ALIGNED, 3), {}, (2, 4, 8))
    assert [noted.grid for noted in book.take_unreported()] == [(2, 4, 8)]


@pytest.mark.parametrize(
    "again",
    [
        ((ALIGNED, 16), {}),
        ((ALIGNED, 1), {}),
        ((ALIGNED[1:], 3), {}),
        ((ALIGNED, 2**40), {}),
        ((ALIGNED.to(torch.float16), 3), {}),
        ((ALIGNED, 3), {"block": 128}),
        ((ALIGNED, 3), {"num_warps": 8}),
        ((ALIGNED, 3), {"num_stages": 1}),
        ((ALIGNED, 3), {"maxnreg": 64}),
        ((ALIGNED, 3), {"act": helper}),
        ((ALIGNED, None), {}),
    ],
    ids=str,
)
def test_another_specialisation_is_reported_again(again: tuple[tuple[Any, ...], dict[str, Any]]) -> None:
    book = LaunchLog()
    record(book, kernel, (ALIGNED, 3), {}, (1,))
    record(book, kernel, again[0], again[1], (1,))
    assert len(book.take_unreported()) == 2


def test_launches_are_reported_by_first_time() -> None:
    book = LaunchLog()
    for block in (1, 2, 1, 3):
        record(book, kernel, (ALIGNED, 3), {"block": block}, (1,))
    assert [noted.constants["block"] for noted in book.take_unreported()] == ["1", "2", "3"]


def test_arguments_are_bound_by_name_without_options() -> None:
    assert bound_arguments(kernel, (ALIGNED,), {"n": 3, "num_warps": 4}) == {
        "x": ALIGNED,
        "n": 3,
        "scale": 1.0,
        "block": 64,
        "act": None,
    }


def test_launches_beyond_reply_size_follow_in_next() -> None:
    book = LaunchLog()
    for block in range(MOST_LAUNCHES + 2):
        record(book, kernel, (ALIGNED, 5), {"block": block}, (1,))
    reported = [[launch.constants["block"] for launch in book.take_unreported()] for _ in range(3)]
    assert reported == [[str(block) for block in range(MOST_LAUNCHES)], ["512", "513"], []]


def test_generated_sources_beyond_reply_size_follow_in_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generated, "source_of", lambda function: "#" * (1 << 16))

    def written(x, block: tl.constexpr):
        """A kernel whose file the candidate wrote."""

    book = LaunchLog()
    for block in range(33):
        record(book, written, (ALIGNED, block), {}, (1,))
    assert [len(book.take_unreported()) for _ in range(3)] == [32, 1, 0]
