"""Integers that can be places in memory: in a call, larger ones than its memory has bytes are numbers of other use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch

from engine.clock.safe_torch import Base, without_modes
from engine.worker.operands import device_of, elements_of, has_memory, tensors_in

_LEAST = 4096  # places of padding, in calls on a few numbers
_least_and_largest = torch.ops.aten.aminmax.default  # these are bound before a candidate can replace them
_is_capturing = torch.cuda.is_current_stream_capturing


def most_of(arguments: Sequence[object]) -> int:
    """The largest place in a call: the bytes of the memory that its arguments view, a few thousand at least."""
    held = sum(Base.untyped_storage(tensor).nbytes() for tensor in tensors_in(arguments) if has_memory(tensor))
    return max(held, _LEAST)


def are_within(integers: Iterable[torch.Tensor], most: int) -> bool:
    """Whether no element of these tensors is above `most`, or below its negative; reads them from their device.

    While a CUDA graph is captured, which allows no reads, it is assumed.
    """
    held = [tensor for tensor in integers if has_memory(tensor) and elements_of(tensor)]
    if not all(map(can_be_read, held)):
        return True
    with without_modes():
        for tensor in held:
            least, largest = _least_and_largest(tensor)
            if int(least) < -most or int(largest) > most:
                return False
    return True


def can_be_read(tensor: torch.Tensor) -> bool:
    """Whether the content of a tensor can be read now: not from a device while a CUDA graph is captured."""
    return device_of(tensor).type == "cpu" or not _is_capturing()
