"""Differences between two tapes of different contents of one case, which must agree in everything but addresses.

Pure: imports neither numpy nor the machine, so that the parent can import it.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from engine.model import Launch
from engine.protocol.messages import FloatSpec
from engine.protocol.proof.tape import (
    Addressed,
    Filled,
    Given,
    Launched,
    LookedUp,
    Moved,
    Step,
    Tape,
    TapedArgument,
    TapedDescriptor,
    TapedNumber,
    TapedValue,
    TapedView,
)

_NUMBER_BYTES = 8  # of a text as many characters
_SMALL_BITS, _LARGE_BITS = 31, 62  # of numbers drawn for integers that Triton passes as int32, and as int64
_DIVISOR = 16  # Triton compiles a specialisation for integers that are multiples of this


class Disagreement(enum.Enum):
    """Kind of a difference between two tapes."""

    NONE = "none"
    SCALAR = "scalar"
    STEPS = "steps"


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """The first difference, in words, and the numbers of Given steps whose bytes differ from the other tape's.

    `seeds` counts the scalars of launches that differ where they may.
    """

    difference: Disagreement
    message: str = ""
    varying: tuple[int, ...] = ()
    seeds: int = 0


def agreement(one: Tape, other: Tape, *, seeds_differ: bool = False) -> Agreement:
    """Compare two tapes step by step; with `seeds_differ` scalars of launches may differ, as random numbers need."""
    varying = []
    seeds = 0
    if len(one.steps) != len(other.steps):
        return Agreement(difference=Disagreement.STEPS, message=_of_lengths(one, other))
    for number, (step, second) in enumerate(zip(one.steps, other.steps, strict=True)):
        if isinstance(step, Given) and isinstance(second, Given):
            if (step.storage, step.operator) != (second.storage, second.operator):
                return Agreement(difference=Disagreement.STEPS, message="two calls of this case move different memory")
            if step.data != second.data:
                varying.append(number)
        elif step != second:
            alike = _with_scalars_of(step, second) if seeds_differ else step
            if alike != second:
                return _disagreement(one, step, second)
            seeds += sum(1 for _ in _different_scalars(step, second))
    if _memory_and_results(one) != _memory_and_results(other):
        return Agreement(difference=Disagreement.STEPS, message="two calls of this case use memory differently")
    return Agreement(difference=Disagreement.NONE, varying=tuple(varying), seeds=seeds)


def with_other_seeds(tape: Tape, other: Tape, draw: Callable[[str], int]) -> Tape:
    """The tape with other integers for those that launches get and that differ from the `other` tape's.

    `draw` gives 64 random bits for a purpose.  A number keeps its sign and the range of its type, int32 or int64, and
    whether it is a multiple of 16, for which its kernel was compiled; equal numbers stay equal.
    """
    drawn: dict[int, int] = {}
    steps: list[Step] = []
    for step, second in zip(tape.steps, other.steps, strict=True):
        differing = frozenset(_different_scalars(step, second))
        if isinstance(step, Launched) and differing:
            arguments = tuple(_with_seed(one, drawn, draw) if one.name in differing else one for one in step.arguments)
            steps.append(msgspec.structs.replace(step, arguments=arguments))
        else:
            steps.append(step)
    return msgspec.structs.replace(tape, steps=tuple(steps))


def _with_seed(argument: TapedArgument, drawn: dict[int, int], draw: Callable[[str], int]) -> TapedArgument:
    """The argument with the integer drawn for its own; a float or a bool stays."""
    value = argument.value
    if not isinstance(value, TapedNumber) or isinstance(value.value, bool):
        return argument
    number = value.value
    if number not in drawn:
        bits = _SMALL_BITS if -(2**_SMALL_BITS) <= number < 2**_SMALL_BITS else _LARGE_BITS
        fresh = draw(f"seed {number}") % 2**bits
        fresh = max(2**_SMALL_BITS, fresh) if bits == _LARGE_BITS else max(2, fresh)  # 1 is a constant of its kernel
        fresh -= fresh % _DIVISOR if number % _DIVISOR == 0 else 0
        fresh += 1 if number % _DIVISOR and fresh % _DIVISOR == 0 else 0
        drawn[number] = -fresh if number < 0 else fresh
    return msgspec.structs.replace(argument, value=TapedNumber(value=drawn[number]))


def count_different_numbers(one: Tape, other: Tape) -> int:
    """The number of differences between the numbers that the host gave to launches, fills and moves of two tapes.

    Numbers of launches are the kernel, scalars, constants, sizes of grids and descriptors, and where tensors begin;
    those of moves and of returned tensors are places, sizes and strides.  Each 8 characters of a constant, a closure or
    a generated source may hold one.  Launches and fills are compared in their order, moves and arrays of pointers in
    theirs; each number of one that only one tape has counts.
    """
    return sum(_count_of_different(kind(one), kind(other)) for kind in (_launches_and_fills, _moves, _returned))


def _count_of_different(ones: Iterable[Sequence[object]], others: Iterable[Sequence[object]]) -> int:
    pairs = itertools.zip_longest(ones, others, fillvalue=())
    return sum(first != second for numbers in pairs for first, second in itertools.zip_longest(*numbers))


def _launches_and_fills(tape: Tape) -> Iterator[tuple[object, ...]]:
    for step in tape.steps:
        if isinstance(step, Filled):
            yield _pieces(step.element)
        elif isinstance(step, Launched):
            known = step.specialisation < len(tape.specialisations)
            kernel = _numbers_of_kernel(tape.specialisations[step.specialisation]) if known else ()
            arguments = (number for argument in step.arguments for number in _numbers_of(argument.value))
            yield (*step.grid, *arguments, *kernel)


def _moves(tape: Tape) -> Iterator[tuple[object, ...]]:
    for step in tape.steps:
        if isinstance(step, Moved):
            yield (*_numbers_of_place(step.target), *_numbers_of_place(step.source))
        elif isinstance(step, LookedUp):
            views = (step.target, step.source, step.positions)
            yield tuple(number for view in views for number in _numbers_of_place(view))
        elif isinstance(step, Addressed):
            yield step.words


def _returned(tape: Tape) -> Iterator[tuple[object, ...]]:
    return (_numbers_of_place(view) for view in tape.returned if view is not None)


def _numbers_of_kernel(launch: Launch) -> tuple[object, ...]:
    """The kernel and the texts that it was specialised with, in pieces that hold about one number each."""
    texts = (*launch.constants.values(), launch.closure, launch.generated_source)
    return ((launch.kernel, launch.line), *(piece for text in texts for piece in _pieces(text)))


def _pieces(content: str | bytes) -> tuple[object, ...]:
    """The content in pieces of as many bytes or characters as a number has bytes."""
    return tuple(content[begin : begin + _NUMBER_BYTES] for begin in range(0, len(content), _NUMBER_BYTES))


def _numbers_of_place(view: TapedView) -> tuple[object, ...]:
    return ((view.storage, view.offset_bytes), *view.shape, *view.strides)


def _numbers_of(value: TapedValue) -> tuple[object, ...]:
    match value:
        case TapedView():
            return ((value.storage, value.offset_bytes),)
        case TapedDescriptor():
            return ((value.base.storage, value.base.offset_bytes), *value.shape, *value.strides)
        case TapedNumber():
            return (value.value,)
        case FloatSpec():
            return (value.hex,)


def _with_scalars_of(step: Step, second: Step) -> Step:
    """A launch with another launch's numbers; any other step unchanged."""
    if not isinstance(step, Launched) or not isinstance(second, Launched):
        return step
    if len(step.arguments) != len(second.arguments):
        return step
    arguments = (
        theirs if _is_number(own) and _is_number(theirs) and own.name == theirs.name else own
        for own, theirs in zip(step.arguments, second.arguments, strict=True)
    )
    return msgspec.structs.replace(step, arguments=tuple(arguments))


def _is_number(argument: TapedArgument) -> bool:
    return isinstance(argument.value, TapedNumber | FloatSpec)


def _memory_and_results(tape: Tape) -> tuple[object, ...]:
    return tape.storages, tape.specialisations, tape.returned


def _of_lengths(one: Tape, other: Tape) -> str:
    first, second = len(one.launches), len(other.launches)
    if first != second:
        return f"two calls of this case launch {first} and {second} kernels"
    return f"two calls of this case take {len(one.steps)} and {len(other.steps)} steps"


def _disagreement(tape: Tape, step: Step, second: Step) -> Agreement:
    if isinstance(step, Launched) and isinstance(second, Launched):
        name = _kernel_name(tape, step)
        scalar = next(_different_scalars(step, second), None)
        if scalar is not None:
            message = f"a scalar that depends on the data: argument {scalar} of kernel {name}"
            return Agreement(difference=Disagreement.SCALAR, message=message)
        if step.grid != second.grid:
            return Agreement(difference=Disagreement.SCALAR, message=f"a grid that depends on the data: kernel {name}")
        message = f"two calls of this case launch kernel {name} on different memory"
        return Agreement(difference=Disagreement.STEPS, message=message)
    return Agreement(difference=Disagreement.STEPS, message="two calls of this case take different steps")


def _kernel_name(tape: Tape, step: Launched) -> str:
    known = step.specialisation < len(tape.specialisations)
    return tape.specialisations[step.specialisation].kernel if known else "of no name"


def _different_scalars(step: Step, second: Step) -> Iterator[str]:
    """The arguments that are numbers in both launches, but differ."""
    if not isinstance(step, Launched) or not isinstance(second, Launched):
        return
    for argument, other in zip(step.arguments, second.arguments, strict=False):
        if _is_number(argument) and argument.name == other.name and argument.value != other.value:
            yield argument.name
