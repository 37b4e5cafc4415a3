"""Hypotheses on dimensions of which too much or too little is processed: padding, ends, blocks, remainders."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import torch

from engine.judge.diagnosis.hypotheses.hypothesis import Hypothesis, changed, require_small_enough, tensor_at
from engine.judge.diagnosis.ranking import Facts
from engine.judge.diagnosis.symptoms import Symptom
from engine.model import ProblemDefinition

if TYPE_CHECKING:
    from engine.model import Arguments, Value

_BLOCKS = tuple(1 << power for power in range(4, 13))
_MOST_OVER = 15  # largest remainder of a division by the block size


def padded_dimensions(inputs: Arguments, places: Sequence[int]) -> Iterator[Hypothesis]:
    """A dimension as long as the block that should have been masked, wherever it occurs."""
    sizes = {size for place in places for size in tensor_at(inputs, place).shape if size > 1}
    for size in sorted(sizes):
        for width in sorted({-(-size // block) * block for block in _BLOCKS} | {1 << (size - 1).bit_length()}):
            if size < width <= 4 * size:
                facts: Facts = {"size": size, "width": width}
                padded = partial(_padded, inputs, size, width)
                yield Hypothesis(symptom=Symptom.PADDED, arguments=padded, facts=facts)


def missing_ends(problem: ProblemDefinition, inputs: Arguments, place: int) -> Iterator[Hypothesis]:
    """A dimension of which the first or the last element is ignored."""
    for words, dim, size in _sizes(tensor_at(inputs, place)):
        for symptom, left_out in ((Symptom.LAST_ONE, size - 1), (Symptom.FIRST_ONE, 0)):
            if size < 2 or (left_out and left_out % _BLOCKS[0] == 0):
                continue  # reported as a missing last block of one element instead
            for fill in _fills(tensor_at(inputs, place)):
                facts: Facts = {"argument": problem.arguments[place], "dim": words, "fill": f"{fill:g}", "size": size}
                arguments = partial(changed, inputs, place, _filled, dim, left_out, 1, fill)
                yield Hypothesis(symptom=symptom, arguments=arguments, facts=facts)


def partial_dimensions(problem: ProblemDefinition, inputs: Arguments, place: int) -> Iterator[Hypothesis]:
    """A dimension of which only the beginning, or only the last block, is processed."""
    for words, dim, size in _sizes(tensor_at(inputs, place)):
        starts = {(size - 1) // block * block: block for block in _BLOCKS if block < size}
        for start in sorted(starts, reverse=True) if tensor_at(inputs, place).is_floating_point() else ():
            doubled = partial(changed, inputs, place, _doubled, dim, start)
            where: Facts = {"argument": problem.arguments[place], "dim": words, "start": start}
            yield Hypothesis(symptom=Symptom.TWICE, arguments=doubled, facts=where)
        for start, block in sorted(starts.items(), reverse=True):
            for fill in _fills(tensor_at(inputs, place)):
                facts: Facts = {
                    "argument": problem.arguments[place],
                    "dim": words,
                    "start": start,
                    "block": block,
                    "size": size,
                    "fill": f"{fill:g}",
                }
                for symptom, first, length in (
                    (Symptom.ENDED, start, size - start),
                    (Symptom.LAST_BLOCK, 0, start),
                ):
                    arguments = partial(changed, inputs, place, _filled, dim, first, length, fill)
                    yield Hypothesis(symptom=symptom, arguments=arguments, facts=facts)


def missing_remainders(problem: ProblemDefinition, inputs: Arguments, place: int) -> Iterator[Hypothesis]:
    """A dimension whose last elements are ignored: the remainder when it is divided among programs."""
    for words, dim, size in _sizes(tensor_at(inputs, place)):
        for count in range(2, _MOST_OVER + 1) if size > 2 * _MOST_OVER else ():
            facts: Facts = {
                "argument": problem.arguments[place],
                "dim": words,
                "count": count,
                "size": size,
                "fill": "0",
            }
            arguments = partial(changed, inputs, place, _filled, dim, size - count, count, 0.0)
            yield Hypothesis(symptom=Symptom.LAST_FEW, arguments=arguments, facts=facts)


def _padded(inputs: Arguments, size: int, width: int) -> Arguments:
    def wide(value: Value) -> Value:
        if not isinstance(value, torch.Tensor):
            return value
        wider = [width if length == size else length for length in value.shape]
        require_small_enough(math.prod(wider), value)
        padded = value.new_zeros(wider)
        padded[tuple(slice(length) for length in value.shape)] = value
        return padded

    return tuple(wide(value) for value in inputs)


def _sizes(tensor: torch.Tensor) -> list[tuple[str, int | None, int]]:
    """The dimensions in words, each with its number and length, and all elements flattened."""
    sizes: list[tuple[str, int | None, int]] = [
        (f"dimension {dim}", dim, size) for dim, size in enumerate(tensor.shape)
    ]
    return [*sizes, ("all elements", None, tensor.numel())] if tensor.dim() > 1 else sizes


def _fills(tensor: torch.Tensor) -> tuple[float, ...]:
    """Values in place of an element that is masked out."""
    return (0.0, -math.inf) if tensor.is_floating_point() else (0,)


def _doubled(tensor: torch.Tensor, dim: int | None, start: int) -> torch.Tensor:
    copy = tensor.clone(memory_format=torch.contiguous_format)
    part = copy.view(-1) if dim is None else copy
    part.narrow(dim or 0, start, part.shape[dim or 0] - start).mul_(2)
    return copy


def _filled(tensor: torch.Tensor, dim: int | None, first: int, length: int, fill: float) -> torch.Tensor:
    copy = tensor.clone(memory_format=torch.contiguous_format)
    part = copy.view(-1) if dim is None else copy
    part.narrow(dim or 0, first, length).fill_(fill)
    return copy
