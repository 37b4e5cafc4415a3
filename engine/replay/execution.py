"""Executes the steps of a tape, and tracks the origin of each storage's content."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from engine.machine.numerics import Array
from engine.protocol.proof.tape import Addressed, Filled, Given, Launched, LookedUp, Moved, Tape, TapedPlace, TapedView
from engine.replay.checks import bytes_of
from engine.replay.origins import Origins
from engine.replay.rearranged import Rearranged


class KernelStoppedError(Exception):
    """A launch was stopped: by a finding about memory, or by the device."""


@dataclass(frozen=True, kw_only=True)
class LaunchEffects:
    """The storages that a launch may have read or written, and those that it stored to.

    `exactly` has a bool per byte of the latter, where it is known to which of them the launch stored.
    """

    used: frozenset[int]
    stored: frozenset[int]
    exactly: Mapping[int, Array] = field(default_factory=dict)


class TapeMemory(Protocol):
    """The storages of a tape, in host memory or on a device, and the effect of each kind of step on them.

    `content` are the bytes of each storage; those on a device are copied to the host when they are indexed.
    """

    @property
    def content(self) -> Sequence[Array]:
        """The bytes of each storage, in their order."""
        ...

    def fill(self, target: TapedView, element: bytes) -> None:
        """Set every element of a view to the one of these bytes."""
        ...

    def move(self, target: TapedView, source: TapedView) -> None:
        """Copy the elements of a view to another, which may overlap it, and cast them."""
        ...

    def look_up(self, step: LookedUp, *, wrap: bool) -> None:
        """Copy elements at positions; with `wrap` positions out of bounds are taken modulo the dimension's length."""
        ...

    def put(self, storage: int, data: bytes | None) -> None:
        """Write these bytes to a storage, or noise without any."""
        ...

    def put_words(self, storage: int, words: Sequence[TapedPlace | int]) -> None:
        """Write numbers and the addresses of places to a storage, as 64-bit integers."""
        ...

    def launch(self, step: Launched) -> LaunchEffects:
        """Run a launch."""
        ...


@dataclass(kw_only=True)
class Replay:
    """The state after a tape was executed: `content` are the bytes of each storage, as in `TapeMemory`.

    `foreign` are the numbers of the Given and Addressed steps that a storage's content may come from, and `launched`
    are the storages with content that a kernel stored, directly or through moves.  `rearranged` follows rearrangements
    where they matter, and `origins` the elements of a tape with moves.  `derived` are the storages whose content may
    depend on the arguments.  `looks_up_foreign` is whether a look-up read elements or positions from a Given step, and
    `looks_up_table` whether one read elements that depend on no argument, as fills or a kernel had written them, at
    positions that do.  `fractional` are the storages with fractions of arguments, or their bits, that no kernel has
    worked on, and `looks_up_by_fractions` whether positions of a look-up were such.  `truncated_by` is the first move
    whose cast dropped fractions of content that may depend on the arguments.
    """

    content: Sequence[Array]
    foreign: dict[int, frozenset[int]] = field(default_factory=dict)
    launched: set[int] = field(default_factory=set)
    changed: set[int] = field(default_factory=set)
    moved_bytes: int = 0
    rearranged: Rearranged | None = None
    derived: set[int] = field(default_factory=set)
    looks_up_foreign: bool = False
    looks_up_table: bool = False
    fractional: set[int] = field(default_factory=set)
    looks_up_by_fractions: bool = False
    truncated_by: int | None = None
    origins: Origins | None = None


def replay(
    tape: Tape, memory: TapeMemory, *, rearranged: Rearranged | None = None, fractional: Iterable[int] = ()
) -> Replay:
    """Execute a checked tape on the storages of `memory`; those that are `fractional` are arguments with fractions.

    Raises:
        UnsupportedError: a step or an operation that is not replayed.
        MachineError: a module that cannot be executed within the limits of the machine.
        KernelStoppedError: a launch was stopped, by an access outside of memory for instance.
        TapeError: a launch does not give the arguments of its kernel.
    """
    arguments = {number for number, storage in enumerate(tape.storages) if storage.argument is not None}
    state = Replay(content=memory.content, rearranged=rearranged, derived=arguments, fractional=set(fractional))
    if any(isinstance(step, Filled | Moved | LookedUp) for step in tape.steps):
        state.origins = Origins(tape)
    for number, step in enumerate(tape.steps):
        match step:
            case Filled():
                memory.fill(step.target, step.element)
                _note_written(tape, state, step.target, ())
            case Moved():
                memory.move(step.target, step.source)
                if step.drops_fractions and step.source.storage in state.derived and state.truncated_by is None:
                    state.truncated_by = number
                _note_written(tape, state, step.target, (step.source.storage,))
            case LookedUp():
                _look_up(tape, state, step, memory)
            case Given():
                memory.put(step.storage, step.data)
                reads = step.reads if step.data is None else ()  # known bytes are a constant, whatever made them
                state.foreign[step.storage] = _foreign_of(state, reads) | {number}
                state.launched.discard(step.storage)
                state.fractional.discard(step.storage)
                state.changed.add(step.storage)
                _note_derived(state, step.storage, depends=step.data is None, covers=True)
            case Addressed():
                memory.put_words(step.storage, step.words)
                state.foreign[step.storage] = frozenset({number})
                state.launched.discard(step.storage)
                _note_derived(state, step.storage, depends=False, covers=True)
            case Launched():
                effects = memory.launch(step)
                _note_launched(state, effects)
                if rearranged is not None:
                    rearranged.note_launch(step, effects.stored, state.launched)
        if state.origins is not None:
            state.origins.note(step)
        if rearranged is not None:
            rearranged.note(number, step, state.content, state.launched)
    return state


def _look_up(tape: Tape, state: Replay, step: LookedUp, memory: TapeMemory) -> None:
    """Copy elements of a storage; positions of noise are brought into range, so that the noise reaches the answer."""
    storages = (step.source.storage, step.positions.storage)
    foreign = bool(_foreign_of(state, storages))
    memory.look_up(step, wrap=foreign)
    state.looks_up_foreign |= foreign
    is_table = step.source.storage not in state.derived and not foreign
    state.looks_up_by_fractions |= step.positions.storage in state.fractional
    state.looks_up_table |= is_table and step.positions.storage in state.derived
    launched = step.target.storage in state.launched
    _note_written(tape, state, step.target, storages)
    if not launched:
        state.launched.discard(step.target.storage)


def _note_written(tape: Tape, state: Replay, target: TapedView, sources: tuple[int, ...]) -> None:
    """Record the content of a storage after a fill or a move; one that covers it replaces earlier records."""
    state.moved_bytes += bytes_of(target)
    state.changed.add(target.storage)
    covers = bytes_of(target) >= tape.storages[target.storage].bytes
    if covers and target.storage not in sources:
        state.foreign.pop(target.storage, None)
        state.launched.discard(target.storage)
        state.fractional.discard(target.storage)
    _add_foreign(state, target.storage, _foreign_of(state, sources))
    _note_derived(state, target.storage, depends=not state.derived.isdisjoint(sources), covers=covers)
    if any(source in state.launched for source in sources):
        state.launched.add(target.storage)
    if not state.fractional.isdisjoint(sources):
        state.fractional.add(target.storage)


def _note_derived(state: Replay, storage: int, *, depends: bool, covers: bool) -> None:
    """Record whether new content of a storage, of all of it if it `covers`, may depend on the arguments."""
    if depends:
        state.derived.add(storage)
    elif covers:
        state.derived.discard(storage)


def _foreign_of(state: Replay, storages: Iterable[int]) -> frozenset[int]:
    """The Given steps that the content of any of these storages may come from."""
    return frozenset().union(*(state.foreign.get(storage, frozenset()) for storage in storages))


def _add_foreign(state: Replay, storage: int, steps: frozenset[int]) -> None:
    if steps:
        state.foreign[storage] = state.foreign.get(storage, frozenset()) | steps


def _note_launched(state: Replay, launched: LaunchEffects) -> None:
    """Record that all stores of a kernel may depend on all of its arguments."""
    foreign = _foreign_of(state, launched.used)
    depends = not state.derived.isdisjoint(launched.used)
    for storage in launched.stored:
        _note_derived(state, storage, depends=depends, covers=False)
        state.launched.add(storage)
        state.changed.add(storage)
        _add_foreign(state, storage, foreign)
    if state.origins is not None:
        state.origins.note_stored(launched.stored, launched.exactly)
