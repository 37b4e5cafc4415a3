"""Tensors that travel through an arena arrive as they were: content, strides, and who shares memory with whom."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from engine import tensors, wire

DTYPES = (
    torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8,
    torch.uint8, torch.bool, torch.complex64, torch.complex128, torch.float8_e4m3fn, torch.float8_e5m2,
)  # fmt: skip


@contextmanager
def arrived(path: Path, *values: Any) -> Iterator[tuple[list[Any], tensors.ArenaFile, wire.ArenaSpec]]:
    """The values on the worker's side of a new arena, the judge's side, and how they travelled."""
    specs, arena, storages = tensors.lay_out(values, path)
    line = wire.encode(wire.Prepared(id="i", arguments=specs, arena=arena, elapsed_s=0.0))
    told = wire.decode_reply(line)
    assert isinstance(told, wire.Prepared)
    file = tensors.ArenaFile(arena)
    try:
        file.write(storages)
        there = tensors.Arena(told.arena).storages
        yield [tensors.value_of(spec, there) for spec in told.arguments], file, arena
    finally:
        file.close()


def raw(tensor: torch.Tensor) -> bytes:
    content: bytes = tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
    return content


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_tensor_of_every_type_arrives_to_the_bit(tmp_path: Path, dtype: torch.dtype) -> None:
    sent = (torch.arange(24) % 2 if dtype is torch.bool else torch.arange(24) - 12).to(dtype).view(4, 6)
    with arrived(tmp_path / "a", sent) as ([got], _, _):
        assert (got.dtype, got.shape, got.stride()) == (dtype, sent.shape, sent.stride())
        assert raw(got) == raw(sent)


BASE = torch.arange(60.0).view(3, 4, 5)


@pytest.mark.parametrize(
    "sent",
    [
        torch.tensor(3.5),
        torch.empty(0),
        torch.empty(0, 7),
        torch.empty(5, 0, 3),
        BASE.transpose(0, 2),
        BASE[:, ::2, 1:4],
        BASE[2, 3, 4],
        BASE[1:, 1:].permute(2, 0, 1),
        torch.arange(4.0).expand(3, 4),
        torch.tensor(1.5).expand(2, 2),
        BASE[3:],
    ],
    ids=lambda tensor: f"{tuple(tensor.shape)} by {tensor.stride()} from {tensor.storage_offset()}",
)
def test_a_view_arrives_with_its_strides_and_offset(tmp_path: Path, sent: torch.Tensor) -> None:
    with arrived(tmp_path / "a", sent) as ([got], _, _):
        assert (got.shape, got.stride(), got.storage_offset()) == (sent.shape, sent.stride(), sent.storage_offset())
        assert got.untyped_storage().nbytes() >= sent.untyped_storage().nbytes()
        assert got.tolist() == sent.tolist()


def test_values_that_are_no_tensors_arrive_as_they_were(tmp_path: Path) -> None:
    sent = (True, 0, -(2**63), 2**63 - 1, 0.1, -0.0, math.inf, "a[b]\0", None, torch.bfloat16, [1, (2.5, [])], ())
    with arrived(tmp_path / "a", *sent) as (got, _, arena):
        assert tuple(got) == sent
        assert [type(value) for value in got] == [type(value) for value in sent]
        assert math.copysign(1.0, got[5]) == -1.0
        assert (arena.storages, arena.bytes) == ((), 0)


def test_nan_arrives_as_nan(tmp_path: Path) -> None:
    with arrived(tmp_path / "a", math.nan) as ([got], _, _):
        assert math.isnan(got)


def test_tensors_in_lists_arrive_in_lists(tmp_path: Path) -> None:
    with arrived(tmp_path / "a", [torch.ones(2), (torch.zeros(1),)]) as ([got], _, _):
        assert (got[0].tolist(), got[1][0].tolist(), type(got[1])) == ([1.0, 1.0], [0.0], tuple)


def test_tensors_that_share_memory_share_it_on_the_other_side(tmp_path: Path) -> None:
    base = torch.zeros(6)
    with arrived(tmp_path / "a", base[:4], base[2:].view(torch.int32), torch.zeros(6)) as (got, _, arena):
        assert len(arena.storages) == 2
        got[0][3] = 1.0
        assert got[1].tolist() == [0, 0x3F800000, 0, 0]
        assert got[2].tolist() == [0.0] * 6


def test_empty_tensors_share_nothing(tmp_path: Path) -> None:
    with arrived(tmp_path / "a", torch.empty(0), torch.empty(0)) as (_, _, arena):
        assert [storage.bytes for storage in arena.storages] == [0, 0]


def test_storages_are_aligned_and_apart(tmp_path: Path) -> None:
    with arrived(tmp_path / "a", *(torch.ones(n, dtype=torch.uint8) for n in (1, 256, 257, 0, 3))) as (_, _, arena):
        assert [storage.offset % 256 for storage in arena.storages] == [0] * 5
        ends = [storage.offset + storage.bytes for storage in arena.storages]
        starts = [storage.offset for storage in arena.storages[1:]] + [arena.bytes]
        assert all(start - end >= 256 for start, end in zip(starts, ends, strict=True))
        assert (tmp_path / "a").stat().st_size == arena.bytes


def test_what_the_worker_writes_the_judge_reads(tmp_path: Path) -> None:
    with arrived(tmp_path / "a", torch.zeros(3), torch.zeros(2)) as (got, file, _):
        got[1].fill_(1.0)
        read = file.read()
        assert [storage.view(torch.float32).tolist() for storage in read] == [[0.0] * 3, [1.0] * 2]


def test_what_the_judge_has_read_is_its_own(tmp_path: Path) -> None:
    with arrived(tmp_path / "a", torch.zeros(1)) as ([got], file, _):
        [read] = file.read()
        got.fill_(1.0)
        assert read.view(torch.float32).tolist() == [0.0]


@pytest.mark.parametrize("length", [0, 1, 263])
def test_an_arena_that_was_cut_short_is_told_and_kills_nobody(tmp_path: Path, length: int) -> None:
    with arrived(tmp_path / "a", torch.zeros(2), torch.zeros(2)) as (got, file, _):
        got.clear()
        with (tmp_path / "a").open("r+b") as other:
            other.truncate(length)
        with pytest.raises(tensors.TruncatedError, match=r"^the shared memory of the case was cut short$"):
            file.read()


def test_an_arena_is_a_new_file_or_none(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "elsewhere")
    _, arena, _ = tensors.lay_out((torch.zeros(1),), tmp_path / "a")
    with pytest.raises(FileExistsError):
        tensors.ArenaFile(arena)
    assert not (tmp_path / "elsewhere").exists()


def test_an_arena_may_be_let_go_twice(tmp_path: Path) -> None:
    _, arena, _ = tensors.lay_out((torch.zeros(1),), tmp_path / "a")
    file = tensors.ArenaFile(arena)
    file.close()
    file.close()


@pytest.mark.parametrize("name", ["float", "complex32", "qint8", "torch.float32", "__class__", ""])
def test_a_type_that_may_not_travel_is_a_value_error_that_lists_those_that_may(name: str) -> None:
    with pytest.raises(ValueError, match=rf"^dtype '{name}' cannot be compared; use one of float64, float32"):
        tensors.dtype_named(name)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_type_is_found_again_by_its_name(dtype: torch.dtype) -> None:
    assert tensors.dtype_named(tensors.dtype_name(dtype)) is dtype
