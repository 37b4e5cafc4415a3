"""The memory of a launch has each storage once, and arguments are addresses in it."""

from __future__ import annotations

import pytest
import torch

from engine.machine.ir import Scalar
from engine.machine.memory import Address, DescriptorArgument
from engine.worker.cpu_driver.allocations import Allocations
from engine.worker.cpu_driver.storages import arguments_of
from engine.worker.launches.records import argument_names


class Descriptor:
    """A tensor descriptor of the host, as far as a launch reads it."""

    def __init__(self, base):
        self.base, self.shape, self.strides = base, base.shape, base.stride()
        self.block_shape, self.padding = (2, 2), "nan"


class Foreign:
    """Memory that is no tensor of torch."""

    def data_ptr(self):
        return 1 << 40


def laid_out(others=None, allocations=None, **values):
    """Arguments and memory of a launch with these values, all of them at run time."""
    return arguments_of(dict.fromkeys(values, "*fp32"), values, allocations or Allocations(), others)


def test_a_storage_has_the_bytes_of_its_tensor():
    x = torch.arange(4, dtype=torch.float32)
    (argument,), memory = laid_out(x=x)
    (storage,) = memory.storages
    assert argument == Address(storage=0, offset=0)
    assert (storage.name, storage.element, storage.base) == ("x", Scalar.F32, x.data_ptr())
    assert storage.data.tobytes() == x.numpy().tobytes()


def test_a_write_to_a_storage_reaches_the_tensor():
    x = torch.zeros(2)
    _, memory = laid_out(x=x)
    memory.storages[0].data[:] = 255
    assert x.view(torch.int32).tolist() == [-1, -1]


def test_views_of_one_storage_differ_by_offset():
    whole = torch.zeros(8)
    arguments, memory = laid_out(x=whole, y=whole[3:])
    assert arguments == (Address(storage=0, offset=0), Address(storage=0, offset=12))
    assert [(one.name, one.bytes) for one in memory.storages] == [("x", 32)]


@pytest.mark.parametrize(
    ("dtype", "element"),
    [
        (torch.bfloat16, Scalar.BF16),
        (torch.bool, Scalar.I8),
        (torch.int64, Scalar.I64),
        (torch.complex64, Scalar.F32),
        (torch.float8_e5m2, Scalar.I8),
    ],
    ids=str,
)
def test_elements_are_named_by_dtype(dtype, element):
    _, memory = laid_out(x=torch.zeros(2, dtype=dtype))
    assert memory.storages[0].element is element


def test_empty_tensor_has_storage_of_no_bytes():
    arguments, memory = laid_out(x=torch.zeros(8)[4:4], y=torch.zeros(0))
    assert [one.bytes for one in memory.storages] == [0, 0]
    assert {argument.storage for argument in arguments} == {0, 1}


def test_numbers_stay_and_constants_are_left_out():
    arguments, memory = arguments_of(
        {"n": "i32", "flag": "i1", "BLOCK": "constexpr"}, {"n": 7, "flag": True, "BLOCK": 64}, Allocations()
    )
    assert (arguments, memory.storages) == ((7, True), ())


def test_parts_of_tuple_are_separate_arguments():
    x = torch.zeros(2)
    signature, values = {"parts": ("*fp32", "constexpr", "i32")}, {"parts": (x, 3, 5)}
    arguments, memory = arguments_of(signature, values, Allocations())
    assert arguments == (Address(storage=0, offset=0), 5)
    assert argument_names(signature, values) == ("parts.0", "parts.2")
    assert memory.storages[0].name == "parts.0"


def test_descriptor_points_into_storage_of_its_base():
    x = torch.zeros(4, 4)
    (argument,), _ = laid_out(x=Descriptor(x[1:]))
    assert argument == DescriptorArgument(
        base=Address(storage=0, offset=16), shape=(3, 4), strides=(4, 1), padding_is_nan=True
    )


def test_foreign_memory_has_an_address_and_no_bytes():
    (argument,), memory = laid_out(x=Foreign())
    assert argument == Address(storage=0, offset=0)
    assert (memory.storages[0].base, memory.storages[0].bytes) == (1 << 40, 0)


def test_kernels_making_pointers_reach_other_storages():
    copy, empty, other = torch.zeros(3).clone(), torch.empty(7), torch.zeros(5)
    _, memory = laid_out(x=torch.zeros(2), others={"z": other})
    bytes_by_base = {one.base: one.bytes for one in memory.storages}
    assert [bytes_by_base.get(one.data_ptr()) for one in (copy, empty, other)] == [12, 28, 20]
    assert {"x", "z"} <= {one.name for one in memory.storages}
    _, memory = laid_out(x=copy)
    assert [one.bytes for one in memory.storages] == [12]


def test_poison_in_an_allocation_counts_as_unwritten():
    allocations, x = Allocations(), torch.empty(2)
    x.view(torch.uint8).fill_(0xAB)
    allocations.allocated(x, 0xAB)
    x[1] = 1.0
    _, memory = laid_out(x=x, allocations=allocations)
    assert memory.storages[0].written.tolist() == [False] * 4 + [True] * 4
