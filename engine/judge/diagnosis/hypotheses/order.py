"""Outputs of the reference under known mistakes of a kernel.

Each hypothesis is the case's own arguments, changed according to the mistake: a scalar that is ignored, strides that
are ignored, a tail that is left out.  The trusted reference computes the resulting outputs, which are compared with
those of the candidate.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch

from engine.judge.diagnosis.hypotheses.arguments import (
    absent_tensors,
    all_strides,
    constant_tensors,
    cut_sizes,
    other_scalars,
    products,
    whole_factors,
)
from engine.judge.diagnosis.hypotheses.extents import (
    missing_ends,
    missing_remainders,
    padded_dimensions,
    partial_dimensions,
)
from engine.judge.diagnosis.hypotheses.hypothesis import Hypothesis, tensor_at
from engine.judge.diagnosis.hypotheses.layouts import layouts
from engine.judge.diagnosis.hypotheses.precisions import narrow_types
from engine.judge.diagnosis.hypotheses.values import misreadings
from engine.model import ProblemDefinition

if TYPE_CHECKING:
    from engine.model import Arguments


def hypotheses(problem: ProblemDefinition, inputs: Arguments, shape: torch.Size) -> Iterator[Hypothesis]:
    """Possible mistakes in a call on `inputs` with an output of this shape, the likelier first."""
    places = [place for place, value in enumerate(inputs) if isinstance(value, torch.Tensor) and value.numel()]
    read = [place for place in places if problem.arguments[place] not in problem.written_only]
    for place, value in enumerate(inputs):
        if not isinstance(value, torch.Tensor):
            yield from other_scalars(problem, inputs, place)
            yield from products(problem, inputs, place)
            yield from cut_sizes(problem, inputs, place, shape)
    for place in read:
        yield from absent_tensors(problem, inputs, place)
    yield from whole_factors(problem, inputs)
    yield from all_strides(problem, inputs)
    for place in read:
        yield from layouts(problem, inputs, place, shape)
    if len(read) > 1:
        for place in read:
            yield from constant_tensors(problem, inputs, place)
    yield from misreadings(problem, inputs, read)
    yield from narrow_types(inputs, read)
    yield from padded_dimensions(inputs, places)
    for place in read:
        if len(read) == 1 or tensor_at(inputs, place).is_floating_point():  # index 0 is no omission
            yield from missing_ends(problem, inputs, place)
        yield from partial_dimensions(problem, inputs, place)
    for place in read:
        if tensor_at(inputs, place).is_floating_point():
            yield from missing_remainders(problem, inputs, place)
