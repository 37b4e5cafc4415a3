"""Lanes of one program that exchange data through memory: found if nothing orders their warps."""

# ruff: noqa: N803  (constexpr parameters are upper case in every Triton kernel)

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from engine.machine.conflicts.warps import SCALAR, UNKNOWN, Warps
from engine.machine.results import AccessKind, FindingKind
from tests.engine.machine.launching import launching


@triton.jit
def store_then_load(x_ptr, y_ptr, z_ptr, B: tl.constexpr, DISTANCE: tl.constexpr, BETWEEN: tl.constexpr):
    lane = tl.arange(0, B)
    x = tl.load(x_ptr + lane)
    tl.store(y_ptr + lane, x)
    if BETWEEN == "barrier":
        tl.debug_barrier()
    if BETWEEN == "sum":
        x += tl.sum(x)
    if BETWEEN == "atomic":
        tl.atomic_add(z_ptr, 1.0)
    if BETWEEN == "volatile":
        x += tl.load(z_ptr, volatile=True)
    tl.store(z_ptr + lane, x + tl.load(y_ptr + (lane + DISTANCE) % B))


@triton.jit
def load_then_store(y_ptr, B: tl.constexpr, ADDED: tl.constexpr):
    lane = tl.arange(0, B)
    y = tl.load(y_ptr + lane)
    tl.store(y_ptr + (B - 1 - lane), y + ADDED)


@triton.jit
def loop_over_columns(y_ptr, steps, B: tl.constexpr, BARRIER: tl.constexpr):
    lane = tl.arange(0, B)
    for _ in range(steps):
        y = tl.load(y_ptr + (lane ^ (B // 2)))
        if BARRIER:
            tl.debug_barrier()
        tl.store(y_ptr + lane, y + 1)
        if BARRIER:
            tl.debug_barrier()


@triton.jit
def one_element(y_ptr, z_ptr, B: tl.constexpr, STORES: tl.constexpr, LOADS: tl.constexpr):
    lane = tl.arange(0, B)
    if STORES == "block":
        tl.store(y_ptr + lane, lane + 1.0)
    else:
        tl.store(y_ptr + 2, 5.0)
    if LOADS == "block":
        tl.store(z_ptr + lane, tl.load(y_ptr + lane))
    else:
        tl.store(z_ptr, tl.load(y_ptr + 2))


@triton.jit
def transpose_in_memory(x_ptr, y_ptr, z_ptr, N: tl.constexpr):
    row, column = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    tl.store(y_ptr + row * N + column, tl.load(x_ptr + row * N + column))
    tl.store(z_ptr + row * N + column, tl.load(y_ptr + column * N + row))


@triton.jit
def masked(y_ptr, z_ptr, B: tl.constexpr, FROM: tl.constexpr):
    lane = tl.arange(0, B)
    tl.store(y_ptr + lane, lane + 1.0, mask=lane >= FROM)
    tl.store(z_ptr + lane, tl.load(y_ptr + (lane + B // 2) % B, mask=lane < B // 2, other=0.0))


@triton.jit
def load_halves(y_ptr, z_ptr, B: tl.constexpr):
    lane = tl.arange(0, B)
    tl.store(y_ptr + lane, lane + 1.0)
    halves = y_ptr.to(tl.pointer_type(tl.int16))
    tl.store(z_ptr + lane, tl.load(halves + 2 * ((lane + B // 2) % B) + 1))


@triton.jit
def double_in_place(y_ptr, count, B: tl.constexpr, BEYOND: tl.constexpr):
    lane = tl.arange(0, B)
    if BEYOND == "first":
        at = tl.where(lane < count, lane, 0)
    elif BEYOND == "wrapped":
        at = lane % count
    else:
        at = count - 1 - lane
    tl.store(y_ptr + lane, 2 * tl.load(y_ptr + at, mask=at >= 0), mask=lane < count)


@triton.jit
def store_twice(y_ptr, z_ptr, B: tl.constexpr, ADDED: tl.constexpr):
    lane = tl.arange(0, B)
    tl.store(y_ptr + lane, lane + 1.0)
    tl.debug_barrier()
    tl.store(y_ptr + lane, lane + 1.0 + ADDED)
    tl.store(z_ptr + lane, tl.load(y_ptr + (lane + B // 2) % B))


def numbers(count: int) -> torch.Tensor:
    return torch.arange(1, count + 1, dtype=torch.float32)


def exchanged(*, block: int = 128, distance: int = 64, between: str = "", num_warps: int = 4) -> list[int]:
    """The numbers of elements of each finding of a kernel that stores a block, and loads it turned by `distance`."""
    with launching() as launched:
        store_then_load[(1,)](
            numbers(block), torch.zeros(block), torch.zeros(block), block, distance, between, num_warps=num_warps
        )
    findings = launched.executions[0].findings
    assert {finding.kind for finding in findings} <= {FindingKind.WARP_CONFLICT}
    return [finding.count for finding in findings]


def test_load_of_elements_stored_by_another_warp_is_found():
    with launching() as launched:
        store_then_load[(1,)](numbers(128), torch.zeros(128), torch.zeros(128), 128, 64, "")
    (finding,) = launched.executions[0].findings
    assert (finding.kind, finding.access, finding.element) == (FindingKind.WARP_CONFLICT, AccessKind.LOAD, 64)
    assert (finding.program, finding.other_program, finding.count) == (0, 0, 128)
    assert finding.location is not None
    assert finding.other_location is not None
    assert finding.location.line - finding.other_location.line == 9


@pytest.mark.parametrize("between", ["barrier", "sum", "atomic", "volatile"])
def test_barrier_between_store_and_load_orders_them(between):
    assert exchanged(between=between) == []


def test_one_warp_exchanges_with_no_other():
    assert exchanged(block=64, distance=32, num_warps=1) == []


def test_lanes_of_one_warp_are_not_found():
    assert exchanged(distance=0) == []
    assert exchanged(distance=16) == [64]  # the upper half of each warp is loaded by the warp before


def test_lanes_that_share_a_warp_in_some_layout_are_not_found():
    assert exchanged(block=256, distance=128) == []
    assert exchanged(block=256, distance=64) == [128]


def test_block_with_fewer_elements_than_threads_is_not_checked():
    assert exchanged(block=64, distance=32) == []


@pytest.mark.parametrize(("added", "count"), [(0.5, 128), (0.0, 126)])
def test_store_to_elements_loaded_by_another_warp_is_found(added, count):
    y = numbers(128)
    y[0] = y[127] = 3.0
    with launching() as launched:
        load_then_store[(1,)](y, 128, added)
    (finding,) = launched.executions[0].findings
    assert (finding.kind, finding.access, finding.count) == (FindingKind.WARP_CONFLICT, AccessKind.STORE, count)


def test_store_of_a_block_with_several_elements_for_a_thread_is_not_found():
    with launching() as launched:
        load_then_store[(1,)](numbers(256), 256, 0.5)
    assert launched.executions[0].findings == ()


@pytest.mark.parametrize(("beyond", "found"), [("first", 0), ("wrapped", 0), ("reversed", 1)])
def test_loads_by_lanes_that_the_store_masks_are_not_found(beyond, found):
    with launching() as launched:
        double_in_place[(1,)](numbers(90), 90, 128, beyond)
    assert len(launched.executions[0].findings) == found


@pytest.mark.parametrize(("added", "found"), [(0.0, 0), (0.5, 1)])
def test_store_that_changes_nothing_is_not_found_by_a_load(added, found):
    with launching() as launched:
        store_twice[(1,)](torch.zeros(128), torch.zeros(128), 128, added)
    assert len(launched.executions[0].findings) == found


@pytest.mark.parametrize(("barrier", "found"), [(False, 2), (True, 0)])
def test_iterations_of_a_loop_are_ordered_by_barriers_only(barrier, found):
    with launching() as launched:
        loop_over_columns[(1,)](numbers(128), 3, 128, barrier)
    assert [one.kind for one in launched.executions[0].findings] == [FindingKind.WARP_CONFLICT] * found


@pytest.mark.parametrize(
    ("stores", "loads", "elements"),
    [("block", "scalar", [2]), ("scalar", "block", []), ("scalar", "scalar", []), ("block", "block", [])],
)
def test_scalar_is_loaded_by_every_warp_and_stored_by_the_first(stores, loads, elements):
    with launching() as launched:
        one_element[(1,)](torch.zeros(128), torch.zeros(128), 128, stores, loads)
    assert [one.element for one in launched.executions[0].findings] == elements


def test_blocks_of_two_dimensions_are_not_checked():
    with launching() as launched:
        transpose_in_memory[(1,)](numbers(256), torch.zeros(256), torch.zeros(256), 16)
    assert launched.executions[0].findings == ()


def test_lanes_of_masked_accesses_are_those_of_the_block():
    with launching() as launched:
        masked[(1,)](torch.zeros(128), torch.zeros(128), 128, 96)
    (finding,) = launched.executions[0].findings
    assert (finding.element, finding.count) == (96, 32)


def test_loads_of_smaller_elements_are_found():
    with launching() as launched:
        load_halves[(1,)](torch.zeros(128), torch.zeros(128, dtype=torch.int16), 128)
    assert [one.count for one in launched.executions[0].findings] == [256]  # bytes of all elements that changed


def test_two_names_of_one_tensor_are_one_storage():
    y = numbers(128)
    with launching() as launched:
        store_then_load[(1,)](numbers(128), y, y, 128, 64, "")
    assert [one.kind for one in launched.executions[0].findings][:1] == [FindingKind.WARP_CONFLICT]


@pytest.mark.parametrize(
    ("stored", "stored_width", "loaded", "loaded_width", "apart"),
    [
        ([0, 31, 32, 96], 128, [31, 32, 63, 0], 128, [False, True, False, True]),
        ([0, 0, 0], 256, [32, 64, 128], 256, [False, True, False]),
        ([0, 5], SCALAR, [31, 32], 128, [False, True]),
        ([0, 127], 128, [0, 0], SCALAR, [True, True]),
        ([0], SCALAR, [0], SCALAR, [False]),
        ([0], UNKNOWN, [127], 128, [False]),
    ],
)
def test_lanes_are_apart_if_their_warps_differ_in_every_layout(stored, stored_width, loaded, loaded_width, apart):
    warps = Warps(count=4)
    assert warps.are_apart(np.array(stored), stored_width, np.array(loaded), loaded_width).tolist() == apart
