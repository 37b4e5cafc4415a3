"""Bytes of a block as the whole of a storage, and whether a device is lost."""

from __future__ import annotations

import gc

import torch

from engine.devices.hardware.device_memory import alone, is_lost


def test_separate_copy_is_equal_in_its_own_storage() -> None:
    block = torch.arange(64, dtype=torch.uint8)
    part = alone(block[16:40])
    part[0] = 255
    assert (part.storage_offset(), part.untyped_storage().nbytes()) == (0, 24)
    assert block[16:40].tolist() == part.tolist()
    assert block[16] == 255


def test_empty_part_has_empty_storage() -> None:
    part = alone(torch.zeros(64, dtype=torch.uint8)[16:16])
    assert (part.numel(), part.storage_offset(), part.untyped_storage().nbytes()) == (0, 0, 0)


def test_block_is_alive_while_its_parts_are() -> None:
    part = alone(torch.full((1 << 20,), 7, dtype=torch.uint8)[1 << 19 :])
    gc.collect()
    torch.full((1 << 20,), 9, dtype=torch.uint8)
    assert part.unique().tolist() == [7]


def test_a_cpu_is_never_lost() -> None:
    assert not is_lost(torch.device("cpu"))
