"""Clues from the input elements of wrong output elements: those at the same position, or those they point at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from engine.judge.compare.measures import equal_or_nan
from engine.judge.diagnosis.ranking import Clue
from engine.judge.diagnosis.symptoms import Symptom
from engine.judge.diagnosis.wrong_output import WrongOutput
from engine.judge.inputs.outputs import expected_outputs
from engine.model import Category, ProblemDefinition

if TYPE_CHECKING:
    from engine.model import Arguments, Value


def operand_clues(output: WrongOutput, problem: ProblemDefinition, inputs: Arguments) -> Iterator[Clue]:
    """Clues of inputs that broadcast to the shape of the output, and of those that it may contain positions of."""
    operands = dict(_operands(output, problem, inputs))
    if output.got.dtype == torch.bool:
        numbers = [one for one in inputs if isinstance(one, int | float) and not isinstance(one, bool)]
        yield from _equal(output, [*operands.values(), *numbers])
    elif problem.category is Category.SORT:
        for name, operand in operands.items():
            yield from _sorted_lines(output, name, operand)
    elif output.is_exact:
        for name, value in zip(problem.arguments, inputs, strict=True):
            if isinstance(value, torch.Tensor) and value.numel() > 1:
                yield from _ties(output, name, value.to(output.got.device))
    elif output.got.is_floating_point():
        for name, operand in operands.items():
            yield from _kept_nan(output, name, operand)


def as_missing_nan(
    clue: Clue, output: WrongOutput, problem: ProblemDefinition, inputs: Arguments, *, number: int
) -> Clue:
    """The clue of dropped NaN as one of missing NaN, if output `number` has it all without NaN in the inputs."""
    if clue.symptom is not Symptom.DROPPED_NAN or not clue.explained:
        return clue
    dropped = output.expected.isnan() & ~output.got.isnan()
    try:
        without = expected_outputs(problem, tuple(map(_without_nan, inputs)))[number]
    except Exception:  # a reference may reject other values with any exception, which leaves the clue as it is
        return clue
    if without.shape == dropped.shape and bool(without.to(dropped.device).isnan()[dropped].all()):
        return replace(clue, symptom=Symptom.MISSING_NAN)
    return clue


def _without_nan(value: Value) -> Value:
    """The argument with 1 in place of NaN."""
    if not isinstance(value, torch.Tensor) or not (value.is_floating_point() or value.is_complex()):
        return value
    return torch.where(value.isnan(), torch.ones((), dtype=value.dtype, device=value.device), value)


def _operands(output: WrongOutput, problem: ProblemDefinition, inputs: Arguments) -> Iterator[tuple[str, torch.Tensor]]:
    for name, value in zip(problem.arguments, inputs, strict=True):
        if isinstance(value, torch.Tensor) and name not in problem.written_only:
            try:
                yield name, value.to(output.got.device).expand(output.got.shape)
            except RuntimeError:
                continue  # the shapes differ


def _equal(output: WrongOutput, operands: Sequence[torch.Tensor | float]) -> Iterator[Clue]:
    """A comparison that is wrong exactly where both operands are equal."""
    if len(operands) == 2 and isinstance(operands[0], torch.Tensor):
        yield output.region(Symptom.EQUAL_OPERANDS, operands[0] == operands[1])
        has_nan = (operands[0] != operands[0]) | _is_nan(operands[1])
        yield output.region(Symptom.COMPARED_NAN, has_nan, found=str(bool((output.got & output.wrong).any())))


def _kept_nan(output: WrongOutput, name: str, operand: torch.Tensor) -> Iterator[Clue]:
    """NaN where an operand is NaN and a number is expected."""
    if operand.is_floating_point():
        kept = output.got.isnan() & ~output.expected.isnan() & operand.isnan()
        yield output.marked(Symptom.KEPT_NAN, kept, argument=name)


def _ties(output: WrongOutput, name: str, values: torch.Tensor) -> Iterator[Clue]:
    """Positions along a dimension, or in all of an input, of elements that equal those at the right positions."""
    for lines in _lines(values, output.got.shape):
        count = lines.shape[-1]
        got, expected = (
            output.got.reshape(len(lines), -1).long(),
            output.expected.reshape(len(lines), -1).long(),
        )
        inside = (got >= 0) & (got < count)
        if bool(((expected < 0) | (expected >= count)).any()):
            continue
        alike = equal_or_nan(lines.gather(1, got.clamp(0, count - 1)), lines.gather(1, expected))
        tied = (alike & inside).view(output.got.shape)
        yield output.marked(Symptom.TIE, tied, argument=name)
        has_nan = (lines != lines).any(1, keepdim=True).expand(got.shape).reshape(output.got.shape)
        yield from _nan_place(output, name, has_nan & ~tied)


def _sorted_lines(output: WrongOutput, name: str, values: torch.Tensor) -> Iterator[Clue]:
    """Positions of elements that equal the right ones, and lines that are right except for the places of NaN."""
    for dim, count in enumerate(values.shape):
        got, expected = output.got, output.expected
        facts = {"argument": name, "where": "are in lines whose numbers are in the right order without the NaN"}
        if output.is_exact:
            if bool(((expected < 0) | (expected >= count) | (got < 0) | (got >= count)).any()):
                continue
            got, expected = values.gather(dim, got.long()), values.gather(dim, expected.long())
            yield output.marked(Symptom.TIE, equal_or_nan(got, expected), **facts)
        numbers_agree = equal_or_nan(_nan_last(got, dim), _nan_last(expected, dim)).all(dim, keepdim=True)
        moved = numbers_agree & (got != got).any(dim, keepdim=True) & ~equal_or_nan(got, expected)
        yield output.marked(Symptom.NAN_PLACE, moved, **facts)


def _nan_last(values: torch.Tensor, dim: int) -> torch.Tensor:
    """Lines along a dimension with their numbers in the original order, followed by NaN."""
    return values.gather(dim, (values != values).sort(dim=dim, stable=True).indices)


def _nan_place(output: WrongOutput, name: str, has_nan: torch.Tensor) -> Iterator[Clue]:
    """A clue if lines with NaN are wrong and all others, of which there are some, are right."""
    if bool(has_nan.any()) and not bool(has_nan.all()) and not bool((output.wrong & ~has_nan).any()):
        right = int((has_nan & ~output.wrong).sum())
        facts = {"argument": name, "where": "belong to lines with a NaN, and no line without one is wrong"}
        yield Clue(symptom=Symptom.NAN_PLACE, explained=output.wrong_count, contradicted=right, facts=facts)


def _is_nan(operand: torch.Tensor | float) -> torch.Tensor | bool:
    return operand != operand


def _lines(values: torch.Tensor, shape: torch.Size) -> Iterator[torch.Tensor]:
    """The input as rows, one for each line of an output of this shape.

    The dimension is reduced or 1 in the output, or it is the last one and the output has positions of some elements.
    """
    if shape.numel() == 1:
        yield values.reshape(1, -1)
    for dim in range(values.dim()):
        left = [size for at, size in enumerate(values.shape) if at != dim]
        kept = [1 if at == dim else size for at, size in enumerate(values.shape)]
        if list(shape) in (left, kept) and shape.numel() > 1:
            yield values.movedim(dim, -1).reshape(-1, values.shape[dim])
    if values.shape[:-1] == shape[:-1] and 1 < shape[-1] < values.shape[-1]:
        yield values.reshape(-1, values.shape[-1])
