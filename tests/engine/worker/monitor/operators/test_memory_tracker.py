"""What changes in memory between two who were seen to write it is counted, and nothing else is."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
import torch
import triton.language as tl

from engine.worker.monitor.operators import memory_tracker
from engine.worker.monitor.operators.ledger import Ledger
from engine.worker.monitor.operators.memory_tracker import MemoryTracker


@pytest.fixture
def memory() -> MemoryTracker:
    return MemoryTracker()


def behind_its_back(tensor: torch.Tensor, value: float) -> None:
    """Write the first element as who only knows the address does."""
    ctypes.memmove(tensor.data_ptr(), np.array([value], dtype=np.float32).ctypes.data, 4)


def test_observed_writes_are_not_counted(memory: MemoryTracker) -> None:
    x, y = torch.ones(8), torch.ones(8)
    with memory.of_call([x, [y]]):
        memory.taken([x, y])
        y.fill_(3.0)
        memory.left([y])
        memory.taken([y])
    assert memory.take_changed() == 0


def test_unobserved_written_element_is_counted_once(memory: MemoryTracker) -> None:
    x = torch.ones(8)
    with memory.of_call([x]):
        x[2:5] = 7.0
        memory.taken([x[6:]])
        memory.taken([x])
    assert (memory.take_changed(), memory.take_changed()) == (3, 0)


def test_launch_keeps_state_and_ignores_other_writes(memory: MemoryTracker) -> None:
    x, y = torch.ones(8), torch.zeros(8)
    with memory.of_call([x]):
        with memory.launch([x, (y,)]):
            y.copy_(x)
            memory.taken([y])
        memory.taken([y])
        assert memory.take_changed() == 0
        behind_its_back(y, 5.0)
        memory.taken([y])
        assert memory.take_changed() == 1


def test_kernel_making_pointers_resets_all_memory(memory: MemoryTracker) -> None:
    x = torch.ones(8)
    with memory.of_call([x]):
        behind_its_back(x, 5.0)
        memory.lose_sight()
        memory.taken([x])
    assert memory.take_changed() == 0


def test_memory_older_than_call_is_known_next_call(memory: MemoryTracker) -> None:
    table = torch.ones(8)
    with memory.of_call([]):
        memory.taken([table])
    assert memory.take_changed() == 0
    table.fill_(2.0)  # between two calls that are noted there are others
    with memory.of_call([]):
        behind_its_back(table, 5.0)
        memory.taken([table])
    assert memory.take_changed() == 1


def test_numpy_table_per_call_is_unknown_memory(memory: MemoryTracker) -> None:
    counts = []
    for _ in range(4):
        with memory.of_call([]):
            memory.taken([torch.from_numpy(np.ones(8, dtype=np.float32))])
        counts.append(memory.take_changed())
    assert counts == [0, 0, 8, 8]


def test_storage_of_unobserved_origin_is_unknown(memory: MemoryTracker) -> None:
    x = torch.ones(8)
    with memory.of_call([x]):
        memory.made_of(x.untyped_storage())
        assert memory.take_changed() == 0
        memory.made_of(torch.UntypedStorage(32))
    assert memory.take_changed() == 32


def test_nothing_is_kept_outside_of_a_call(memory: MemoryTracker) -> None:
    x = torch.ones(8)
    with memory.of_call([x]):
        pass
    memory.left([x])
    behind_its_back(x, 5.0)
    memory.taken([x])
    assert memory.take_changed() == 0


def test_memory_beyond_the_limit_is_reported(memory: MemoryTracker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_tracker, "_MOST_BYTES", 40)
    x = torch.ones(8)
    with memory.of_call([x]):
        behind_its_back(x, 5.0)
        memory.taken([x])
        assert not memory.overfull
        memory.left([torch.ones(8)])
        memory.taken([x])
    assert memory.overfull
    assert memory.take_changed() == 0


def test_ledger_records_operator_results_and_unknown_memory() -> None:
    x, ledger = torch.arange(8.0), Ledger()
    with ledger.of_call("c", [x]):
        y = torch.empty_like(x)
        y.copy_(x).mul_(2.0)
        torch._foreach_add_([y], 1.0)
        y.resize_(16)
        ledger.handed_over([y[:8]])
    assert "Memory.unseen" not in {one.name for one in ledger.seen()}
    with ledger.of_call("c", [x]):
        y = x + 1
        behind_its_back(y, 100.0)
        ledger.handed_over([y])
    (unseen,) = (one for one in ledger.seen() if one.name == "Memory.unseen")
    assert (unseen.case, unseen.total_out) == ("c", 1)


def test_older_memory_is_known_at_any_size(memory: MemoryTracker) -> None:
    large, others = torch.ones(2 << 20), [torch.ones(8) for _ in range(64)]
    with memory.of_call([]):
        memory.taken([*others, large])
    with memory.of_call([]):
        for tensor in (large, others[-1]):
            behind_its_back(tensor, 5.0)
        memory.taken([large, others[-1]])
    assert memory.take_changed() == 2


def test_different_numbers_passed_to_launches_are_counted(memory: MemoryTracker) -> None:
    with memory.of_call([]):
        with memory.launch([torch.ones(8), 1, 0.5, "x"]):
            pass
        with memory.launch([0.5, 2.5, None]):
            pass
    assert memory.numbers() == 3
    with memory.of_call([]):
        pass
    assert memory.numbers() == 0


def test_constants_and_view_offsets_count_as_numbers(memory: MemoryTracker) -> None:
    line = torch.ones(64)
    with memory.of_call([]):
        for number in (3, 8, 29):
            with memory.launch([tl.constexpr((number / 2, number / 4)), line[number:], line]):
                pass
    assert memory.numbers() == 9


@pytest.mark.parametrize(("launches", "numbers"), [(600, 150), (400, 3)])
def test_many_digits_count_as_numbers(memory: MemoryTracker, launches: int, numbers: int) -> None:
    with memory.of_call([]):
        for place in range(launches):
            with memory.launch([place % 4 // 2, 7], "kernel"):
                pass
    assert memory.numbers() == numbers


def test_rows_launched_in_sequence_are_no_numbers(memory: MemoryTracker) -> None:
    rows = torch.ones(200, 4)
    with memory.of_call([]):
        for row in range(200):
            with memory.launch([rows[row], rows, row, 4], "kernel"):
                pass
            with memory.launch([row * 4], "other"):
                pass
    assert memory.numbers() <= 8
