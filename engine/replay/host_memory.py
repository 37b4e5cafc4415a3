"""The storages of a tape in host memory: numpy moves, and the machine executes launches."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.machine.conflicts.warps import ONE_WARP
from engine.machine.executor import execute
from engine.machine.ir import Module
from engine.machine.memory import Address, Argument, DescriptorArgument, Memory, Storage
from engine.machine.numerics import Array
from engine.machine.results import AccessKind, Execution
from engine.protocol.messages import FloatSpec
from engine.protocol.proof.tape import (
    Launched,
    LookedUp,
    Tape,
    TapedDescriptor,
    TapedNumber,
    TapedPlace,
    TapedValue,
    TapedView,
    view_behind,
)
from engine.replay.elements import cast, look_up, scalar_of, view_of
from engine.replay.execution import KernelStoppedError, LaunchEffects
from engine.replay.launch_arguments import float_of, values_of
from engine.replay.memory_checks import MemoryChecks


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """The module of a specialisation, and the names of the parameters that its function takes, in order.

    A kernel that makes pointers of integers may access every storage of a tape.  `waits` is whether programs may wait
    for each other.
    """

    module: Module
    arguments: tuple[str, ...]
    makes_pointers: bool = False
    waits: bool = False


class HostMemory:
    """The storages of one tape, at the addresses `bases` for kernels.

    `poison(bytes)` makes the content of memory that no step of the tape has written.  With `checks` the accesses of
    launches are checked; with `backwards` the programs of kernels that may wait run in descending order, unless one of
    them does wait.
    """

    def __init__(
        self,
        tape: Tape,
        arguments: Sequence[Array],
        kernels: Mapping[int, Kernel],
        *,
        bases: Sequence[int],
        poison: Callable[[int], Array],
        checks: MemoryChecks | None = None,
        backwards: bool = False,
    ) -> None:
        self._tape = tape
        self._backwards = backwards
        self._kernels = kernels
        self._poison = poison
        self._bases = bases
        self._checks = checks
        self.content = [
            poison(storage.bytes) if storage.argument is None else arguments[storage.argument]
            for storage in tape.storages
        ]

    @property
    def may_wait(self) -> bool:
        """Whether the tape launches several programs of a kernel that may wait for each other."""
        several = (step for step in self._tape.launches if math.prod(step.grid) > 1)
        return any(self._kernels[step.specialisation].waits for step in several)

    def fill(self, target: TapedView, element: bytes) -> None:
        """See `TapeMemory`."""
        elements = self._view(target)
        elements[...] = np.frombuffer(element, elements.dtype)[0]

    def move(self, target: TapedView, source: TapedView) -> None:
        """See `TapeMemory`."""
        self._view(target)[...] = cast(self._view(source).copy(), source.dtype, target.dtype)

    def look_up(self, step: LookedUp, *, wrap: bool) -> None:
        """See `TapeMemory`."""
        source, positions = self._view(step.source), self._view(step.positions)
        self._view(step.target)[...] = look_up(source, positions, step.dimension, each=step.each, wrap=wrap)

    def put(self, storage: int, data: bytes | None) -> None:
        """See `TapeMemory`."""
        content = self.content[storage]
        content[...] = np.frombuffer(data, np.uint8) if data is not None else self._poison(len(content))

    def put_words(self, storage: int, words: Sequence[TapedPlace | int]) -> None:
        """See `TapeMemory`."""
        values = [word if isinstance(word, int) else self._bases[word.storage] + word.offset_bytes for word in words]
        self.content[storage][...] = np.array(values, np.int64).view(np.uint8)

    def launch(self, step: Launched) -> LaunchEffects:
        """See `TapeMemory`."""
        kernel = self._kernels[step.specialisation]
        specialisation = self._tape.specialisations[step.specialisation]
        name = specialisation.kernel
        values = values_of(step, name, kernel.arguments)
        views = [view for view in map(view_behind, values) if view is not None]
        used = list(dict.fromkeys(view.storage for view in views))
        dtype_of = {view.storage: view.dtype for view in views}
        if kernel.makes_pointers:
            used += [number for number in range(len(self._tape.storages)) if number not in dtype_of]
        memory = Memory(
            [
                Storage(
                    name=str(storage), data=self.content[storage], base=self._bases[storage],
                    element=scalar_of(dtype_of.get(storage, "uint8")),
                    stored=np.zeros(len(self.content[storage]), np.bool_),
                )
                for storage in used
            ]
        )  # fmt: skip
        x, y, z = step.grid
        arguments = [_argument(value, used) for value in values]
        warps = self._checks.warps_of(specialisation) if self._checks is not None else ONE_WARP
        seed = -1 if self._backwards and kernel.waits else 0
        execution = execute(kernel.module, (x, y, z), arguments, memory, seed=seed, measures=False, warps=warps)
        if self._checks is not None:
            names = _parameters(kernel.arguments, values)
            self._checks.note(execution, specialisation, step, kernel.module, names)
        if not execution.is_complete:
            raise KernelStoppedError(f"{name}: {execution.findings[-1].message}")
        stored = _stored(execution)
        exactly = {
            number: held.stored
            for number, held in zip(used, memory.storages, strict=True)
            if number in stored and held.stored is not None
        }
        return LaunchEffects(used=frozenset(used), stored=stored, exactly=exactly)

    def _view(self, view: TapedView) -> Array:
        return view_of(self.content[view.storage], view)


def _parameters(names: Sequence[str], values: Sequence[TapedValue]) -> dict[str, str]:
    """The first parameter for each storage, by the name of that storage."""
    parameters: dict[str, str] = {}
    for name, value in zip(names, values, strict=True):
        if (view := view_behind(value)) is not None:
            parameters.setdefault(str(view.storage), name)
    return parameters


def _stored(execution: Execution) -> frozenset[int]:
    """The storages that programs have stored to, exactly."""
    kinds = (AccessKind.STORE, AccessKind.ATOMIC)
    return frozenset(
        int(name) for facts in execution.accesses if facts.kind in kinds for name in facts.storages if name
    )


def _argument(value: TapedValue, used: Sequence[int]) -> Argument:
    match value:
        case TapedView():
            return Address(storage=used.index(value.storage), offset=value.offset_bytes)
        case TapedDescriptor():
            base = Address(storage=used.index(value.base.storage), offset=value.base.offset_bytes)
            return DescriptorArgument(
                base=base, shape=value.shape, strides=value.strides, padding_is_nan=value.padding_is_nan,
                rounds_to_tf32=value.rounds_to_tf32,
            )  # fmt: skip
        case TapedNumber():
            return value.value
        case FloatSpec():
            return float_of(value)
