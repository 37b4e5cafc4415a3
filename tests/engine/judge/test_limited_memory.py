"""The limit holds within the block only, and a stricter one stays in force."""

from __future__ import annotations

import resource

import pytest

from engine.judge.limited_memory import limited_memory

MIB = 1 << 20


def test_allocation_beyond_limit_fails_within_block_only() -> None:
    with limited_memory(256 * MIB):
        assert len(bytearray(16 * MIB)) == 16 * MIB
        with pytest.raises(MemoryError):
            bytearray(1024 * MIB)
    assert len(bytearray(1024 * MIB)) == 1024 * MIB


def test_earlier_limit_is_restored_after_an_error() -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    with pytest.raises(ValueError, match="stop"), limited_memory(256 * MIB):
        raise ValueError("stop")
    assert resource.getrlimit(resource.RLIMIT_AS) == before
