"""Which bytes of uninitialized memory were written: by kernels exactly, by operators of torch whole storages."""

from __future__ import annotations

import numpy as np
import torch

from engine.loading.poison import Poison
from engine.worker.cpu_driver.allocations import Allocations

POISON = 0xFF


def written(allocations: Allocations, tensor: torch.Tensor) -> list[bool] | None:
    """Whether each element of a tensor that owns its storage was written; None if all were."""
    data = tensor.numpy().view(np.uint8)
    found = allocations.written_of(tensor.data_ptr(), data, tensor.element_size())
    return None if found is None else [bool(one) for one in found[:: tensor.element_size()]]


def test_new_memory_has_no_written_element() -> None:
    allocations = Allocations()
    with Poison(POISON, allocations):
        made = torch.empty(3)
    assert written(allocations, made) == [False, False, False]


def test_content_other_than_poison_was_written() -> None:
    allocations = Allocations()
    with Poison(POISON, allocations):
        made = torch.empty(3)
    made.numpy()[1] = 2.0
    assert written(allocations, made) == [False, True, False]


def test_kernel_marks_are_kept_for_next_launch() -> None:
    allocations = Allocations()
    with Poison(POISON, allocations):
        made = torch.empty(2)
    marks = allocations.written_of(made.data_ptr(), made.numpy().view(np.uint8), 4)
    assert marks is not None
    marks[4:] = True
    assert written(allocations, made) == [False, True]


def test_operator_of_torch_writes_all_of_a_storage() -> None:
    allocations = Allocations()
    with Poison(POISON, allocations):
        made = torch.empty(4)
        made[:2].fill_(1.0)
    assert written(allocations, made) is None


def test_memory_with_content_is_not_tracked() -> None:
    allocations = Allocations()
    with Poison(POISON, allocations):
        made = torch.zeros(4)
    assert written(allocations, made) is None


def test_freed_memory_is_forgotten() -> None:
    allocations = Allocations()
    with Poison(POISON, allocations):
        made = torch.empty(4)
        view = made.view(2, 2)
        address = made.data_ptr()
        del made
        assert allocations.written_of(address, np.zeros(16, np.uint8), 4) is not None
        del view
    assert allocations.written_of(address, np.zeros(16, np.uint8), 4) is None
