"""A case that does not fit into memory is refused with its figure, before anything is allocated."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.devices.hardware.device_memory import DeviceMemoryError
from engine.judge.inputs.memory_need import available_bytes, estimated_bytes, require_room
from engine.model import Case, Cost, DType, Tier

CASE = Case(name="4096x4096 f32", dtype=DType.FLOAT32, tier=Tier.BENCH, params={})
LARGE = Cost(flops=0, bytes_read=1 << 30, bytes_written=1 << 30)


def test_case_above_available_memory_is_refused_with_figures() -> None:
    with pytest.raises(DeviceMemoryError, match=r"4096x4096 f32 needs about 17,179,869,184 bytes of memory, and 1,000"):
        require_room(CASE, LARGE, available_bytes=1000)


@pytest.mark.parametrize("available", [None, estimated_bytes(LARGE)])
def test_case_that_fits_is_not_refused(available: int | None) -> None:
    require_room(CASE, LARGE, available_bytes=available)


@pytest.mark.parametrize(
    ("text", "available"), [("MemTotal: 9 kB\nMemAvailable: 3 kB\n", 3072), ("MemTotal: 9 kB\n", None)]
)
def test_available_memory_is_that_of_the_system(tmp_path: Path, text: str, available: int | None) -> None:
    (tmp_path / "meminfo").write_text(text)
    assert available_bytes(LARGE, information=tmp_path / "meminfo") == available


def test_small_case_skips_the_memory_query(tmp_path: Path) -> None:
    small = Cost(flops=0, bytes_read=1000, bytes_written=1000)
    assert available_bytes(small, information=tmp_path) is None
    assert available_bytes(LARGE, information=tmp_path / "missing") is None
