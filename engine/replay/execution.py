"""Executes the steps of a tape on the bytes of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from engine.errors import UnsupportedError
from engine.machine.executor import execute
from engine.machine.ir import Module
from engine.machine.memory import Address, Argument, DescriptorArgument, Memory, Storage
from engine.machine.numerics import Array
from engine.machine.results import AccessKind, Execution
from engine.protocol.messages import FloatSpec
from engine.protocol.proof.tape import (
    Addressed,
    Filled,
    Given,
    Launched,
    LookedUp,
    Moved,
    Tape,
    TapedDescriptor,
    TapedNumber,
    TapedValue,
    TapedView,
)
from engine.replay.checks import TapeError, bytes_of
from engine.replay.elements import cast, look_up, scalar_of, view_of
from engine.replay.rearranged import Rearranged

_BASE, _GAP = 1 << 32, 1 << 16  # of the addresses that kernels see: aligned, and far from one another


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """The module of a specialisation, and the names of the parameters that its function takes, in order.

    One that makes pointers of integers may reach every storage of a tape.
    """

    module: Module
    arguments: tuple[str, ...]
    makes_pointers: bool = False


class KernelStoppedError(Exception):
    """A finding about memory stopped a launch."""


@dataclass(kw_only=True)
class Replay:
    """The state after a tape was executed: `content` are the bytes of each storage.

    `foreign` are the numbers of the Given steps that a storage's content may come from, and `launched` are the storages
    with content that a kernel stored, directly or through moves.  `rearranged` follows rearrangements where they
    matter, and `looks_up_foreign` is whether a look-up took elements or positions from a Given step.
    """

    content: list[Array]
    foreign: dict[int, frozenset[int]] = field(default_factory=dict)
    launched: set[int] = field(default_factory=set)
    changed: set[int] = field(default_factory=set)
    moved_bytes: int = 0
    rearranged: Rearranged | None = None
    looks_up_foreign: bool = False


def replay(
    tape: Tape,
    arguments: Sequence[Array],
    kernels: Mapping[int, Kernel],
    *,
    poison: Callable[[int], Array],
    rearranged: Rearranged | None = None,
) -> Replay:
    """Execute a checked tape on the bytes of the arena's storages, which change in place.

    `poison(bytes)` makes the content of memory that nothing on the tape has written.

    Raises:
        UnsupportedError: a step or an operation that is not replayed.
        MachineError: a module that cannot be executed within the limits of the machine.
        KernelStoppedError: a launch was stopped, by an access outside of memory for instance.
        TapeError: a launch does not give the arguments of its kernel.
    """
    content = [
        poison(storage.bytes) if storage.argument is None else arguments[storage.argument] for storage in tape.storages
    ]
    state = Replay(content=content, rearranged=rearranged)
    bases = _bases(tape)
    for number, step in enumerate(tape.steps):
        match step:
            case Filled():
                elements = view_of(content[step.target.storage], step.target)
                elements[...] = np.frombuffer(step.element, elements.dtype)[0]
                _note_written(tape, state, step.target, ())
            case Moved():
                elements = view_of(content[step.source.storage], step.source)
                target = view_of(content[step.target.storage], step.target)
                target[...] = cast(elements.copy(), step.source.dtype, step.target.dtype)
                _note_written(tape, state, step.target, (step.source.storage,))
            case LookedUp():
                _look_up(tape, state, step)
            case Given():
                data = np.frombuffer(step.data, np.uint8) if step.data is not None else None
                content[step.storage][...] = data if data is not None else poison(len(content[step.storage]))
                state.foreign[step.storage] = _foreign_of(state, step.reads) | {number}
                state.launched.discard(step.storage)
                state.changed.add(step.storage)
            case Addressed():
                addresses = [bases[place.storage] + place.offset_bytes for place in step.places]
                content[step.storage][...] = np.array(addresses, np.int64).view(np.uint8)
                state.foreign.pop(step.storage, None)
                state.launched.discard(step.storage)
            case Launched():
                _launch(tape, state, step, kernels, bases)
        if rearranged is not None:
            rearranged.note(number, step, content, state.launched)
    return state


def _look_up(tape: Tape, state: Replay, step: LookedUp) -> None:
    """Take elements of a storage; positions of noise are brought into range, so that the noise reaches the answer."""
    storages = (step.source.storage, step.positions.storage)
    source, positions, target = (
        view_of(state.content[view.storage], view) for view in (step.source, step.positions, step.target)
    )
    foreign = bool(_foreign_of(state, storages))
    target[...] = look_up(source, positions, step.dimension, each=step.each, wrap=foreign)
    state.looks_up_foreign |= foreign
    launched = step.target.storage in state.launched
    _note_written(tape, state, step.target, storages)
    if not launched:
        state.launched.discard(step.target.storage)


def _bases(tape: Tape) -> list[int]:
    """The address at which kernels see each storage."""
    bases, following = [], _BASE
    for storage in tape.storages:
        bases.append(following)
        following += storage.bytes + _GAP + -storage.bytes % _GAP
    return bases


def _note_written(tape: Tape, state: Replay, target: TapedView, sources: tuple[int, ...]) -> None:
    """What a fill or a move leaves in a storage; one that covers it replaces what was known."""
    state.moved_bytes += bytes_of(target)
    state.changed.add(target.storage)
    covers = bytes_of(target) >= tape.storages[target.storage].bytes
    if covers and target.storage not in sources:
        state.foreign.pop(target.storage, None)
        state.launched.discard(target.storage)
    _add_foreign(state, target.storage, _foreign_of(state, sources))
    if any(source in state.launched for source in sources):
        state.launched.add(target.storage)


def _foreign_of(state: Replay, storages: Iterable[int]) -> frozenset[int]:
    """The Given steps that the content of any of these storages may come from."""
    return frozenset().union(*(state.foreign.get(storage, frozenset()) for storage in storages))


def _add_foreign(state: Replay, storage: int, steps: frozenset[int]) -> None:
    if steps:
        state.foreign[storage] = state.foreign.get(storage, frozenset()) | steps


def _launch(tape: Tape, state: Replay, step: Launched, kernels: Mapping[int, Kernel], bases: Sequence[int]) -> None:
    kernel = kernels[step.specialisation]
    name = tape.specialisations[step.specialisation].kernel
    value_by_name = {argument.name: argument.value for argument in step.arguments}
    missing = [argument for argument in kernel.arguments if argument not in value_by_name]
    if missing:
        raise TapeError(f"a launch of {name} without its argument {missing[0]}")
    values = [value_by_name[argument] for argument in kernel.arguments]
    used = list(dict.fromkeys(view.storage for view in map(_view_of, values) if view is not None))
    dtype_of = {view.storage: view.dtype for view in map(_view_of, values) if view is not None}
    if kernel.makes_pointers:
        used += [number for number in range(len(tape.storages)) if number not in dtype_of]
    memory = Memory(
        [
            Storage(
                name=str(storage), data=state.content[storage], base=bases[storage],
                element=scalar_of(dtype_of.get(storage, "uint8")),
            )
            for storage in used
        ]
    )  # fmt: skip
    x, y, z = step.grid
    execution = execute(kernel.module, (x, y, z), [_argument(value, used) for value in values], memory)
    if not execution.is_complete:
        raise KernelStoppedError(f"{name}: {execution.findings[-1].message}")
    _note_launched(state, execution, used)


def _note_launched(state: Replay, execution: Execution, used: Sequence[int]) -> None:
    """Everything that a kernel stores may come from everything that it was given."""
    kinds = (AccessKind.STORE, AccessKind.ATOMIC)
    stored = {int(name) for facts in execution.accesses if facts.kind in kinds for name in facts.storages if name}
    foreign = _foreign_of(state, used)
    for storage in stored:
        state.launched.add(storage)
        state.changed.add(storage)
        _add_foreign(state, storage, foreign)


def _view_of(value: TapedValue) -> TapedView | None:
    if isinstance(value, TapedDescriptor):
        return value.base
    return value if isinstance(value, TapedView) else None


def _argument(value: TapedValue, used: Sequence[int]) -> Argument:
    match value:
        case TapedView():
            return Address(storage=used.index(value.storage), offset=value.offset_bytes)
        case TapedDescriptor():
            base = Address(storage=used.index(value.base.storage), offset=value.base.offset_bytes)
            return DescriptorArgument(
                base=base, shape=value.shape, strides=value.strides, padding_is_nan=value.padding_is_nan
            )
        case TapedNumber():
            return value.value
        case FloatSpec():
            try:
                return float.fromhex(value.hex)
            except (ValueError, OverflowError) as error:
                raise UnsupportedError(f"the number {value.hex[:40]!r}") from error
