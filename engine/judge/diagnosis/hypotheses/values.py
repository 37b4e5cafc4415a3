"""Hypotheses on misread values: the wrong sign, base or half, another number as an index.

If strides, tails and types are right, a wrong answer mostly has such a cause.  Each hypothesis is one answer of the
reference to arguments that were changed accordingly.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import torch

from engine.judge.diagnosis.hypotheses.hypothesis import Hypothesis, changed, replaced, tensor_at
from engine.judge.diagnosis.ranking import Facts
from engine.judge.diagnosis.symptoms import Symptom
from engine.model import ProblemDefinition

if TYPE_CHECKING:
    from engine.model import Arguments

_LN2 = math.log(2.0)
_MOST_ALONE = 4  # negative indices tested one by one for being clamped to 0


def misreadings(problem: ProblemDefinition, inputs: Arguments, read: Sequence[int]) -> Iterator[Hypothesis]:
    """Possible mistakes in reading the tensors at the places `read`, the likelier first."""
    for place in read:
        tensor, name = tensor_at(inputs, place), problem.arguments[place]
        if tensor.is_floating_point():
            yield from _signs(inputs, place, name)
            yield from _bases(inputs, place, name)
            yield from _halves(inputs, place, name)
        elif tensor.is_complex():
            conjugated = partial(changed, inputs, place, torch.conj_physical)
            yield Hypothesis(symptom=Symptom.CONJUGATED, arguments=conjugated, facts={"argument": name})
        elif tensor.dtype != torch.bool:
            yield from _indices(inputs, place, name)
    yield from _conjugates(problem, inputs, read)
    yield from _exchanges(problem, inputs, read)
    for place in read:
        yield from _backwards(inputs, place, problem.arguments[place])


def _conjugates(problem: ProblemDefinition, inputs: Arguments, read: Sequence[int]) -> Iterator[Hypothesis]:
    """All complex tensors conjugated at once, as if the wrong one of two were conjugated."""
    places = [place for place in read if tensor_at(inputs, place).is_complex()]
    if len(places) > 1:
        conjugated = tuple(
            torch.conj_physical(value) if place in places and isinstance(value, torch.Tensor) else value
            for place, value in enumerate(inputs)
        )
        facts: Facts = {"argument": " and ".join(problem.arguments[place] for place in places)}
        yield Hypothesis(symptom=Symptom.CONJUGATED, arguments=lambda: conjugated, facts=facts)


def _signs(inputs: Arguments, place: int, name: str) -> Iterator[Hypothesis]:
    """A sign that is wrong or lost."""
    facts: Facts = {"argument": name}
    for symptom, change, after in (
        (Symptom.SIGN, torch.neg, None),
        (Symptom.INNER_SIGN, torch.neg, torch.neg),
        (Symptom.NO_SIGN, torch.abs, None),
    ):
        yield Hypothesis(symptom=symptom, arguments=partial(changed, inputs, place, change), after=after, facts=facts)


def _bases(inputs: Arguments, place: int, name: str) -> Iterator[Hypothesis]:
    """Powers of 2 in place of powers of e: exp2(x) is exp(x ln 2)."""
    kind = tensor_at(inputs, place).dtype
    for divisor in (1.0, _LN2):
        yield Hypothesis(
            symptom=Symptom.BASE_TWO,
            arguments=partial(changed, inputs, place, _times_ln2),
            after=partial(_as_if_given, kind=kind, divisor=divisor),
            facts={"argument": name},
        )


def _times_ln2(values: torch.Tensor) -> torch.Tensor:
    # In float64, so that the reference gets an unrounded value.
    return values.double() * _LN2


def _as_if_given(values: torch.Tensor, *, kind: torch.dtype, divisor: float) -> torch.Tensor:
    """An output for arguments of this type, if it is wide because one of them was converted."""
    return (values / divisor).to(kind) if values.dtype == torch.float64 else values


def _halves(inputs: Arguments, place: int, name: str) -> Iterator[Hypothesis]:
    """Two adjacent parts, such as the cosines and sines of a table."""
    width = tensor_at(inputs, place).shape[-1] if tensor_at(inputs, place).dim() > 1 else 0
    if width > 1 and width % 2 == 0:
        facts: Facts = {"argument": name}
        for symptom, change in ((Symptom.HALVES, _exchanged_halves), (Symptom.HALF_SIGN, _second_half_negative)):
            yield Hypothesis(symptom=symptom, arguments=partial(changed, inputs, place, change), facts=facts)


def _exchanged_halves(values: torch.Tensor) -> torch.Tensor:
    return values.roll(values.shape[-1] // 2, dims=-1)


def _second_half_negative(values: torch.Tensor) -> torch.Tensor:
    first, second = values.chunk(2, dim=-1)
    return torch.cat((first, -second), dim=-1)


def _indices(inputs: Arguments, place: int, name: str) -> Iterator[Hypothesis]:
    """Indices of rows, slots or positions that are used in place of others."""
    tensor = tensor_at(inputs, place)
    negative = (tensor < 0).nonzero()
    if len(negative):
        yield from _negative_as_zero(inputs, place, name, negative)
        return
    for step in (-1, 1):
        facts: Facts = {"argument": name, "step": "less" if step < 0 else "more"}
        shifted = partial(changed, inputs, place, _shifted, step)
        yield Hypothesis(symptom=Symptom.SHIFTED_INDEX, arguments=shifted, facts=facts)
    for dim in range(tensor.dim()):
        own = partial(changed, inputs, place, _own_number, dim)
        yield Hypothesis(symptom=Symptom.OWN_NUMBER, arguments=own, facts={"argument": name, "dim": dim})


def _negative_as_zero(inputs: Arguments, place: int, name: str, negative: torch.Tensor) -> Iterator[Hypothesis]:
    """All negative indices clamped to 0; or one of them alone, whose element was then the last to be written."""
    tensor = tensor_at(inputs, place)
    sources = len(negative) + int((tensor == 0).sum())
    symptom = Symptom.TWO_SOURCES if sources > 1 else Symptom.NEGATIVE_INDEX
    facts: Facts = {"argument": name, "sources": sources}
    yield Hypothesis(symptom=symptom, arguments=partial(changed, inputs, place, torch.relu), facts=facts)
    for index in negative[:_MOST_ALONE] if len(negative) > 1 else ():
        alone = partial(changed, inputs, place, _zero_at, tuple(index.tolist()))
        yield Hypothesis(symptom=symptom, arguments=alone, facts=facts)


def _zero_at(values: torch.Tensor, index: tuple[int, ...]) -> torch.Tensor:
    copy = values.clone()
    copy[index] = 0
    return copy


def _shifted(values: torch.Tensor, step: int) -> torch.Tensor:
    return (values + step).clamp(min=0)


def _own_number(values: torch.Tensor, dim: int) -> torch.Tensor:
    shape = [-1 if at == dim else 1 for at in range(values.dim())]
    return torch.arange(values.shape[dim], dtype=values.dtype).view(shape).expand(values.shape)


def _exchanges(problem: ProblemDefinition, inputs: Arguments, read: Sequence[int]) -> Iterator[Hypothesis]:
    """Two tensors of one type swapped."""
    for one, other in itertools.combinations(read, 2):
        first, second = tensor_at(inputs, one), tensor_at(inputs, other)
        if first.dtype == second.dtype and first.is_floating_point():
            names: Facts = {"argument": problem.arguments[one], "other": problem.arguments[other]}
            exchanged: Callable[[], Arguments] = partial(_exchanged, inputs, one, other)
            yield Hypothesis(symptom=Symptom.EXCHANGED, arguments=exchanged, facts=names)


def _exchanged(inputs: Arguments, one: int, other: int) -> Arguments:
    return replaced(replaced(inputs, one, inputs[other]), other, inputs[one])


def _backwards(inputs: Arguments, place: int, name: str) -> Iterator[Hypothesis]:
    """A dimension that is read from its end."""
    tensor = tensor_at(inputs, place)
    for dim in range(tensor.dim()):
        if tensor.shape[dim] > 1:
            flip = partial(_flipped, dim=dim, size=tensor.shape[dim])
            yield Hypothesis(
                symptom=Symptom.BACKWARDS,
                arguments=partial(changed, inputs, place, flip),
                after=flip,
                facts={"argument": name, "dim": dim},
            )


def _flipped(values: torch.Tensor, *, dim: int, size: int) -> torch.Tensor:
    """Flipped along `dim`, if that is a dimension of this size."""
    return values.flip(dim) if values.dim() > dim and values.shape[dim] == size else values
