"""Hypotheses on arguments that are ignored, or taken for others: scalars, sizes, strides, whole tensors."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import torch

from engine.judge.diagnosis.hypotheses.hypothesis import Hypothesis, changed, replaced, tensor_at
from engine.judge.diagnosis.hypotheses.scalar_values import other_values
from engine.judge.diagnosis.ranking import Facts
from engine.judge.diagnosis.symptoms import Symptom
from engine.model import ProblemDefinition

if TYPE_CHECKING:
    from engine.model import Arguments, Value

_BLOCKS = tuple(1 << power for power in range(4, 13))
_STRIDE_NAMES = ("inc", "ld", "stride")


def other_scalars(problem: ProblemDefinition, inputs: Arguments, place: int) -> Iterator[Hypothesis]:
    """Another value in place of an argument that is not a tensor."""
    name, given = problem.arguments[place], inputs[place]
    is_stride = _is_stride(name, given)
    for other, words in other_values(problem, inputs, place):
        facts: Facts = {"argument": name, "given": str(given), "value": words}
        symptom = Symptom.STRIDE_ARGUMENT if is_stride else Symptom.ARGUMENT
        if isinstance(given, float) and math.isfinite(given) and other == 1.0:
            symptom = Symptom.ONES
        yield Hypothesis(symptom=symptom, arguments=partial(replaced, inputs, place, other), facts=facts)
        if is_stride and isinstance(given, int) and isinstance(other, int) and 0 < other < given:
            yield from _narrower(inputs, place, given, other, facts)


def products(problem: ProblemDefinition, inputs: Arguments, place: int) -> Iterator[Hypothesis]:
    """A factor multiplied by another, unrelated one."""
    name, given = problem.arguments[place], inputs[place]
    for other, value in zip(problem.arguments, inputs, strict=True):
        if other != name and isinstance(given, float) and isinstance(value, float) and value != 1.0:
            facts: Facts = {"argument": name, "given": str(given), "value": f"{other} * {name} ({value * given:g})"}
            yield Hypothesis(
                symptom=Symptom.ARGUMENT, arguments=partial(replaced, inputs, place, value * given), facts=facts
            )


def cut_sizes(problem: ProblemDefinition, inputs: Arguments, place: int, shape: torch.Size) -> Iterator[Hypothesis]:
    """A size argument of which only whole blocks are processed; no number of elements that no tensor has is a size."""
    name, given = problem.arguments[place], inputs[place]
    most = max(shape.numel(), *(value.numel() for value in inputs if isinstance(value, torch.Tensor)), 0)
    if isinstance(given, int) and given <= most and not _is_stride(name, given):
        for cut, block in sorted({given // block * block: block for block in _BLOCKS}.items(), reverse=True):
            if 0 < cut < given:
                facts: Facts = {"argument": name, "given": given, "value": cut, "block": block}
                for buffers in (
                    inputs,
                    _shorter_buffers(inputs, given, cut),
                ):  # a reference may read their size
                    arguments = partial(replaced, buffers, place, cut)
                    yield Hypothesis(symptom=Symptom.SIZE_ENDED, arguments=arguments, facts=facts)


def absent_tensors(problem: ProblemDefinition, inputs: Arguments, place: int) -> Iterator[Hypothesis]:
    """None in place of an optional tensor, and one constant in place of a boolean tensor."""
    name, tensor = problem.arguments[place], tensor_at(inputs, place)
    if re.search(rf"\b{name}: [^,]*\bNone\b", problem.signature):
        facts: Facts = {"argument": name, "given": "the tensor", "value": "None"}
        absent = partial(replaced, inputs, place, None)
        yield Hypothesis(symptom=Symptom.ARGUMENT, arguments=absent, facts=facts)
    if tensor.dtype == torch.bool:
        for word, make in (("True", torch.ones_like), ("False", torch.zeros_like)):
            facts = {"argument": name, "given": "its elements", "value": f"{word} everywhere"}
            yield Hypothesis(symptom=Symptom.ARGUMENT, arguments=partial(changed, inputs, place, make), facts=facts)


def whole_factors(problem: ProblemDefinition, inputs: Arguments) -> Iterator[Hypothesis]:
    """A factor of a part of the answer that multiplies all of it."""
    for place, given in enumerate(inputs):
        if isinstance(given, float) and given not in (0.0, 1.0):
            yield Hypothesis(
                symptom=Symptom.WHOLE_SCALED,
                arguments=partial(replaced, inputs, place, 1.0),
                after=partial(_scaled, factor=given),
                facts={"argument": problem.arguments[place], "given": f"{given:g}"},
            )


def all_strides(problem: ProblemDefinition, inputs: Arguments) -> Iterator[Hypothesis]:
    """All stride arguments replaced by 1."""
    names = [name for name, value in zip(problem.arguments, inputs, strict=True) if _is_stride(name, value)]
    if len(names) > 1:
        ones: Arguments = tuple(
            1 if name in names else value for name, value in zip(problem.arguments, inputs, strict=True)
        )
        given = ", ".join(str(value) for name, value in zip(problem.arguments, inputs, strict=True) if name in names)
        facts: Facts = {"argument": " and ".join(names), "given": given, "value": "1"}
        yield Hypothesis(symptom=Symptom.STRIDE_ARGUMENT, arguments=lambda: ones, facts=facts)


def constant_tensors(problem: ProblemDefinition, inputs: Arguments, place: int) -> Iterator[Hypothesis]:
    """A tensor that is ignored."""
    tensor = tensor_at(inputs, place)
    if tensor.is_floating_point():
        facts: Facts = {"argument": problem.arguments[place]}
        for symptom, make in ((Symptom.ONES, torch.ones_like), (Symptom.ZEROS, torch.zeros_like)):
            yield Hypothesis(symptom=symptom, arguments=partial(changed, inputs, place, make), facts=facts)


def _narrower(inputs: Arguments, place: int, given: int, other: int, facts: Facts) -> Iterator[Hypothesis]:
    """The same number of columns with a shorter stride: a buffer of fewer elements, if references read its size."""
    for at, value in enumerate(inputs):
        if isinstance(value, torch.Tensor) and value.dim() == 1 and value.numel() % given == 0:
            shorter = replaced(inputs, at, value[: value.numel() // given * other])
            yield Hypothesis(
                symptom=Symptom.STRIDE_ARGUMENT, arguments=partial(replaced, shorter, place, other), facts=facts
            )


def _shorter_buffers(inputs: Arguments, given: int, cut: int) -> Arguments:
    """Flat buffers of `given` columns with only the first `cut` of them."""
    return tuple(
        value[: value.numel() // given * cut]
        if isinstance(value, torch.Tensor) and value.dim() == 1 and value.numel() % given == 0
        else value
        for value in inputs
    )


def _scaled(values: torch.Tensor, *, factor: float) -> torch.Tensor:
    return (values.double() * factor).to(values.dtype)


def _is_stride(name: str, value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and name.startswith(_STRIDE_NAMES)
