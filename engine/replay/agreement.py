"""How two tapes of different contents of one case differ; they must agree in everything but addresses.

Pure: knows neither numpy nor the machine, so that the parent can import it.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

from engine.protocol.messages import FloatSpec
from engine.protocol.tape import Given, Launched, Step, Tape, TapedNumber


class Disagreement(enum.Enum):
    """What two tapes do not agree in."""

    NONE = "none"
    SCALAR = "scalar"
    STEPS = "steps"


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """The first difference, in words, and the numbers of Given steps whose bytes are not those of the other tape."""

    difference: Disagreement
    message: str = ""
    varying: tuple[int, ...] = ()


def agreement(one: Tape, other: Tape) -> Agreement:
    """Compare two tapes step by step."""
    varying = []
    if len(one.steps) != len(other.steps):
        return Agreement(difference=Disagreement.STEPS, message=_lengths(one, other))
    for number, (step, second) in enumerate(zip(one.steps, other.steps, strict=True)):
        if isinstance(step, Given) and isinstance(second, Given):
            if (step.storage, step.operator) != (second.storage, second.operator):
                return Agreement(difference=Disagreement.STEPS, message="two calls of this case move different memory")
            if step.data != second.data:
                varying.append(number)
        elif step != second:
            return _different(one, step, second)
    if _rest(one) != _rest(other):
        return Agreement(difference=Disagreement.STEPS, message="two calls of this case use memory differently")
    return Agreement(difference=Disagreement.NONE, varying=tuple(varying))


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


def _different_scalars(step: Launched, second: Launched) -> Iterator[str]:
    """The arguments that are numbers in both launches, and not the same."""
    for argument, other in zip(step.arguments, second.arguments, strict=False):
        are_numbers = isinstance(argument.value, TapedNumber | FloatSpec)
        if are_numbers and argument.name == other.name and argument.value != other.value:
            yield argument.name
