"""Where a token goes in the two caches."""

from __future__ import annotations

import torch

from problems.vllm.reshape_and_cache import reference

BLOCKS, HEADS, HEAD_SIZE, BLOCK_SIZE, GROUP = 3, 2, 16, 4, 8


def scattered(slots: list[int]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """The tokens' keys and values, numbered from 1, and the caches that were zero before."""
    count = len(slots) * HEADS * HEAD_SIZE
    key = torch.arange(1.0, count + 1).half().reshape(len(slots), HEADS, HEAD_SIZE)
    value = -key
    key_cache = torch.zeros(BLOCKS, HEADS, HEAD_SIZE // GROUP, BLOCK_SIZE, GROUP).half()
    value_cache = torch.zeros(BLOCKS, HEADS, HEAD_SIZE, BLOCK_SIZE).half()
    scale = torch.tensor([3.0])
    return key, value, *reference(key, value, key_cache, value_cache, torch.tensor(slots), "auto", scale, scale)


def test_slot_is_block_and_offset_with_grouped_keys() -> None:
    key, value, keys, values = scattered([6])
    assert keys[1, 1, 1, 2, 3] == key[0, 1, 11]
    assert values[1, 1, 11, 2] == value[0, 1, 11]
    assert int((keys != 0).sum()) == int((values != 0).sum()) == HEADS * HEAD_SIZE


def test_token_with_negative_slot_is_not_stored() -> None:
    key, _, keys, values = scattered([-1, 11])
    assert keys[2, 0, 0, 3].tolist() == key[1, 0, :8].tolist()
    assert int((keys != 0).sum()) == int((values != 0).sum()) == HEADS * HEAD_SIZE
