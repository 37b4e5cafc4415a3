"""Uninitialised memory is filled while poison is active, and nothing else is touched."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from engine.loading.poison import Poison

LIKE = torch.ones(3, 4)


@pytest.mark.parametrize(
    "allocate",
    [
        lambda: torch.empty(5),
        lambda: torch.empty(2, 3, dtype=torch.int64),
        lambda: torch.empty_like(LIKE),
        lambda: torch.empty_strided((2, 2), (4, 1)),
        lambda: LIKE.new_empty(7),
        lambda: LIKE.new_empty_strided((2, 2), (3, 1)),
        lambda: torch.empty_permuted((2, 3), (1, 0)),
        lambda: torch.empty(3, 3, memory_format=torch.contiguous_format).T,
        lambda: torch.Tensor(6),
        lambda: torch.empty(4, dtype=torch.bool),
    ],
)
@pytest.mark.parametrize("pattern", [0xFF, 0x7B])
def test_every_allocation_that_promises_no_content_is_filled(
    allocate: Callable[[], torch.Tensor], pattern: int
) -> None:
    with Poison(pattern):
        fresh = allocate()
    assert set(fresh.untyped_storage().tolist()) == {pattern}


@pytest.mark.parametrize(
    ("allocate", "value"),
    [
        (lambda: torch.zeros(5), 0.0),
        (lambda: torch.ones(5), 1.0),
        (lambda: torch.full((5,), 2.0), 2.0),
        (lambda: torch.zeros_like(LIKE), 0.0),
        (lambda: LIKE.clone(), 1.0),
        (lambda: LIKE + 1, 2.0),
        (lambda: torch.empty(5).fill_(3.0), 3.0),
        (lambda: LIKE.new_zeros(5), 0.0),
    ],
)
def test_initialized_memory_keeps_its_content(allocate: Callable[[], torch.Tensor], value: float) -> None:
    with Poison(0x7B):
        fresh = allocate()
    assert set(fresh.flatten().tolist()) == {value}


@pytest.mark.parametrize(
    "hand_over",
    [
        lambda part: torch.empty(4, out=part),
        lambda part: torch.ops.aten.empty.out([4], out=part),
        lambda part: torch.ops.aten.empty_like.out(part, out=part),
        lambda part: torch.ops.aten.new_empty.out(part, [4], out=part),
    ],
    ids=["empty", "its operator", "empty_like", "new_empty"],
)
def test_memory_around_given_tensor_keeps_its_content(
    hand_over: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    base = torch.arange(8.0)
    with Poison(0x7B):
        hand_over(base[2:6])
    assert [*base[:2].tolist(), *base[6:].tolist()] == [0.0, 1.0, 6.0, 7.0]


def test_empty_and_meta_tensors_stay_unchanged() -> None:
    with Poison(0xFF):
        assert torch.empty(0).tolist() == []
        assert torch.empty(5, device="meta").shape == (5,)


def test_memory_is_not_filled_after_exit() -> None:
    with Poison(0x7B):
        pass
    fresh = torch.empty(1 << 16, dtype=torch.uint8)
    assert set(fresh.tolist()) != {0x7B}


def test_poisoned_values_are_nan_large_or_minus_one() -> None:
    with Poison(0xFF):
        assert torch.empty(1).isnan().all()
        assert torch.empty(1, dtype=torch.int32).tolist() == [-1]
    with Poison(0x7B):
        assert 1e36 < torch.empty(1).item() < float("inf")
