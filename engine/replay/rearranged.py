"""Outputs of a replay that the framework has rearranged: for problems whose answer is itself a rearrangement.

A copy by the framework is allowed there if it keeps the order of a whole tensor, as `contiguous` of an argument does,
and if its target does not get the answer itself, unless a kernel stored that.  Padding is such a copy to a part of
memory that is at most half as large as the answer: with the rest missing, larger memory could still be most of it.  If
positions choose the places, moves of positions are allowed too: integers of arguments whose type is not that of an
output.  Before a launch that gets such positions, and so has an answer that depends on them, torch may move elements of
arguments freely, and afterwards what the launch stored: a copy of a view depends on none of the positions.  If the
elements themselves choose the places, as in a sort, the same holds for every launch.  Constants have no elements of the
arguments.  Any other move may have done the work of the kernel, and a kernel after it may only copy, or cast.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from math import prod

import msgspec
import numpy as np

from engine.machine.numerics import Array
from engine.model import Rearrangement
from engine.protocol.messages import ValueSpec, tensor_specs
from engine.protocol.proof.replaying import ReplayTape
from engine.protocol.proof.tape import (
    ELEMENT_BYTES,
    Addressed,
    Filled,
    Given,
    Launched,
    LookedUp,
    Moved,
    Step,
    Tape,
    TapedView,
)
from engine.replay.checks import bytes_of
from engine.replay.elements import view_of

_ENOUGH = 8  # elements of an output: fewer may be equal by chance
_SAMPLED = 1024  # output elements searched for in the arguments
_INTEGERS = frozenset(("bool", "uint8", "int8", "int16", "int32", "int64"))
_UNKNOWN = ""  # origin of elements that a kernel or another operator computed
_CONSTANT = "constant"  # origin of content that is the same for all arguments, and so is none of their elements

_Kind = tuple[str, bool]
"""Origin of the elements of a move, and whether it is without index tensors."""


def rearranged_of(tape: Tape, command: ReplayTape, arguments: Sequence[Array]) -> Rearranged | None:
    """The rearrangement by the moves of a checked tape; None without any, or if the answer is not a rearrangement."""
    moves = any(isinstance(step, Filled | Moved | LookedUp) for step in tape.steps)
    if command.rearrangement is Rearrangement.NO or not moves:
        return None
    views = argument_views(tape, command.arguments)
    if command.rearrangement.is_certain:
        return Rearranged(tape, views, rearrangement=command.rearrangement)
    argument_of = [storage.argument for storage in tape.storages]
    held = [
        view_of(arguments[argument], view).copy()
        for view in views
        if (argument := argument_of[view.storage]) is not None
    ]
    return Rearranged(tape, views, rearrangement=command.rearrangement, elements=held)


def argument_views(tape: Tape, arguments: Iterable[ValueSpec]) -> list[TapedView]:
    """The tensors among the arguments of the entry, as views of the tape."""
    number_by_argument = {storage.argument: number for number, storage in enumerate(tape.storages)}
    specs = [part for value in arguments for part in tensor_specs(value) if part.storage in number_by_argument]
    return [
        TapedView(
            storage=number_by_argument[spec.storage], dtype=spec.dtype, shape=spec.shape, strides=spec.strides,
            offset_bytes=spec.first * ELEMENT_BYTES[spec.dtype],
        )
        for spec in specs
    ]  # fmt: skip


class Rearranged:
    """Follows moves from step to step."""

    def __init__(
        self,
        tape: Tape,
        arguments: Iterable[TapedView],
        *,
        rearrangement: Rearrangement = Rearrangement.BY_POSITIONS,
        elements: Sequence[Array] | None = None,
    ) -> None:
        """`arguments` are the tensors that the entry gets, as views of the tape.

        In a rearrangement of kind YES or BY_ORDER no integers of them choose places, and all are elements.  With
        `elements`, their content before the call, only an answer that consists of such elements is a rearrangement.
        """
        self._tape = tape
        self._elements = elements
        are_elements = rearrangement in (Rearrangement.YES, Rearrangement.BY_ORDER)
        self._positions = frozenset[str]() if are_elements else _INTEGERS
        self._rearrangement = rearrangement
        self._arguments = tuple(arguments)
        self._whole = {_place(view) for view in self._arguments}
        self._has_addresses = any(isinstance(step, Addressed) for step in tape.steps)
        self._origins: dict[int, set[str]] = {}  # by storage: dtypes of the arguments that moves copied into it
        for view in self._arguments:
            self._origins.setdefault(view.storage, set()).add(view.dtype)
        self._moves: dict[int, dict[_Kind, int]] = {}  # storage -> the first move of each kind that rearranged
        self._moved_into: set[int] = set()  # by moves or operators, not by launches alone
        self._move_by_digest: dict[bytes, int] = {}
        self._placed: set[int] = set()  # storages with content that a launch by positions stored
        self._maybe_placed: set[int] = set()  # those where integers of that launch may also be elements
        self._padded: set[int] = set()  # storages with a copy of one whole tensor in its order, in a part of them
        self._reordered: set[int] = set()  # storages with other rearranging moves
        self._returned = {view.dtype for view in tape.returned if view is not None}
        self._least_bytes = min((bytes_of(view) for view in tape.returned if view is not None), default=0)

    def note(self, number: int, step: Step, content: Sequence[Array], launched: Collection[int]) -> None:
        """Follow a step other than a launch, which was executed on `content`; kernels stored to those `launched`."""
        if isinstance(step, Filled | Moved | LookedUp):
            self._note_written(step.target.storage, bytes_of(step.target))
        elif isinstance(step, Given):
            self._note_written(step.storage, self._tape.storages[step.storage].bytes)
        match step:
            case Filled():
                self._note_move(number, step.target, None, content)
            case Moved():
                self._note_origin(step.target, step.source)
                self._note_placed((step.target.storage,), (step.source.storage,))
                is_whole = self._is_whole(step.source) and self._is_whole(step.target)
                if step.source.storage in self._placed or (step.source.storage in launched and is_whole):
                    self._inherit((step.target.storage,), (step.source.storage,))
                else:
                    self._note_move(number, step.target, step.source, content)
            case LookedUp():
                self._note_origin(step.target, step.source)
                self._note_rearranged(number, step.target.storage, regardless=False)
                self._inherit((step.target.storage,), (step.source.storage,))
            case Given():
                self._origins.setdefault(step.storage, set()).add(_CONSTANT if step.data is not None else _UNKNOWN)
                self._inherit((step.storage,), step.reads)

    def note_launch(self, step: Launched, stored: Collection[int], launched: Collection[int]) -> None:
        """Follow a launch that may have written to the storages `stored`; kernels stored to those `launched`."""
        used = range(len(self._tape.storages)) if self._has_addresses else _storages_of(step)
        self._inherit(stored, used)
        self._note_placed(stored, used)
        if self._rearrangement is not Rearrangement.BY_CONTENT:
            origins = [self._origins.get(number, set()) for number in _storages_of(step)]
            answers = self._returned | {view.dtype for view in self._arguments if view.storage in launched}
            by_order = self._rearrangement is Rearrangement.BY_ORDER
            if by_order or any(types and types <= self._positions - answers for types in origins):
                self._placed.update(stored)
            if any(types and types <= self._positions for types in origins):
                self._maybe_placed.update(stored)

    def written(self, changed: Collection[int]) -> list[TapedView]:
        """The arguments whose storages have changed: outputs that are written in place."""
        return [view for view in self._arguments if view.storage in changed]

    def step_behind(self, outputs: Sequence[TapedView], content: Sequence[Array]) -> int | None:
        """The number of the first move that may have computed an output; None if there is none."""
        elements = [view_of(content[view.storage], view) for view in outputs if bytes_of(view)]
        step = self._first_step([view for view in outputs if bytes_of(view)], elements)
        if step is None:
            step = self._move_of_the_answer(elements, content)
        if step is None or (self._elements is not None and not _occur_in(elements, self._elements)):
            return None
        return step

    def made(self, outputs: Sequence[TapedView], content: Sequence[Array], stored: Collection[int]) -> bool:
        """Whether memory that rearranging moves filled, and none of `stored`, holds an output of several values."""
        padded = self._padded - self._reordered - {view.storage for view in outputs}
        filled = self._moved_into.intersection(self._moves) - self._maybe_placed - padded
        moved = [_digest(content[storage]) for storage in filled if storage not in stored]
        elements = [view_of(content[view.storage], view) for view in outputs if prod(view.shape) >= _ENOUGH]
        return any(_digest(one) in moved for one in elements if moved and bool((one != one.flat[0]).any()))

    def _first_step(self, outputs: Sequence[TapedView], elements: Sequence[Array]) -> int | None:
        answers = {view.dtype for view in outputs}
        moves = [
            move
            for view in outputs
            for origin, move in self._moves_behind(view.storage)
            if origin in answers or origin not in self._positions
        ]
        moves += [self._move_by_digest[one] for one in map(_digest, elements) if one in self._move_by_digest]
        return min(moves, default=None)

    def _move_of_the_answer(self, elements: Sequence[Array], content: Sequence[Array]) -> int | None:
        """The first move into a storage whose whole content equals an output; None if there is none."""
        answers = {_digest(one) for one in elements if one.size >= _ENOUGH}
        held = [number for number in self._moves if answers and _digest(content[number]) in answers]
        return min((move for number in held for _, move in self._moves_behind(number)), default=None)

    def _moves_behind(self, storage: int) -> Iterator[tuple[str, int]]:
        """The moves of elements that may have computed what a storage holds, with their origins."""
        is_placed = storage in self._placed
        for (origin, regardless), move in self._moves.get(storage, {}).items():
            if origin != _CONSTANT and not (is_placed and regardless):
                yield origin, move

    def _note_written(self, storage: int, size: int) -> None:
        """Record that torch wrote `size` bytes of a storage; all of it replaces what a launch stored."""
        self._moved_into.add(storage)
        if size >= self._tape.storages[storage].bytes:
            self._placed.discard(storage)
            self._maybe_placed.discard(storage)

    def _note_placed(self, storages: Collection[int], sources: Iterable[int]) -> None:
        """Content of `sources`, which launches by positions may have stored, reaches `storages`."""
        for placed in (self._placed, self._maybe_placed):
            if not placed.isdisjoint(sources):
                placed.update(storages)

    def _note_origin(self, target: TapedView, source: TapedView) -> None:
        self._origins.setdefault(target.storage, set()).update(self._origins.get(source.storage, {_UNKNOWN}))

    def _note_move(self, number: int, target: TapedView, source: TapedView | None, content: Sequence[Array]) -> None:
        is_whole = self._is_whole(target) or (source is not None and self._is_laid_out_as(target, source))
        if source is not None:
            self._inherit((target.storage,), (source.storage,))
        if source is not None and not is_whole and self._is_padding(target, source):
            self._padded.add(target.storage)
            if 2 * self._tape.storages[target.storage].bytes > self._least_bytes:
                self._note_rearranged(number, target.storage, regardless=True)
            return
        if not (is_whole and (source is None or self._is_whole(source))):
            self._note_rearranged(number, target.storage, regardless=True)
            self._reordered.add(target.storage)
            return
        for view in (target, source):
            if view is not None:
                self._move_by_digest.setdefault(_digest(view_of(content[view.storage], view)), number)
        self._move_by_digest.setdefault(_digest(content[target.storage]), number)  # in the order of its bytes

    def _note_rearranged(self, number: int, storage: int, *, regardless: bool) -> None:
        for origin in self._origins.get(storage) or (_UNKNOWN,):
            self._moves.setdefault(storage, {}).setdefault((origin, regardless), number)

    def _inherit(self, storages: Iterable[int], sources: Iterable[int]) -> None:
        """Content of `sources`, rearranged or not, reaches `storages`."""
        inherited: dict[_Kind, int] = {}
        for source in sources:
            inherited |= {
                kind: move for kind, move in self._moves.get(source, {}).items() if move < inherited.get(kind, move + 1)
            }
        for storage in storages if inherited else ():
            self._moves[storage] = inherited | self._moves.get(storage, {})

    def _is_whole(self, view: TapedView) -> bool:
        """Whether a view is an argument, or all of a storage in the order of its bytes."""
        if _place(view) in self._whole:
            return True
        return bytes_of(view) == self._tape.storages[view.storage].bytes and _is_contiguous(view)

    def _is_padding(self, target: TapedView, source: TapedView) -> bool:
        """Whether a move is the first one of a whole tensor to a part of a storage, in the order of its bytes."""
        if not self._is_whole(source) or target.storage in self._padded or target.storage in self._reordered:
            return False
        axes = [axis for axis in zip(source.strides, target.strides, target.shape, strict=True) if axis[2] != 1]
        axes.sort(reverse=True)
        return all(outer >= step * size for (_, outer, _), (_, step, size) in pairwise(axes))

    def _is_laid_out_as(self, target: TapedView, source: TapedView) -> bool:
        """Whether a view is all of a storage, its dimensions in the order of those of the source, as in a `clone`."""
        if bytes_of(target) != self._tape.storages[target.storage].bytes or target.offset_bytes:
            return False
        axes = sorted(zip(source.strides, target.strides, target.shape, strict=True), reverse=True)
        shape, strides = tuple(axis[2] for axis in axes), tuple(axis[1] for axis in axes)
        return _is_contiguous(msgspec.structs.replace(target, shape=shape, strides=strides))


def _occur_in(outputs: Iterable[Array], arguments: Sequence[Array]) -> bool:
    """Whether all outputs, as far as they are sampled, have elements of the arguments only, or zeros."""
    for output in outputs:
        flat = np.ascontiguousarray(output).reshape(-1)
        codes = _codes(flat[:: -(-flat.size // _SAMPLED)])
        given = [_codes(one) for one in arguments if one.itemsize == output.itemsize]
        if not np.isin(codes, np.concatenate([np.zeros(1, codes.dtype), *given])).all():
            return False
    return True


def _codes(elements: Array) -> Array:
    """Elements as unsigned integers of their bits."""
    size = min(elements.itemsize, 8)
    return np.ascontiguousarray(elements).reshape(-1).view(f"u{size}")


def _place(view: TapedView) -> tuple[object, ...]:
    """Key of views of the same elements in the same order."""
    axes = tuple(axis for axis in zip(view.shape, view.strides, strict=True) if axis[0] != 1)
    return view.storage, view.dtype, view.offset_bytes, axes


def _is_contiguous(view: TapedView) -> bool:
    step = 1
    for size, stride in reversed(tuple(zip(view.shape, view.strides, strict=True))):
        if size != 1 and stride != step:
            return False
        step *= size
    return True


def _storages_of(step: Launched) -> tuple[int, ...]:
    return tuple(view.storage for view in step.views)


def _digest(elements: Array) -> bytes:
    return hashlib.blake2b(np.ascontiguousarray(elements).tobytes(), digest_size=32).digest()
