"""What is written behind a tensor that was allocated meanwhile is told; what lies within it is not."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import pytest
import torch

from engine import protocol
from engine.devices.runtimes import cpu
from engine.loading.failures import failure
from engine.loading.poison import Poison
from engine.loading.raised import StrayStoreError
from engine.worker.monitor.device.guard_zones import ZONE_BYTES, GuardZones

CPU = torch.device("cpu")
LIKE = torch.ones(3, 4)
ALLOCATIONS: tuple[Callable[[], torch.Tensor], ...] = (
    lambda: torch.empty(5),
    lambda: torch.empty_like(LIKE),
    lambda: LIKE.new_empty(7),
    lambda: torch.zeros(5),
    lambda: torch.empty_strided((2, 2), (4, 1)),
    lambda: torch.zeros_like(LIKE),
    lambda: torch.full((5,), 2.0),
    lambda: torch.empty(4, dtype=torch.bool),
    lambda: torch.empty(3, 4).T,
)


def store(tensor: torch.Tensor, at: int) -> None:
    """Write a byte where a kernel would, by address: counted from the first byte of the tensor's storage."""
    ctypes.memset(tensor.untyped_storage().data_ptr() + at, 0x2A, 1)


def needed(tensor: torch.Tensor) -> int:
    """The bytes that the tensor asked for."""
    return tensor.untyped_storage().nbytes() - ZONE_BYTES


@pytest.mark.parametrize("allocate", ALLOCATIONS)
def test_a_store_behind_a_tensor_is_reported(allocate: Callable[[], torch.Tensor]) -> None:
    with GuardZones(0xFF, CPU) as zones, Poison(0xFF):
        made = allocate()
        store(made, needed(made))
        store(made, needed(made) + ZONE_BYTES - 1)
    with pytest.raises(StrayStoreError, match=r"the entry made, was written \(bytes: 2\): a store without"):
        zones.check()


@pytest.mark.parametrize("allocate", ALLOCATIONS)
def test_a_store_within_a_tensor_is_its_own(allocate: Callable[[], torch.Tensor]) -> None:
    with GuardZones(0xFF, CPU) as zones, Poison(0xFF):
        made = allocate()
        for at in range(needed(made)):
            store(made, at)
    zones.check()


def test_stray_write_is_named_with_its_place() -> None:
    with GuardZones(0x7B, CPU) as zones:
        first, second = torch.empty(2, 3), torch.empty(5, dtype=torch.int64)
        store(second, needed(second))
    with pytest.raises(StrayStoreError) as reported:
        zones.check()
    assert str(reported.value) == (
        "memory past the end of a tensor of (5,) int64, which the entry made, was written (bytes: 1): "
        "a store without a mask, or with a wrong one"
    )
    assert first.shape == (2, 3)


def test_content_is_kept_and_new_memory_is_poisoned() -> None:
    with GuardZones(0x7B, CPU), Poison(0x7B):
        filled, fresh = torch.full((5,), 2.0), torch.empty(5)
    assert filled.tolist() == [2.0] * 5
    assert set(fresh.view(torch.uint8).tolist()) == {0x7B}


def test_tensor_enlarged_in_place_has_no_guard() -> None:
    with GuardZones(0xFF, CPU) as zones:
        within, beyond = torch.empty(5), torch.empty(5)
        within.resize_(10).zero_()
        beyond.resize_(2 * ZONE_BYTES).zero_()
    zones.check()


def test_enlarged_tensors_leave_room_for_guards_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.worker.monitor.device.guard_zones._MOST_BYTES", 40)
    with GuardZones(0xFF, CPU):
        for _ in range(3):
            torch.empty(5).resize_(10)
        guarded = torch.empty(5)
        assert needed(guarded) == 5 * guarded.itemsize


def test_derived_tensor_has_no_guard() -> None:
    given = torch.zeros(4)
    with GuardZones(0xFF, CPU):
        made = [LIKE + 1, LIKE.clone(), torch.cat((LIKE, LIKE)), torch.empty(4, out=given)]
    assert [one.untyped_storage().nbytes() for one in made] == [one.nbytes for one in made]


def test_an_empty_tensor_has_no_edge() -> None:
    with GuardZones(0xFF, CPU) as zones:
        assert torch.empty(0, 5).untyped_storage().nbytes() == 0
    zones.check()


def test_guarded_tensors_and_bytes_are_limited() -> None:
    with GuardZones(0xFF, CPU) as zones:
        many = [torch.empty(1) for _ in range(70)]
    assert [one.untyped_storage().nbytes() > 4 for one in many] == [True] * 64 + [False] * 6
    zones.check()
    with GuardZones(0xFF, CPU):
        assert torch.empty(257 << 20, dtype=torch.uint8).untyped_storage().nbytes() == 257 << 20


def test_tensors_of_captured_graph_have_no_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "is_capturing", lambda: True)
    with GuardZones(0xFF, CPU):
        assert torch.empty(5).untyped_storage().nbytes() == 20


def test_only_tensors_of_the_device_have_edges() -> None:
    with GuardZones(0xFF, torch.device("cuda")):
        assert torch.empty(5).untyped_storage().nbytes() == 20


def test_stray_store_is_its_own_failure_kind() -> None:
    failed = failure("i", StrayStoreError("memory past the end of a tensor was written"), "candidate.py")
    assert failed.kind is protocol.FailureKind.OUT_OF_BOUNDS
    assert failed.message == "memory past the end of a tensor was written"
