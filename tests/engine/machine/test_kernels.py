"""Control flow, reductions, scans and shapes of real kernels against torch."""

# ruff: noqa: N803  (constexpr parameters are upper case in every Triton kernel)

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

from engine.machine.results import FindingKind
from tests.engine.machine.launching import launching


@triton.jit
def diverge(out_ptr, n):
    pid = tl.program_id(0)
    total = 0
    if pid % 2 == 0:
        for step in range(pid):
            total += step
    else:
        while total < pid * 3:
            total += 2
    if pid == n:
        return
    tl.store(out_ptr + pid, total)


@triton.jit
def reduce_rows(x_ptr, best_ptr, place_ptr, prefix_ptr, swapped_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, N)
    x = tl.load(x_ptr + row * N + lanes)
    best, place = tl.max(x, axis=0, return_indices=True)
    tl.store(best_ptr + row, best)
    tl.store(place_ptr + row, place)
    tl.store(prefix_ptr + row * N + lanes, tl.cumsum(x, axis=0, reverse=True))
    even, odd = tl.split(tl.reshape(x, (N // 2, 2)))
    tl.store(swapped_ptr + row * N + lanes, tl.reshape(tl.join(odd, even), (N,)))


@triton.jit
def least_of_blocks(x_ptr, y_ptr, N: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [2, N], [N, 1], [1, N])
    y = tl.make_tensor_descriptor(y_ptr, [1, N], [N, 1], [1, N])
    y.atomic_min([0, 0], x.load([tl.program_id(0), 0]))


def test_reduction_of_descriptor_compares_by_its_sign():
    numbers = [[1, -1, 7, -9], [2, 3, -5, -8]]
    for dtype, least in ((torch.int32, [1, -1, -5, -9]), (torch.uint32, [1, 3, 7, -9])):
        x = torch.tensor(numbers, dtype=torch.int32).view(dtype)
        y = torch.tensor([[5, 5, 9, -1]], dtype=torch.int32).view(dtype)
        with launching():
            least_of_blocks[(2,)](x, y, N=4)
        assert y.view(torch.int32).tolist() == [least]


@triton.jit
def in_any_order(x_ptr, y_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(y_ptr + tl.arange(0, 2 * N), tl.cat(x, x + N, can_reorder=True))


def test_blocks_of_cat_are_not_in_their_order():
    x, y = torch.arange(8, dtype=torch.int32), torch.zeros(16, dtype=torch.int32)
    with launching():
        in_any_order[(1,)](x, y, N=8)
    assert y.tolist() == [*range(8, 16), *range(8)]


NONE = 0x7E7E7E7E  # the bytes of no element


@triton.jit
def gather_from(x_ptr, y_ptr, first, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(y_ptr + lanes, tl.gather(tl.load(x_ptr + lanes), lanes + first, 0))


@pytest.mark.parametrize(("first", "expected"), [(0, [5, 6, 7, 8]), (2, [7, 8, NONE, NONE]), (-1, [NONE, 5, 6, 7])])
def test_gather_outside_of_its_source_gives_no_element(first: int, expected: list[int]):
    x, y = torch.tensor([5, 6, 7, 8], dtype=torch.int32), torch.zeros(4, dtype=torch.int32)
    with launching():
        gather_from[(1,)](x, y, first, N=4)
    assert y.tolist() == expected


@triton.jit
def first_row(x_ptr, y_ptr, rows, cols, N: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [rows, cols], [cols, 1], [1, N])
    tl.store(y_ptr + tl.arange(0, N), tl.reshape(x.load([0, 0]), (N,)))


@pytest.mark.parametrize(
    ("rows", "cols", "offset", "details"),
    [
        (2, 8, 0, []),
        (2, 6, 0, ["the stride of dimension 0 is 24 bytes, not a multiple of 16"]),
        (1, 6, 0, []),
        (2, 8, 2, ["its base is at byte 8 behind a multiple of 16"]),
        (2, 6, 4, ["the stride of dimension 0 is 24 bytes, not a multiple of 16"]),
    ],
    ids=["aligned", "stride", "one row", "base", "stride behind an aligned base"],
)
def test_descriptor_needs_aligned_base_and_strides(rows: int, cols: int, offset: int, details: list[str]):
    x = torch.arange(24, dtype=torch.float32)
    y = torch.zeros(4)
    with launching() as launched:
        first_row[(2,)](x[offset:], y, rows, cols, N=4)
    assert y.tolist() == x[offset : offset + 4].tolist()
    found = [finding for finding in launched.executions[0].findings if finding.kind is FindingKind.MISALIGNED]
    assert [(finding.detail, finding.count) for finding in found] == [(detail, 2) for detail in details]


def test_programs_that_diverge_compute_their_own():
    out = torch.full((16,), -1, dtype=torch.int32)
    with launching():
        diverge[(16,)](out, 5)
    expected = [sum(range(p)) if p % 2 == 0 else -(-3 * p // 2) * 2 for p in range(16)]
    expected[5] = -1
    assert out.tolist() == expected


@triton.jit
def shrink(x, bound):
    if x > bound:
        return x - bound
    if x < -bound:
        return x + bound
    steps = x * 0
    while steps < x:
        steps += 1
    return steps


@triton.jit
def swap_pair(a, b):
    return b, a + tl.program_id(0)


@triton.jit
def map_scalars(x_ptr, shrunk_ptr, swapped_ptr, bound, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(x_ptr + at)
    tl.store(shrunk_ptr + at, tl.map_elementwise(shrink, x, bound + tl.program_id(0)))
    tl.store(swapped_ptr + at, tl.map_elementwise(swap_pair, x, pack=2)[0])


def test_function_of_scalars_branches_for_each_element():
    x = torch.randint(-9, 9, (3, 16), generator=torch.Generator().manual_seed(0)).float()
    shrunk, swapped = torch.empty_like(x), torch.empty_like(x)
    with launching():
        map_scalars[(3,)](x, shrunk, swapped, 2, N=16)
    rows = torch.arange(3).view(3, 1)
    near = x.abs() <= 2 + rows
    assert torch.equal(shrunk, torch.where(near, x.clamp(min=0), x - torch.sign(x) * (2 + rows)))
    pairs = x.view(3, 8, 2)
    expected = torch.stack([pairs[..., 1], pairs[..., 0] + rows], dim=-1).view(3, 16)
    assert torch.equal(swapped, expected)


@triton.jit
def later_of_equals(x_a, i_a, x_b, i_b):
    return tl.where(x_a >= x_b, x_a, x_b), tl.where(x_a >= x_b, i_a, i_b)


@triton.jit
def place_of_largest(x_ptr, place_ptr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    _, place = tl.reduce((tl.load(x_ptr + lanes), lanes), 0, later_of_equals)
    tl.store(place_ptr, place)


def test_reduction_combines_lanes_in_order_of_hardware():
    place = torch.empty(1, dtype=torch.int32)
    with launching():
        place_of_largest[(1,)](torch.tensor([0.0, 1.0, 1.0, 0.0]), place, N=4)
    assert place.tolist() == [2]


def test_reductions_scans_and_shapes_equal_torch():
    x = torch.randint(0, 5, (7, 64), generator=torch.Generator().manual_seed(0)).float()
    best, place = torch.empty(7), torch.empty(7, dtype=torch.int32)
    prefix, swapped = torch.empty_like(x), torch.empty_like(x)
    with launching():
        reduce_rows[(7,)](x, best, place, prefix, swapped, N=64)
    assert best.tolist() == x.max(1).values.tolist()
    assert place.tolist() == [row.index(max(row)) for row in x.tolist()]
    assert prefix.tolist() == x.flip(1).cumsum(1).flip(1).tolist()
    assert swapped.tolist() == x.reshape(7, 32, 2).flip(2).reshape(7, 64).tolist()
