"""How two tapes of different contents of one case differ; they must agree in everything but addresses.

Pure: knows neither numpy nor the machine, so that the parent can import it.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from engine.protocol.messages import FloatSpec
from engine.protocol.proof.tape import (
    Filled,
    Given,
    Launched,
    Step,
    Tape,
    TapedArgument,
    TapedDescriptor,
    TapedNumber,
    TapedValue,
    TapedView,
)

_NUMBER_CHARACTERS = 8


class Disagreement(enum.Enum):
    """Kind of a difference between two tapes."""

    NONE = "none"
    SCALAR = "scalar"
    STEPS = "steps"


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """The first difference, in words, and the numbers of Given steps whose bytes are not those of the other tape.

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
        return Agreement(difference=Disagreement.STEPS, message=_lengths(one, other))
    for number, (step, second) in enumerate(zip(one.steps, other.steps, strict=True)):
        if isinstance(step, Given) and isinstance(second, Given):
            if (step.storage, step.operator) != (second.storage, second.operator):
                return Agreement(difference=Disagreement.STEPS, message="two calls of this case move different memory")
            if step.data != second.data:
                varying.append(number)
        elif step != second:
            alike = _with_scalars_of(step, second) if seeds_differ else step
            if alike != second:
                return _different(one, step, second)
            seeds += sum(1 for _ in _different_scalars(step, second))
    if _rest(one) != _rest(other):
        return Agreement(difference=Disagreement.STEPS, message="two calls of this case use memory differently")
    return Agreement(difference=Disagreement.NONE, varying=tuple(varying), seeds=seeds)


def different_numbers(one: Tape, other: Tape) -> int:
    """How many numbers differ that the host gave to launches and fills of two tapes.

    Numbers of launches are scalars, constants, sizes of grids and descriptors, and where tensors begin; each 8
    characters of a generated source may hold one.  Launches and fills are compared in their order; each number of one
    that only one tape has counts.
    """
    pairs = itertools.zip_longest(_numbers_by_step(one), _numbers_by_step(other), fillvalue=())
    return sum(first != second for numbers in pairs for first, second in itertools.zip_longest(*numbers))


def _numbers_by_step(tape: Tape) -> Iterator[tuple[object, ...]]:
    for step in tape.steps:
        if isinstance(step, Filled):
            yield (step.element,)
        elif isinstance(step, Launched):
            known = step.specialisation < len(tape.specialisations)
            launch = tape.specialisations[step.specialisation] if known else None
            constants = (*launch.constants.values(), *_pieces(launch.generated_source)) if launch is not None else ()
            arguments = (number for argument in step.arguments for number in _numbers_of(argument.value))
            yield (*step.grid, *constants, *arguments)


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces of as many characters as a number has bytes."""
    return (text[begin : begin + _NUMBER_CHARACTERS] for begin in range(0, len(text), _NUMBER_CHARACTERS))


def _numbers_of(value: TapedValue) -> tuple[object, ...]:
    match value:
        case TapedView():
            return (value.offset_bytes,)
        case TapedDescriptor():
            return (value.base.offset_bytes, *value.shape, *value.strides)
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


def _rest(tape: Tape) -> tuple[object, ...]:
    return tape.storages, tape.specialisations, tape.returned


def _lengths(one: Tape, other: Tape) -> str:
    first, second = len(one.launches), len(other.launches)
    if first != second:
        return f"two calls of this case launch {first} and {second} kernels"
    return f"two calls of this case take {len(one.steps)} and {len(other.steps)} steps"


def _different(tape: Tape, step: Step, second: Step) -> Agreement:
    if isinstance(step, Launched) and isinstance(second, Launched):
        name = _kernel(tape, step)
        scalar = next(_different_scalars(step, second), None)
        if scalar is not None:
            message = f"a scalar that depends on the data: argument {scalar} of kernel {name}"
            return Agreement(difference=Disagreement.SCALAR, message=message)
        if step.grid != second.grid:
            return Agreement(difference=Disagreement.SCALAR, message=f"a grid that depends on the data: kernel {name}")
        message = f"two calls of this case launch kernel {name} on different memory"
        return Agreement(difference=Disagreement.STEPS, message=message)
    return Agreement(difference=Disagreement.STEPS, message="two calls of this case take different steps")


def _kernel(tape: Tape, step: Launched) -> str:
    known = step.specialisation < len(tape.specialisations)
    return tape.specialisations[step.specialisation].kernel if known else "of no name"


def _different_scalars(step: Step, second: Step) -> Iterator[str]:
    """The arguments that are numbers in both launches, and not the same."""
    if not isinstance(step, Launched) or not isinstance(second, Launched):
        return
    for argument, other in zip(step.arguments, second.arguments, strict=False):
        if _is_number(argument) and argument.name == other.name and argument.value != other.value:
            yield argument.name
