"""Integers that can be places in memory: in a call, larger ones than its memory has bytes are numbers of other use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch

from engine.clock.safe_torch import Base, without_modes
from engine.protocol.monitoring import ADDRESSING
from engine.worker.operands import device_of, elements_of, has_memory, tensors_in

_MAKING_PLACES = frozenset(getattr(torch.ops.aten, name) for name in ADDRESSING if hasattr(torch.ops.aten, name))
_LEAST = 4096  # places of padding, in calls on a few numbers
_least_and_largest = torch.ops.aten.aminmax.default  # these are bound before a candidate can replace them
_is_capturing = torch.cuda.is_current_stream_capturing


def makes_places(packet: Any) -> bool:  # Any: an OpOverloadPacket, which has no public name
    """Whether an operator is arithmetic that makes addresses of indices."""
    return packet in _MAKING_PLACES


def most_of(arguments: Sequence[object]) -> int:
    """The largest place in a call: the bytes of the memory that its arguments view, a few thousand at least."""
    held = sum(Base.untyped_storage(tensor).nbytes() for tensor in tensors_in(arguments) if has_memory(tensor))
    return max(held, _LEAST)


def are_within(integers: Iterable[torch.Tensor], most: int) -> bool:
    """Whether no element of these tensors is above `most`, or below its negative; reads them from their device.

    While a CUDA graph is captured, which allows no reads, it is assumed.
    """
    held = [tensor for tensor in integers if has_memory(tensor) and elements_of(tensor)]
    if any(device_of(tensor).type != "cpu" for tensor in held) and _is_capturing():
        return True
    with without_modes():
        for tensor in held:
            least, largest = _least_and_largest(tensor)
            if int(least) < -most or int(largest) > most:
                return False
    return True
