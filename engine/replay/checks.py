"""Checks of a tape that its types cannot make: every view is within its storage, the sum of all sizes is bounded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from engine.errors import KgtuiError
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

ADDRESS_BYTES = 8
_MOST_MOVED = 64  # times the bytes of all storages: more than the moves of any real call write


class TapeError(KgtuiError):
    """A tape that cannot be replayed: it contradicts itself, or exceeds a limit."""


def check_tape(tape: Tape, argument_bytes: Sequence[int], *, most_bytes: int) -> None:
    """Refuse a tape whose steps do not fit its memory, or that needs more than `most_bytes` of it.

    `argument_bytes` are the sizes of the storages of the arena.

    Raises:
        TapeError: the message names the step and the reason.
    """
    _check_arguments(tape, argument_bytes)
    total = sum(storage.bytes for storage in tape.storages)
    if total > most_bytes:
        raise TapeError(f"its storages have {total:,} bytes, more than {most_bytes:,}")
    for number, step in enumerate(tape.steps):
        _check_step(tape, step, f"step {number}")
    moved = sum(bytes_of(step.target) for step in tape.steps if isinstance(step, Moved | Filled | LookedUp))
    if moved > max(total, 1) * _MOST_MOVED:
        raise TapeError(f"it moves {moved:,} bytes in memory of {total:,}")
    for number, view in enumerate(tape.returned):
        if view is not None:
            _check_view(tape, view, f"output {number}")
            _check_size(tape, view, f"output {number}")


def bytes_of(view: TapedView) -> int:
    """The bytes that the elements of a view have."""
    return prod(view.shape) * ELEMENT_BYTES[view.dtype]


def views_of(step: Step) -> Iterator[TapedView]:
    """The views in a step."""
    match step:
        case Filled():
            yield step.target
        case Moved():
            yield step.target
            yield step.source
        case LookedUp():
            yield from (step.target, step.source, step.positions)
        case Launched():
            yield from step.views


def _check_arguments(tape: Tape, argument_bytes: Sequence[int]) -> None:
    """Refuse storages of arguments that the arena does not have, or in another size, or twice."""
    seen: set[int] = set()
    for number, storage in enumerate(tape.storages):
        if storage.argument is None:
            continue
        if storage.argument >= len(argument_bytes):
            raise TapeError(f"storage {number} is argument {storage.argument} of {len(argument_bytes)}")
        if storage.bytes != argument_bytes[storage.argument]:
            raise TapeError(f"storage {number} has {storage.bytes} bytes, not {argument_bytes[storage.argument]}")
        if storage.argument in seen:
            raise TapeError("two storages are the same argument")
        seen.add(storage.argument)


def _check_step(tape: Tape, step: Step, where: str) -> None:
    match step:
        case Given():
            for storage in (step.storage, *step.reads):
                if storage >= len(tape.storages):
                    raise TapeError(f"{where}: storage {storage} of {len(tape.storages)}")
            if step.data is not None and len(step.data) != tape.storages[step.storage].bytes:
                size = tape.storages[step.storage].bytes
                raise TapeError(f"{where}: {len(step.data)} bytes for a storage of {size}")
        case Addressed():
            _check_addresses(tape, step, where)
        case Launched():
            if step.specialisation >= len(tape.specialisations):
                raise TapeError(f"{where}: specialisation {step.specialisation} of {len(tape.specialisations)}")
        case Filled():
            _check_size(tape, step.target, where)
            if len(step.element) != ELEMENT_BYTES.get(step.target.dtype):
                raise TapeError(f"{where}: an element of {len(step.element)} bytes is not a {step.target.dtype}")
        case Moved():
            _check_size(tape, step.target, where)
            if step.target.shape != step.source.shape:
                raise TapeError(f"{where}: shapes {step.target.shape} and {step.source.shape} differ")
        case LookedUp():
            _check_look_up(tape, step, where)
    for view in views_of(step):
        _check_view(tape, view, where)


def _check_look_up(tape: Tape, step: LookedUp, where: str) -> None:
    """Require types and shapes of a look-up, so that a target has as many elements as the positions select."""
    _check_size(tape, step.target, where)
    _check_size(tape, step.positions, where)
    if step.positions.dtype not in ("int32", "int64") or step.target.dtype != step.source.dtype:
        raise TapeError(f"{where}: positions are {step.positions.dtype}, elements {step.source.dtype}")
    before, place, positions = step.source.shape, step.dimension, step.positions.shape
    if place >= len(before):
        raise TapeError(f"{where}: dimension {place} of {len(before)}")
    shape = positions if step.each else (*before[:place], *positions, *before[place + 1 :])
    if step.target.shape != shape:
        raise TapeError(f"{where}: shapes {step.target.shape} and {shape} differ")
    others = [size for number, size in enumerate(before) if number != place]
    if step.each and (len(positions) != len(before) or not _within(positions, others, place)):
        raise TapeError(f"{where}: positions of shape {positions} in elements of shape {before}")


def _within(positions: Sequence[int], others: Sequence[int], place: int) -> bool:
    """Whether positions need no more of the other dimensions than exist."""
    needed = [size for number, size in enumerate(positions) if number != place]
    return all(need <= size for need, size in zip(needed, others, strict=True))


def _check_addresses(tape: Tape, step: Addressed, where: str) -> None:
    places = [word for word in step.words if not isinstance(word, int)]
    for storage in (step.storage, *(place.storage for place in places)):
        if storage >= len(tape.storages):
            raise TapeError(f"{where}: storage {storage} of {len(tape.storages)}")
    size = tape.storages[step.storage].bytes
    if ADDRESS_BYTES * len(step.words) != size:
        raise TapeError(f"{where}: {len(step.words)} addresses for a storage of {size} bytes")
    for place in places:
        if place.offset_bytes > tape.storages[place.storage].bytes:
            size = tape.storages[place.storage].bytes
            raise TapeError(f"{where}: the address of byte {place.offset_bytes:,} of a storage of {size:,}")


def _check_size(tape: Tape, view: TapedView, where: str) -> None:
    """Refuse a written or returned view with more bytes than all storages: strides of 0 can repeat elements forever."""
    if view.storage >= len(tape.storages):
        return  # as `_check_view` reports
    size, own = ELEMENT_BYTES.get(view.dtype, 1) * prod(view.shape), tape.storages[view.storage].bytes
    if size > own and size > sum(storage.bytes for storage in tape.storages):
        raise TapeError(f"{where}: {size:,} bytes of a storage of {own:,}")


def _check_view(tape: Tape, view: TapedView, where: str) -> None:
    if view.storage >= len(tape.storages):
        raise TapeError(f"{where}: storage {view.storage} of {len(tape.storages)}")
    element = ELEMENT_BYTES.get(view.dtype)
    if element is None:
        raise TapeError(f"{where}: the element type {view.dtype[:40]!r} is not replayed")
    if len(view.shape) != len(view.strides):
        raise TapeError(f"{where}: {len(view.shape)} dimensions and {len(view.strides)} strides")
    last = sum((size - 1) * stride for size, stride in zip(view.shape, view.strides, strict=True))
    end = view.offset_bytes + (0 if 0 in view.shape else (last + 1) * element)
    if end > tape.storages[view.storage].bytes:
        raise TapeError(f"{where}: byte {end:,} of a storage of {tape.storages[view.storage].bytes:,}")
