"""Accesses in and out of bounds: past the end, before the start, through masks, views and empty tensors."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from tests.engine.worker.scenarios.launching import scenario


@triton.jit
def copy(x, y, n, first, block: tl.constexpr, masked: tl.constexpr):
    at = first + tl.program_id(0) * block + tl.arange(0, block)
    if masked:
        tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)
    else:
        values = tl.load(x + at)  # LINE load
        tl.store(y + at, values)  # LINE store


@triton.jit
def leap(x, y, far, block: tl.constexpr):
    at = tl.arange(0, block)
    tl.store(y + at, tl.load(x + tl.where(at == 3, far, at)))  # LINE leap


@triton.jit
def hooked(x, y, n, block: tl.constexpr):
    at = tl.arange(0, block)
    tl.store(y + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.jit
def copy_if(x, y, n, wanted, block: tl.constexpr):
    at = tl.arange(0, block)
    tl.store(y + at, tl.load(x + at, mask=(at < n) & (wanted > 0)), mask=(at < n) & (tl.load(x) > 0.5))


@triton.jit
def add_atomically(y, first, block: tl.constexpr):
    at = first + tl.arange(0, block)
    tl.atomic_add(y + at, 1.0)  # LINE atomic


@triton.jit
def swap_if(y, first):
    tl.atomic_cas(y + first, 0, 1)  # LINE swap


@triton.jit
def load_in_helper(pointers):
    return tl.load(pointers)  # LINE helper


@triton.jit
def copy_with_helper(x, y, block: tl.constexpr):
    at = tl.arange(0, block)
    tl.store(y + at, load_in_helper(x + at))


@triton.jit
def load_scalar(x, y, i):
    tl.store(y, tl.load(x + i))  # LINE scalar


@triton.jit
def copy_of_two(tensors, n, block: tl.constexpr):
    at = tl.arange(0, block)
    tl.store(tensors[1] + at, tl.load(tensors[0] + at, mask=at < n), mask=at < n)


@scenario
def load_past_the_end() -> Any:
    copy[(1,)](torch.ones(5), torch.zeros(8), 5, 0, block=8, masked=False)


@scenario
def past_the_end_and_near_to_another_tensor() -> Any:
    x, y = torch.ones(4), torch.zeros(4)
    leap[(1,)](x, y, (y.data_ptr() - x.data_ptr()) // 4 + 5, block=4)


@scenario
def hooks_before_two_launches() -> Any:
    before: list[list[float]] = []
    x, y = torch.ones(2), torch.zeros(2)
    hooked.add_pre_run_hook(lambda x, y, n, **options: before.append([*y.tolist(), n, options["block"]]))
    for _ in range(2):
        hooked[(1,)](x, y, 2, block=2, num_warps=8)
    return before


@scenario
def load_before_the_start() -> Any:
    copy[(1,)](torch.ones(8), torch.zeros(8), 8, -3, block=8, masked=False)


@scenario
def store_past_the_end() -> Any:
    copy[(2,)](torch.ones(16), torch.zeros(12), 16, 0, block=8, masked=False)


@scenario
def atomic_past_the_end() -> Any:
    add_atomically[(1,)](torch.zeros(4), 2, block=4)


@scenario
def swap_past_the_end() -> Any:
    swap_if[(1,)](torch.zeros(4, dtype=torch.int32), 4)


@scenario
def helper_past_the_end() -> Any:
    copy_with_helper[(1,)](torch.ones(7), torch.zeros(8), block=8)


@scenario
def scalar_past_the_end() -> Any:
    load_scalar[(1,)](torch.ones(2, dtype=torch.float64), torch.zeros(1, dtype=torch.float64), 2)


@scenario
def masked_lanes_may_point_anywhere() -> Any:
    y = torch.zeros(5)
    copy[(1,)](torch.ones(5), y, 5, 0, block=1024, masked=True)
    return y.tolist()


@scenario
def a_condition_on_a_scalar_is_part_of_a_mask() -> Any:
    y = torch.zeros(5)
    copy_if[(1,)](torch.ones(5), y, 3, 2, block=8)
    return y.tolist()


@scenario
def every_lane_masked() -> Any:
    y = torch.zeros(5)
    copy[(1,)](torch.ones(5), y, 0, 0, block=8, masked=True)
    return y.tolist()


@scenario
def a_tensor_without_elements_is_not_accessed() -> Any:
    y = torch.ones(5)
    copy[(1,)](torch.ones(5)[:0], y, 0, 0, block=8, masked=True)
    copy[(1,)](torch.ones(0), y, 0, 0, block=8, masked=True)
    return y.tolist()


@scenario
def a_load_from_a_view_without_elements() -> Any:
    load_scalar[(1,)](torch.ones(5)[2:2], torch.zeros(1), 0)


@scenario
def in_bounds() -> Any:
    y = torch.zeros(8)
    copy[(1,)](torch.arange(8.0), y, 8, 0, block=8, masked=False)
    return y.tolist()


@scenario
def a_view_may_reach_back_into_its_storage() -> Any:
    source, target = torch.arange(16.0), torch.zeros(16)
    copy[(1,)](source[8:], target[8:], 8, -8, block=8, masked=False)
    return target.tolist()


@scenario
def a_view_may_not_reach_out_of_its_storage() -> Any:
    copy[(1,)](torch.arange(16.0)[8:], torch.zeros(32), 8, 4, block=8, masked=False)


@scenario
def the_kernel_after_a_violation_is_judged_by_its_own_tensors() -> Any:
    try:
        load_past_the_end()
    except Exception:
        return in_bounds()


@scenario
def past_the_end_of_a_tensor_in_a_tuple() -> Any:
    copy_of_two[(1,)]((torch.arange(3.0), torch.zeros(4)), 4, block=4)


@scenario
def tensors_in_a_tuple() -> Any:
    y = torch.zeros(3)
    copy_of_two[(1,)]((torch.arange(3.0), y), 3, block=4)
    return y.tolist()
