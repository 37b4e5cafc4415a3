"""Hypotheses on how a kernel reads the memory of a tensor: with other strides, along other lines, or repeated."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import torch

from engine.judge.diagnosis.hypotheses.hypothesis import Hypothesis, changed, require_small_enough, tensor_at
from engine.judge.diagnosis.symptoms import Symptom
from engine.model import ProblemDefinition

if TYPE_CHECKING:
    from engine.model import Arguments


def layouts(problem: ProblemDefinition, inputs: Arguments, place: int, shape: torch.Size) -> Iterator[Hypothesis]:
    """A tensor read with other strides than it has."""
    tensor, name = tensor_at(inputs, place), problem.arguments[place]

    def hypothesis(
        symptom: Symptom, change: Callable[..., torch.Tensor], *options: object, **facts: str | int | float
    ) -> Hypothesis:
        arguments = partial(changed, inputs, place, change, *options)
        return Hypothesis(symptom=symptom, arguments=arguments, facts={"argument": name, **facts})

    if not tensor.is_contiguous():
        strides = _plain_strides(tensor.shape)
        yield hypothesis(Symptom.CONTIGUOUS, _read_as, tensor.shape, strides, strides=str(tuple(tensor.stride())))
    if tensor.dim() > 1 and tensor.shape[0] > 1:
        for dim in range(tensor.dim()):
            yield hypothesis(Symptom.FIRST_ROW, _first_line, dim, dim=dim)
        yield from _row_strides(inputs, tensor, hypothesis, shape)
        yield from _steps(tensor, hypothesis)
        rows, columns = tensor.shape[-2:]
        if min(rows, columns) > 1 and tensor.dim() == 2:
            for strides in dict.fromkeys(((1, rows), tensor.stride()[::-1])):
                yield hypothesis(Symptom.TRANSPOSED_INPUT, _read_as, tensor.shape, strides)
    if tensor.shape != shape and math.prod(shape) > tensor.numel() > 1:
        yield hypothesis(Symptom.REPEATED, _repeated, shape)


def _first_line(tensor: torch.Tensor, dim: int) -> torch.Tensor:
    """The first line along `dim` in place of all of them."""
    first = tensor[tuple(slice(None) if at == dim else slice(1) for at in range(tensor.dim()))]
    return first.expand(tensor.shape)


def _row_strides(
    inputs: Arguments, tensor: torch.Tensor, hypothesis: Callable[..., Hypothesis], shape: torch.Size
) -> Iterator[Hypothesis]:
    """Rows with the stride of another tensor's rows."""
    given = tensor.stride(0)
    others = {size for value in inputs if isinstance(value, torch.Tensor) for size in value.shape} | {*shape}
    for other in sorted(others - {given, 0})[:8]:
        strides = (other, *tensor.stride()[1:])
        yield hypothesis(Symptom.ROW_STRIDE, _read_as, tensor.shape, strides, stride=other, right=given)


def _steps(tensor: torch.Tensor, hypothesis: Callable[..., Hypothesis]) -> Iterator[Hypothesis]:
    """One dimension read with the stride of another."""
    for dim, right in enumerate(tensor.stride()):
        for other in sorted(set(tensor.stride()) - {right, 0}):
            strides = tuple(other if at == dim else stride for at, stride in enumerate(tensor.stride()))
            yield hypothesis(Symptom.STEP, _read_as, tensor.shape, strides, dim=dim, stride=other, right=right)


def _plain_strides(shape: torch.Size) -> tuple[int, ...]:
    return tuple(math.prod(shape[dim + 1 :]) for dim in range(len(shape)))


def _read_as(tensor: torch.Tensor, shape: torch.Size, strides: Sequence[int]) -> torch.Tensor:
    """The memory from the first element of `tensor` on, viewed with other strides; 0 beyond its storage."""
    needed = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    require_small_enough(needed, tensor)
    first = tensor.storage_offset()
    there = tensor.untyped_storage().nbytes() // tensor.element_size() - first
    memory = tensor.as_strided((min(needed, there),), (1,), first)
    padded = torch.cat((memory, memory.new_zeros(max(0, needed - there))))
    return padded.as_strided(shape, tuple(strides))


def _repeated(tensor: torch.Tensor, shape: torch.Size) -> torch.Tensor:
    count = math.prod(shape)
    return tensor.flatten().repeat(-(-count // tensor.numel()))[:count].view(shape)
