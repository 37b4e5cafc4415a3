"""Tensors that travel through an arena arrive as they were: content, strides, and who shares memory with whom."""

from __future__ import annotations

import gc
import math
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from engine import protocol
from engine.model import ObjectKind, PlainObject
from engine.protocol import tensors
from engine.protocol.messages import ObjectSpec
from engine.protocol.objects import with_instances

DTYPES = (
    torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8,
    torch.uint8, torch.bool, torch.complex64, torch.complex128, torch.float8_e4m3fn, torch.float8_e5m2,
)  # fmt: skip


GUARD = 0x5A


def arena_spec(path: Path, *sizes: int) -> protocol.ArenaSpec:
    """An arena in a file at `path` for storages of these sizes in bytes."""
    placed, size_bytes = tensors.place(sizes)
    return protocol.ArenaSpec(path=str(path), storages=placed, bytes=size_bytes)


@contextmanager
def arrived(path: Path, *values: Any) -> Iterator[tuple[list[Any], tensors.ArenaFile, protocol.ArenaSpec]]:
    """The values on the worker's side of a new arena, the judge's side, and how they travelled."""
    specs, storages = tensors.lay_out(values)
    arena = arena_spec(path, *(storage.numel() for storage in storages))
    line = protocol.encode(protocol.Prepared(id="i", arguments=specs, arena=arena, elapsed_s=0.0))
    reported = protocol.decode_reply(line)
    assert isinstance(reported, protocol.Prepared)
    file = tensors.ArenaFile(arena)
    try:
        file.write(storages, guard=GUARD)
        there = tensors.Arena(reported.arena).storages
        yield [tensors.value_of(spec, there) for spec in reported.arguments], file, arena
    finally:
        file.close()


def raw(tensor: torch.Tensor) -> bytes:
    content: bytes = tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
    return content


def test_laid_out_storages_are_freed_without_garbage_collector() -> None:
    gc.disable()
    try:
        specs, storages = tensors.lay_out([[torch.ones(3)], torch.ones(2)])
        kept = [weakref.ref(storage) for storage in storages]
        del storages
    finally:
        gc.enable()
    assert [reference() for reference in kept] == [None, None]
    assert len(specs) == 2


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_tensor_of_every_type_arrives_bitwise(tmp_path: Path, dtype: torch.dtype) -> None:
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


def test_nontensor_values_arrive_unchanged(tmp_path: Path) -> None:
    sent = (
        True,
        0,
        -(2**63),
        2**63 - 1,
        0.1,
        -0.0,
        math.inf,
        complex(0.1, -0.0),
        "a[b]\0",
        None,
        torch.bfloat16,
        [1, (2.5, [])],
        (),
    )
    with arrived(tmp_path / "a", *sent) as (got, _, arena):
        assert tuple(got) == sent
        assert [type(value) for value in got] == [type(value) for value in sent]
        assert math.copysign(1.0, got[5]) == -1.0
        assert arena.storages == ()


def test_nan_arrives_as_nan(tmp_path: Path) -> None:
    with arrived(tmp_path / "a", math.nan) as ([got], _, _):
        assert math.isnan(got)


def test_tensors_in_lists_arrive_in_lists(tmp_path: Path) -> None:
    with arrived(tmp_path / "a", [torch.ones(2), (torch.zeros(1),)]) as ([got], _, _):
        assert (got[0].tolist(), got[1][0].tolist(), type(got[1])) == ([1.0, 1.0], [0.0], tuple)


def test_tensors_in_dicts_arrive_in_dicts(tmp_path: Path) -> None:
    with arrived(tmp_path / "a", {"w": torch.ones(2), "options": {"eps": 0.5}}) as ([got], _, _):
        assert (list(got), got["w"].tolist(), got["options"]) == (["w", "options"], [1.0, 1.0], {"eps": 0.5})


@pytest.mark.parametrize("kind", ObjectKind)
def test_objects_arrive_as_records_and_become_instances(tmp_path: Path, kind: ObjectKind) -> None:
    inner = PlainObject(name="Range", kind=ObjectKind.NAMED_TUPLE, attributes={"low": 0.5, "high": None})
    sent = PlainObject(name="Config", kind=kind, attributes={"x": torch.ones(2), "limits": [inner]})
    with arrived(tmp_path / "a", sent) as ([got], _, _):
        first, second = with_instances((got, got))

    assert (got.name, got.kind, list(got.attributes)) == ("Config", kind, ["x", "limits"])
    assert (type(first).__name__, first.x.tolist(), first.limits[0].low) == ("Config", [1.0, 1.0], 0.5)
    assert (type(first) is type(second), first.limits == [(0.5, None)]) == (True, True)
    assert [one.tolist() for one in tensors.tensors_given((first, {"y": torch.zeros(1)}))] == [[1.0, 1.0], [0.0]]


@pytest.mark.parametrize(
    ("name", "kind", "keys", "reason"),
    [
        ("a b", "dataclass", ("n",), "'a b' of class 'a b' is not a Python name"),
        ("Config", "dataclass", ("class",), "'class' of class 'Config' is not a Python name"),
        ("Config", "dataclass", ("__init__",), "must not begin with __: __init__"),
        ("Config", "named_tuple", ("_n",), "must not begin with _: _n"),
        ("Config", "dataclass", ("n", "n"), "an attribute twice"),
        ("Config", "dataclass", (), "an object of 0 attributes and 2 values"),
    ],
)
def test_object_that_no_class_can_have_refused(name: str, kind: str, keys: tuple[str, ...], reason: str) -> None:
    items = (protocol.ScalarSpec(value=1),) * (len(keys) or 2)

    with pytest.raises(ValueError, match=reason):
        ObjectSpec(name=name, of_kind=ObjectKind(kind), keys=keys, items=items)


def test_shared_storage_is_shared_after_transfer(tmp_path: Path) -> None:
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
        ends = [0] + [storage.offset + storage.bytes for storage in arena.storages]
        starts = [storage.offset for storage in arena.storages] + [arena.bytes]
        assert all(start - end >= 256 for start, end in zip(starts, ends, strict=True))
        assert (tmp_path / "a").stat().st_size == arena.bytes


def test_judge_reads_writes_of_worker(tmp_path: Path) -> None:
    with arrived(tmp_path / "a", torch.zeros(3), torch.zeros(2)) as (got, file, _):
        got[1].fill_(1.0)
        read = file.read()
        assert [storage.view(torch.float32).tolist() for storage in read] == [[0.0] * 3, [1.0] * 2]


def test_judge_copy_is_its_own(tmp_path: Path) -> None:
    with arrived(tmp_path / "a", torch.zeros(1)) as ([got], file, _):
        [read] = file.read()
        got.fill_(1.0)
        assert read.view(torch.float32).tolist() == [0.0]


@pytest.mark.parametrize("length", [0, 1, 263, 775])
def test_truncated_arena_is_reported_without_crash(tmp_path: Path, length: int) -> None:
    with arrived(tmp_path / "a", torch.zeros(2), torch.zeros(2)) as (got, file, _):
        got.clear()
        with (tmp_path / "a").open("r+b") as other:
            other.truncate(length)
        with pytest.raises(tensors.TruncatedError, match=r"^the shared memory of the case was cut short$"):
            file.read()
        with pytest.raises(tensors.TruncatedError, match=r"^the shared memory of the case was cut short$"):
            file.damaged(guard=GUARD)


SIZES = (1, 300, 0, 256)


def guarded(path: Path) -> tuple[tensors.ArenaFile, protocol.ArenaSpec, list[torch.Tensor]]:
    """An arena of several storages as the judge writes it, and their bytes."""
    spec = arena_spec(path, *SIZES)
    file = tensors.ArenaFile(spec)
    storages = [torch.full((size,), 7, dtype=torch.uint8) for size in SIZES]
    file.write(storages, guard=GUARD)
    return file, spec, storages


def write_byte(path: Path, offset: int, byte: int) -> None:
    with path.open("r+b") as arena:
        arena.seek(offset)
        arena.write(bytes([byte]))


def test_every_arena_byte_is_storage_or_guard_zone(tmp_path: Path) -> None:
    file, spec, _ = guarded(tmp_path / "a")
    file.close()
    parts = sorted((part.offset, part.bytes) for part in (*spec.storages, *tensors.guard_zones(spec)) if part.bytes)
    ends = [offset + size for offset, size in parts]
    assert [offset for offset, _ in parts] == [0, *ends[:-1]]
    assert ends[-1] == spec.bytes
    content = (tmp_path / "a").read_bytes()
    assert (content.count(7), content.count(GUARD)) == (sum(SIZES), spec.bytes - sum(SIZES))


def test_output_place_has_guard_zones() -> None:
    placed, size_bytes = tensors.place((4, 8))
    spec = protocol.ArenaSpec(handle="00", storages=placed[:1], outputs=placed[1], bytes=size_bytes)
    assert tensors.guard_zones(spec) == [
        protocol.StorageSpec(offset=0, bytes=256),
        protocol.StorageSpec(offset=260, bytes=508),
        protocol.StorageSpec(offset=776, bytes=504),
    ]


def test_unwritten_guard_zone_is_intact(tmp_path: Path) -> None:
    file, _, _ = guarded(tmp_path / "a")
    assert file.damaged(guard=GUARD) is None
    file.close()


@pytest.mark.parametrize("zone", range(len(SIZES) + 1))
@pytest.mark.parametrize("end", ["first", "last"])
def test_byte_written_in_guard_zone_is_found(tmp_path: Path, zone: int, end: str) -> None:
    file, spec, _ = guarded(tmp_path / "a")
    there = tensors.guard_zones(spec)[zone]
    write_byte(tmp_path / "a", there.offset if end == "first" else there.offset + there.bytes - 1, GUARD ^ 1)
    assert file.damaged(guard=GUARD) == tensors.Damage(
        zone=zone, zones=len(SIZES) + 1, changed_bytes=1, nearer_to_end=end == "last"
    )
    file.close()


def test_of_several_damaged_zones_the_first_is_reported(tmp_path: Path) -> None:
    file, spec, _ = guarded(tmp_path / "a")
    for zone in (3, 1):
        write_byte(tmp_path / "a", tensors.guard_zones(spec)[zone].offset, 0)
    damage = file.damaged(guard=GUARD)
    assert damage is not None
    assert damage.zone == 1
    file.close()


def test_write_inside_storage_damages_no_guard(tmp_path: Path) -> None:
    file, spec, _ = guarded(tmp_path / "a")
    for storage in spec.storages:
        for offset in range(storage.offset, storage.offset + storage.bytes):
            write_byte(tmp_path / "a", offset, GUARD ^ 1)
    assert file.damaged(guard=GUARD) is None
    file.close()


def test_writing_an_arena_again_renews_its_guard(tmp_path: Path) -> None:
    file, _, storages = guarded(tmp_path / "a")
    write_byte(tmp_path / "a", 0, 0)
    file.write(storages, guard=0xFF)
    assert file.damaged(guard=0xFF) is None
    assert file.damaged(guard=GUARD) is not None
    file.close()


@pytest.mark.parametrize("first", [0, 1, 256, 1000])
def test_first_bytes_stay_free_when_placing(first: int) -> None:
    placed, size_bytes = tensors.place((3, 300), first=first)
    begin = -(-first // 256) * 256 + 256
    assert [(spec.offset, spec.bytes) for spec in placed] == [(begin, 3), (begin + 512, 300)]
    assert size_bytes == begin + 512 + 512 + 256


def on_device() -> tuple[tensors.DeviceArena, torch.Tensor]:
    """An arena on a device, which is this process's memory, with eight unused bytes behind it."""
    placed, size_bytes = tensors.place((3, 5))
    spec = protocol.ArenaSpec(handle="00", storages=placed[:1], outputs=placed[1], bytes=size_bytes, block_bytes=4096)
    block = torch.full((size_bytes + 8,), GUARD, dtype=torch.uint8)
    tensors.part(block, placed[0]).fill_(7)
    tensors.part(block, placed[1]).fill_(9)
    return tensors.DeviceArena(spec, block), block


def test_device_copy_is_the_judges_own() -> None:
    arena, block = on_device()
    [storage], outputs = arena.read(), arena.outputs()
    block.zero_()
    assert (storage.tolist(), outputs.tolist()) == ([7] * 3, [9] * 5)


@pytest.mark.parametrize(("offset", "zone"), [(0, 0), (255, 0), (259, 1), (767, 1), (773, 2), (1279, 2)])
def test_byte_written_in_device_guard_zone_is_found(offset: int, zone: int) -> None:
    arena, block = on_device()
    assert arena.damaged(guard=GUARD) is None
    block[offset] = GUARD ^ 1
    damage = arena.damaged(guard=GUARD)
    assert damage is not None
    assert (damage.zone, damage.zones, damage.changed_bytes) == (zone, 3, 1)


@pytest.mark.parametrize("offset", [256, 258, 768, 772, 1280])
def test_device_write_outside_guards_damages_none(offset: int) -> None:
    arena, block = on_device()
    block[offset] = GUARD ^ 1
    assert arena.damaged(guard=GUARD) is None


def test_value_in_part_of_block_is_viewed_there() -> None:
    specs, storages = tensors.lay_out((torch.arange(6.0).view(2, 3).T,))
    placed, size_bytes = tensors.place((24,))
    block = torch.zeros(size_bytes, dtype=torch.uint8)
    tensors.part(block, placed[0]).copy_(storages[0])
    [value] = [tensors.value_of(spec, [tensors.part(block, placed[0])]) for spec in specs]
    assert isinstance(value, torch.Tensor)
    assert value.tolist() == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]
    assert value.data_ptr() == block.data_ptr() + placed[0].offset


def test_layout_shares_storage_with_values() -> None:
    base = torch.zeros(4)
    _, [storage] = tensors.lay_out((base[1:],))
    base[3] = 1.0
    assert storage.view(torch.float32).tolist() == [0.0, 0.0, 0.0, 1.0]


def test_an_arena_is_a_new_file_or_none(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileExistsError):
        tensors.ArenaFile(arena_spec(tmp_path / "a", 4))
    assert not (tmp_path / "elsewhere").exists()


def test_arena_can_be_closed_twice(tmp_path: Path) -> None:
    file = tensors.ArenaFile(arena_spec(tmp_path / "a", 4))
    file.close()
    file.close()


@pytest.mark.parametrize("name", ["float", "complex32", "qint8", "torch.float32", "__class__", ""])
def test_unsupported_dtype_is_value_error_listing_supported(name: str) -> None:
    with pytest.raises(ValueError, match=rf"^dtype '{name}' cannot be compared; use one of float64, float32"):
        tensors.dtype_named(name)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_type_is_found_again_by_its_name(dtype: torch.dtype) -> None:
    assert tensors.dtype_named(tensors.dtype_name(dtype)) is dtype
