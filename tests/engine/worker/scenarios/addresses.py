"""Accesses through addresses that a kernel makes or reads, and from one tensor of a case into another."""

from __future__ import annotations

import ctypes
from typing import Any

import torch
import triton
import triton.language as tl

from tests.engine.worker.scenarios.launching import allowed, scenario


@triton.jit
def copy_from(x, y, first, block: tl.constexpr):
    at = first + tl.arange(0, block)
    tl.store(y + at - first, tl.load(x + at))  # LINE copied


@triton.jit
def follow(addresses, y):
    pointer = tl.load(addresses).to(tl.pointer_type(tl.float32))
    tl.store(y, tl.load(pointer))  # LINE follow


@triton.jit
def store_through(addresses, value):
    for i in range(2):
        tl.store(tl.load(addresses + i).to(tl.pointer_type(tl.float32)), value)  # LINE through


@triton.jit
def no_tensor(address):
    tl.store(address.to(tl.int64).to(tl.pointer_type(tl.float32)), 1.0)  # LINE wild


def _neighbours() -> tuple[torch.Tensor, torch.Tensor]:
    """Two storages of eight floats, of which the second begins where the first ends, as in the memory of a case."""
    memory = bytearray(64)
    first, second = (torch.frombuffer(memory, dtype=torch.float32, count=8, offset=start) for start in (0, 32))
    return first, second.fill_(7.0)


@scenario
def a_tensor_of_the_case_that_the_launch_was_not_given() -> Any:
    x, neighbour = _neighbours()
    with allowed(x, neighbour):
        copy_from[(1,)](x, torch.zeros(8), 8, block=8)


@scenario
def a_tensor_of_the_case_after_a_launch_that_made_pointers() -> Any:
    x, neighbour = _neighbours()
    with allowed(x, neighbour):
        follow[(1,)](torch.tensor([neighbour.data_ptr()]), torch.zeros(1))
        copy_from[(1,)](x, torch.zeros(8), 8, block=8)


@scenario
def a_tensor_of_the_case_is_written_through_its_address() -> Any:
    x, neighbour = _neighbours()
    with allowed(x, neighbour):
        store_through[(1,)](torch.tensor([x.data_ptr(), neighbour[7:].data_ptr()]), 2.0)
    return [*x.tolist(), *neighbour.tolist()]


@scenario
def an_address_beyond_the_tensors_of_the_case() -> Any:
    x, neighbour = _neighbours()
    with allowed(x, neighbour):
        store_through[(1,)](torch.tensor([x.data_ptr(), neighbour.data_ptr() + 32]), 2.0)


@scenario
def an_address_from_memory_is_followed_where_it_is_allowed() -> Any:
    elsewhere, y = torch.full((1,), 7.0), torch.zeros(1)
    with allowed(elsewhere):
        follow[(1,)](torch.tensor([elsewhere.data_ptr()]), y)
    return y.tolist()


@scenario
def an_address_from_memory_is_refused_elsewhere() -> Any:
    elsewhere = ctypes.c_float(7.0)  # memory of no tensor
    follow[(1,)](torch.tensor([ctypes.addressof(elsewhere)]), torch.zeros(1))


@scenario
def a_launch_without_a_tensor() -> Any:
    no_tensor[(1,)](64)
