"""Control flow, reductions, scans and shapes of real kernels against torch."""

# ruff: noqa: N803  (constexpr parameters are upper case in every Triton kernel)

from __future__ import annotations

import torch
import triton
import triton.language as tl

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


def test_programs_that_diverge_compute_their_own():
    out = torch.full((16,), -1, dtype=torch.int32)
    with launching():
        diverge[(16,)](out, 5)
    expected = [sum(range(p)) if p % 2 == 0 else -(-3 * p // 2) * 2 for p in range(16)]
    expected[5] = -1
    assert out.tolist() == expected


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
