"""Where the memory of a call got its content: from arguments, from constants, or from the bits of fractions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from engine.clock.safe_torch import Base, without_modes
from engine.protocol.monitoring import ADDRESSING, LOOKING_UP, TABULATING
from engine.worker.monitor.operators.places import are_within, can_be_read, most_of
from engine.worker.operands import (
    address_of,
    are_booleans,
    are_integers,
    dtype_of,
    elements_of,
    has_memory,
    have_fractions,
    tensors_in,
)

# Operators are OpOverloadPackets, which have no public name: Any throughout this file.

_OF_MASKS = frozenset(
    getattr(torch.ops.aten, f"{kind}_{name}") for kind in ("bitwise", "logical") for name in ("and", "or", "xor", "not")
)
_ADDRESSING = frozenset(getattr(torch.ops.aten, name) for name in ADDRESSING if hasattr(torch.ops.aten, name))
_TABULATING = frozenset(getattr(torch.ops.aten, name) for name in TABULATING)
_LOOKING_UP = frozenset(getattr(torch.ops.aten, name) for name in LOOKING_UP)
_CHOOSING = torch.ops.aten.where
_SHIFTING = frozenset((torch.ops.aten.__rshift__, torch.ops.aten.bitwise_right_shift))
_MOST_BITS = 64
_PUTTING = frozenset((torch.ops.aten.index_put_, torch.ops.aten.scatter_))
_MOST_PLACES = 1 << 20
_OF_NUMBERS = "arange lift_fresh scalar_tensor full full_like new_full zeros zeros_like new_zeros"
_MAKING_CONSTANTS = frozenset(getattr(torch.ops.aten, name) for name in _OF_NUMBERS.split())
_MOST_CONSTANTS, _MOST_CONSTANT_BYTES = 256, 1 << 16
_POSITIONS = (torch.int32, torch.int64)
_empty = torch.empty  # bound before a candidate can replace it


class Origin(NamedTuple):
    """Origin of what an operator takes.

    `reads` is whether an argument of the entry, or what torch alone made of one, is among it.  It is `of_arguments` if
    all of it is, constants included, and `of_integers` if no fraction is behind that; `is_constant` if torch made it
    of numbers alone.  `of_bits` is whether integers among it are the bits of fractions.  `places` are the arguments,
    by their place, that all of it came from; None if it is not `of_arguments`.
    """

    reads: bool = False
    of_arguments: bool = False
    of_integers: bool = False
    is_constant: bool = False
    of_bits: bool = False
    places: frozenset[int] | None = None


class MemoryOrigins:
    """Follows the memory of one call after another by the addresses of its storages."""

    def __init__(self) -> None:
        self._inputs: set[int] = set()
        self._of_arguments: set[int] = set()
        self._of_integers: set[int] = set()
        self._fractions: set[int] = set()
        self._constants: dict[int, bytes] = {}  # digests, as a kernel may write to this memory
        self._most_place = 0
        self._places: dict[int, frozenset[int]] = {}
        self._made_of_places: dict[int, bytes] = {}  # digests of what torch made of arguments alone
        self._places_of_integers: set[int] = set()  # in calls with fractions
        self._places_of_fractions: set[int] = set()  # in any call

    def begin(self, arguments: Sequence[object]) -> None:
        """Begin a call of the entry with these arguments."""
        tensors = [tensor for tensor in tensors_in(arguments) if address_of(tensor)]
        self._inputs = set(map(address_of, tensors))
        self._fractions = {address_of(tensor) for tensor in tensors if have_fractions((tensor,))}
        self._of_arguments = set(self._inputs)
        self._of_integers = self._inputs - self._fractions
        self._most_place = most_of(arguments)
        self._begin_places(arguments)

    def _begin_places(self, arguments: Sequence[object]) -> None:
        """Note the arguments, by their place, that have fractions, and those of integers beside them."""
        self._places, self._made_of_places = {}, {}
        held = {place: list(tensors_in((argument,))) for place, argument in enumerate(arguments)}
        for place, tensors in held.items():
            for tensor in tensors:
                if address := address_of(tensor):
                    self._places[address] = self._places.get(address, frozenset()) | {place}
        fractions = {place for place, tensors in held.items() if any(have_fractions((one,)) for one in tensors)}
        self._places_of_fractions |= fractions
        if fractions:
            self._places_of_integers.update(place for place, tensors in held.items() if tensors)

    def are_positions(self, places: frozenset[int] | None) -> bool:
        """Whether arguments at these places were integers in all calls so far in which another one had fractions."""
        return places is not None and places <= self._places_of_integers - self._places_of_fractions

    def reads(self, taken: Iterable[torch.Tensor]) -> bool:
        """Whether one of these tensors is an argument of the entry, or was made from one by torch alone."""
        return any(address_of(tensor) in self._inputs for tensor in taken)

    def of(self, packet: Any, taken: Sequence[torch.Tensor]) -> Origin:
        """Origin of what an operator is about to take, and may write to."""
        of_bits = any(not have_fractions((one,)) and address_of(one) in self._fractions for one in taken)
        if not taken:
            return Origin(is_constant=packet in _MAKING_CONSTANTS)
        known = taken
        if packet in _SHIFTING and are_within(taken[1:], _MOST_BITS):
            known = taken[:1]
        elif packet in _PUTTING and _replaces_all(taken):
            known = taken[1:]
        constant = [self._is_constant(one) for one in known]
        places = [address_of(one) for one in known]
        varying = [one for one, is_one in zip(known, constant, strict=True) if not is_one]
        return Origin(
            reads=self.reads(taken),
            of_arguments=all(is_one or at in self._of_arguments for is_one, at in zip(constant, places, strict=True)),
            of_integers=all(is_one or at in self._of_integers for is_one, at in zip(constant, places, strict=True)),
            is_constant=all(constant),
            of_bits=of_bits,
            places=self._places_of(varying),
        )

    def _places_of(self, tensors: Sequence[torch.Tensor]) -> frozenset[int] | None:
        """The arguments that these came from, unchanged by kernels; None if one of them came from elsewhere."""
        found: frozenset[int] = frozenset()
        for tensor in tensors:
            address = address_of(tensor)
            held, digest = self._places.get(address), self._made_of_places.get(address)
            if held is None or (digest is not None and _digest(tensor) != digest):
                return None
            found |= held
        return found or None

    def makes_integers(
        self, packet: Any, origin: Origin, taken: Sequence[torch.Tensor], made: Sequence[torch.Tensor]
    ) -> bool:
        """Whether an operator took and made whole numbers only, beside a mask, and none of them in memory of fractions.

        Address arithmetic that makes larger numbers than any place in the memory of the arguments makes no addresses,
        unless it took arguments and what torch made of them alone: a kernel may have coded fractions as integers.  For
        that reason a table counts only if it was made of integers among the arguments.  Masks count as integers where
        operators on bits combine arguments, or what torch made of them alone.
        """
        if packet in _OF_MASKS and are_booleans((*taken, *made)) and origin.of_arguments and not origin.is_constant:
            return not any(address_of(tensor) in self._fractions for tensor in taken)
        every = [tensor for tensor in (*taken, *made) if packet is not _CHOOSING or not are_booleans((tensor,))]
        if not are_integers(every) or any(address_of(tensor) in self._fractions for tensor in every):
            return False
        if packet in _TABULATING:
            return origin.of_integers and (packet not in _LOOKING_UP or dtype_of(made[0]) in _POSITIONS)
        return packet not in _ADDRESSING or origin.of_arguments or are_within(made, self._most_place)

    def follow(self, origin: Origin, made: Iterable[torch.Tensor]) -> None:
        """Follow the memory of inputs and of fractions, and of integers that are the bits of these."""
        for tensor in made:
            address, fractions = address_of(tensor), have_fractions((tensor,))
            for addresses, belongs in (
                (self._inputs, origin.reads),
                (self._of_arguments, origin.of_arguments and not origin.is_constant),
                (self._of_integers, origin.of_integers and not origin.is_constant and not fractions),
                (self._fractions, origin.of_bits or fractions),
            ):
                if address and belongs:
                    addresses.add(address)
                else:
                    addresses.discard(address)
            self._places.pop(address, None)
            if address and self.are_positions(origin.places) and _can_be_kept(tensor, masks=True):
                self._places[address] = origin.places or frozenset()
                self._made_of_places[address] = _digest(tensor)
            self._constants.pop(address, None)
            if address and origin.is_constant and len(self._constants) < _MOST_CONSTANTS and _can_be_kept(tensor):
                self._constants[address] = _digest(tensor)

    def _is_constant(self, tensor: torch.Tensor) -> bool:
        """Whether this is a small tensor of integers that torch made of numbers, and nothing has written to since."""
        digest = self._constants.get(address_of(tensor))
        return digest is not None and _can_be_kept(tensor) and _digest(tensor) == digest


def _replaces_all(taken: Sequence[torch.Tensor]) -> bool:
    """Whether a row, positions in it and values are taken, and every element of the row gets a value."""
    if len(taken) != 3 or not all(map(has_memory, taken)) or not all(map(can_be_read, taken)):
        return False
    row, positions, _ = taken
    count = elements_of(row)
    is_row = Base.dim(row) == Base.dim(positions) == 1 and elements_of(positions) == count
    if not is_row or dtype_of(positions) not in _POSITIONS or count > _MOST_PLACES:
        return False
    with without_modes():
        held = np.sort(Base.numpy(Base.cpu(Base.clone(positions))))
    return bool((held == np.arange(count)).all())


def _can_be_kept(tensor: torch.Tensor, *, masks: bool = False) -> bool:
    """Whether a tensor is small, of integers or with `masks` of bools, and can be read."""
    is_known = are_integers((tensor,)) or (masks and are_booleans((tensor,)))
    if not has_memory(tensor) or not is_known or not can_be_read(tensor):
        return False
    return bool(elements_of(tensor)) and Base.untyped_storage(tensor).nbytes() <= _MOST_CONSTANT_BYTES


def _digest(tensor: torch.Tensor) -> bytes:
    """Digest of the whole storage of a tensor."""
    storage = Base.untyped_storage(tensor)
    with without_modes():
        whole = Base.set_(_empty(0, dtype=torch.uint8, device=storage.device), storage, 0, (storage.nbytes(),), (1,))
        return hashlib.blake2b(bytes(Base.numpy(Base.cpu(Base.clone(whole)))), digest_size=16).digest()
