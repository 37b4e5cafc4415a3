"""Reductions and scans by functions of the kernel's own, and arguments of the largest among NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl

from tests.engine.worker.scenarios.launching import scenario


@triton.jit
def larger_of_two(value, index, other_value, other_index):
    is_other = other_value > value
    return tl.where(is_other, other_value, value), tl.where(is_other, other_index, index)


@triton.jit
def first_then_second(slope, start, other_slope, other_start):
    return slope * other_slope, start * other_slope + other_start


@triton.jit
def larger_by_asking(a, b):
    return a if a > b else b


@triton.jit
def find_largest(x, y, rows: tl.constexpr, cols: tl.constexpr):
    at = tl.arange(0, rows)[:, None] * cols + tl.arange(0, cols)[None, :]
    value, index = tl.reduce(
        (tl.load(x + at), tl.broadcast_to(tl.arange(0, cols)[None, :], (rows, cols))), 1, larger_of_two
    )
    tl.store(y + tl.arange(0, rows), value + index)
    of_all, where = tl.reduce((tl.load(x + at), at), None, larger_of_two)
    tl.store(y + rows, of_all + where)
    tl.store(y + rows + 1, tl.max(tl.reduce(tl.load(x + at), 0, larger_by_asking, keep_dims=True)))


@triton.jit
def recur(slopes, starts, y, rows: tl.constexpr, cols: tl.constexpr, backwards: tl.constexpr):
    at = tl.arange(0, rows)[:, None] * cols + tl.arange(0, cols)[None, :]
    _, scan = tl.associative_scan((tl.load(slopes + at), tl.load(starts + at)), 0, first_then_second, reverse=backwards)
    tl.store(y + at, scan)


@scenario
def a_reduction_by_a_function_of_its_own() -> Any:
    y, x = torch.zeros(4), torch.tensor([1.0, 5.0, 2.0, 5.0, 8.0, -1.0, 8.0, 0.0])
    find_largest[(1,)](x, y, rows=2, cols=4)
    return y.tolist()


@scenario
def a_scan_by_a_function_that_does_not_commute() -> Any:
    slopes, starts = torch.arange(16.0).view(8, 2) / 4, torch.arange(16.0).view(8, 2) - 5
    differences: list[float] = []
    for backwards in (False, True):
        y, expected, row = torch.zeros(8, 2), torch.zeros(8, 2), torch.zeros(2)
        for i in reversed(range(8)) if backwards else range(8):
            row = expected[i] = row * slopes[i] + starts[i]
        recur[(1,)](slopes, starts, y, rows=8, cols=2, backwards=backwards)
        differences.append((y - expected).abs().max().item())
    return differences


@triton.jit
def place_largest(x, y, block: "tl.constexpr"):  # noqa: UP037  # as some files quote it
    v = tl.load(x + tl.arange(0, block))
    tl.store(y, tl.argmax(v, 0))
    tl.store(y + 1, tl.argmin(v, 0))
    tl.store(y + 2, tl.max(v, 0))


@scenario
def places_of_the_largest_among_nan() -> Any:
    y, reported = torch.zeros(3), []
    for numbers in ([1.0, 4.0, 3.0, 2.0], [np.nan] * 4):
        place_largest[(1,)](torch.tensor(numbers), y, block=4)
        reported.append([*y.tolist()[:2], str(y[2].item())])
    return reported
