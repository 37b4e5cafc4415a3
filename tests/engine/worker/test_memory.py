"""Where the tensors of a call lie, and what a worker leaves of what the entry returned."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
import torch

from engine import protocol
from engine.clock.returned import copy_out, values_of
from engine.judge.inputs.cases import output_bytes
from engine.judge.inputs.outputs import take
from engine.model import OutputReport
from engine.protocol import tensors
from engine.protocol.messages import ReturnedPlace
from engine.worker.memory import CallMemory, NoRoomError, write_tape

CPU = torch.device("cpu")


def arena(path: Path, *sizes: int) -> protocol.ArenaSpec:
    """A new arena in a file."""
    placed, size_bytes = tensors.place(sizes)
    spec = protocol.ArenaSpec(path=str(path), storages=placed, bytes=size_bytes)
    file = tensors.ArenaFile(spec)
    file.write([torch.zeros(size, dtype=torch.uint8) for size in sizes], guard=0xFF)
    file.close()
    return spec


@pytest.fixture
def memory() -> CallMemory:
    return CallMemory(CPU)


def test_calls_of_case_find_tensors_at_same_address(memory: CallMemory, tmp_path: Path) -> None:
    spec = arena(tmp_path / "a", 16, 8)
    first, again = memory.storages(spec), memory.storages(spec)
    assert [part.numel() for part in first] == [16, 8]
    assert [part.data_ptr() for part in first] == [part.data_ptr() for part in again]


def test_next_case_has_another_address(memory: CallMemory, tmp_path: Path) -> None:
    [first], [second] = memory.storages(arena(tmp_path / "a", 16)), memory.storages(arena(tmp_path / "b", 16))
    second.fill_(1)
    assert first.tolist() == [0] * 16


def test_returned_tensor_stays_in_file_unchanged(memory: CallMemory, tmp_path: Path) -> None:
    spec = arena(tmp_path / "a", 16)
    memory.storages(spec)
    strided = torch.arange(6.0).view(2, 3).T
    specs = memory.leave(spec, (strided, torch.tensor([True]), torch.empty(0, 3)), str(tmp_path / "o"), 1 << 20)
    content = torch.frombuffer(bytearray((tmp_path / "o").read_bytes()), dtype=torch.uint8)
    expected = (strided, torch.tensor([True]), torch.empty(0, 3))
    values = [take("return", reported, content, value) for reported, value in zip(specs, expected, strict=True)]
    assert [value.tolist() for value in values if isinstance(value, torch.Tensor)] == [strided.tolist(), [True], []]


def test_places_of_returned_tensors_are_reported(memory: CallMemory, tmp_path: Path) -> None:
    spec = arena(tmp_path / "a", 16, 32)
    _, second = memory.storages(spec)
    view = second.view(torch.float32)[2:].view(2, 3).T
    specs = memory.leave(spec, (view, torch.ones(2, 2), 1.5, "text"), str(tmp_path / "o"), 1 << 20)
    assert [one.place for one in specs] == [
        ReturnedPlace(strides=(1, 3), storage=1, offset_bytes=8),
        ReturnedPlace(strides=(2, 1)),
        None,
        None,
    ]


def test_single_element_with_a_wide_stride_is_written(memory: CallMemory, tmp_path: Path) -> None:
    spec = arena(tmp_path / "a", 16)
    memory.storages(spec)
    memory.leave(spec, (torch.tensor([5.0, 7.0])[::2],), str(tmp_path / "o"), 1 << 20)
    assert (tmp_path / "o").read_bytes()[:4] == struct.pack("<f", 5.0)


def test_more_than_the_limit_is_a_memory_error(memory: CallMemory, tmp_path: Path) -> None:
    spec = arena(tmp_path / "a", 16)
    memory.storages(spec)
    with pytest.raises(MemoryError, match=r"^the candidate returned more than 15 bytes$"):
        memory.leave(spec, torch.zeros(4), str(tmp_path / "o"), 15)


def test_outputs_on_full_disk_raise_no_room_error(memory: CallMemory, tmp_path: Path) -> None:
    spec = arena(tmp_path / "a", 16)
    memory.storages(spec)
    with pytest.raises(NoRoomError, match=r"^the outputs could not be stored: No space left on device; free some"):
        memory.leave(spec, torch.zeros(4), "/dev/full", 1 << 20)


def test_tape_on_full_disk_raises_no_room_error(tmp_path: Path) -> None:
    write_tape(tmp_path / "tape", b"{}")
    assert (tmp_path / "tape").read_bytes() == b"{}"
    with pytest.raises(NoRoomError, match=r"^the tape could not be stored: No space left on device; free some space"):
        write_tape(Path("/dev/full"), b"{}")
    with pytest.raises(IsADirectoryError):
        write_tape(tmp_path, b"{}")


class Agreeable(torch.Tensor):
    """Looks like a tensor."""


def test_nontensor_output_is_reported_by_type(memory: CallMemory, tmp_path: Path) -> None:
    spec = arena(tmp_path / "a", 16)
    memory.storages(spec)
    returned = (None, "1.0", torch.zeros(1).as_subclass(Agreeable), torch.zeros(1, device="meta"))
    specs = memory.leave(spec, returned, str(tmp_path / "o"), 1 << 20)
    assert [reported.type_name for reported in specs] == ["NoneType", "str", "Agreeable", "Tensor on meta"]
    assert (tmp_path / "o").read_bytes() == b""


def test_python_number_travels_as_a_tensor_without_dimensions(memory: CallMemory, tmp_path: Path) -> None:
    spec = arena(tmp_path / "a", 16)
    memory.storages(spec)
    specs = memory.leave(spec, (True, 3, 0.5, 1j, 2**63), str(tmp_path / "o"), 1 << 20)
    assert [(reported.type_name, reported.dtype, reported.is_number) for reported in specs] == [
        ("bool", "bool", True),
        ("int", "int64", True),
        ("float", "float64", True),
        ("complex", "complex128", True),
        ("int", "", False),
    ]
    assert (tmp_path / "o").read_bytes()[32:40] == struct.pack("<d", 0.5)


def test_single_value_equals_list_of_one() -> None:
    one = torch.zeros(1)
    assert (values_of(one), values_of([one]), values_of((one,))) == ((one,), (one,), (one,))
    assert len(values_of([0] * 10**6)) == 64


@pytest.mark.parametrize("base", [list, tuple])
def test_list_content_is_read_without_its_methods(base: type) -> None:
    def compute(*_: object) -> list[object]:
        raise AssertionError("it ran")

    later = type("Later", (base,), {"__getitem__": compute, "__iter__": compute, "__len__": compute})
    assert values_of(later([1, 2])) == (1, 2)


RETURNED = (
    torch.arange(6.0).view(2, 3).T,
    torch.empty(0),
    torch.tensor([True, False, True]),
    torch.view_as_complex(torch.arange(4.0).view(2, 2)).conj(),
    torch.arange(5, dtype=torch.int8)[::2],
    torch.tensor(1.5, dtype=torch.bfloat16).expand(300),
)


def test_outputs_are_aligned_and_copied_unchanged() -> None:
    place = torch.full((output_bytes(RETURNED),), 0xFF, dtype=torch.uint8)
    specs, _ = copy_out(RETURNED, place)
    assert [reported.offset % 256 for reported in specs] == [0] * len(RETURNED)
    for value, reported in zip(RETURNED, specs, strict=True):
        got = take("return", reported, place, value)
        assert isinstance(got, torch.Tensor)
        assert (got.dtype, got.tolist()) == (value.dtype, value.tolist())


def test_nothing_is_written_between_outputs_on_a_device() -> None:
    place = torch.full((output_bytes(RETURNED),), 0xA5, dtype=torch.uint8)
    specs, _ = copy_out(RETURNED, place)
    for reported in specs:
        place[reported.offset : reported.offset + reported.bytes] = 0xA5
    assert set(place.tolist()) == {0xA5}


def test_output_too_large_for_device_is_reported() -> None:
    place = torch.full((output_bytes((torch.zeros(4),)),), 0xA5, dtype=torch.uint8)
    small, large = torch.zeros(4), torch.zeros(10**6)
    specs, activities = copy_out((large, small), place)
    assert [(reported.shape, reported.bytes) for reported in specs] == [((10**6,), 4 * 10**6), ((4,), 16)]
    assert set(place.tolist()) == {0xA5} and activities == 0
    assert isinstance(take("return", specs[0], place, small), OutputReport)


@pytest.mark.parametrize("number", [True, 3, 2.5, 1j])
def test_returned_number_is_filled_and_copied(number: complex) -> None:
    _, activities = copy_out((number,), torch.zeros(1024, dtype=torch.uint8))
    assert activities == 2


def test_output_outside_the_device_is_reported_by_type() -> None:
    place = torch.zeros(1024, dtype=torch.uint8)
    learnt = torch.nn.Parameter(torch.ones(1))
    returned = (None, torch.zeros(1).as_subclass(Agreeable), torch.zeros(1, device="meta"), learnt)
    named = [reported.type_name for reported in copy_out(returned, place)[0]]
    assert named == ["NoneType", "Agreeable", "Tensor on meta", "Tensor"]


@pytest.mark.gpu
def test_device_tensor_has_own_offset_without_neighbours() -> None:
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    device = torch.device("cuda")
    placed, size_bytes = tensors.place((16, 0, 8))
    block = torch.arange(size_bytes, dtype=torch.uint8, device=device)
    memory = CallMemory(device)
    memory._blocks["a handle"] = block
    spec = protocol.ArenaSpec(handle="a handle", storages=placed, bytes=size_bytes, block_bytes=size_bytes)
    storages = memory.storages(spec)
    assert [(part.storage_offset(), part.untyped_storage().nbytes()) for part in storages] == [(0, 16), (0, 0), (0, 8)]
    assert [part.tolist() for part in storages] == [tensors.part(block, place).tolist() for place in placed]
    assert [part.data_ptr() for part in memory.storages(spec)] == [part.data_ptr() for part in storages]
