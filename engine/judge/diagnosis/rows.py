"""Which lines of an output are wrong, and the common property of their input lines that right ones lack.

A line runs along one dimension.  Where an input has the shape of the output, the input line of a wrong output line is
known: its largest value, its position, and whether it contains -inf.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch

from engine.judge.diagnosis.ranking import Clue, Facts
from engine.judge.diagnosis.symptoms import Symptom
from engine.judge.diagnosis.wrong_output import BLOCKS, WrongOutput
from engine.model import ProblemDefinition

if TYPE_CHECKING:
    from engine.model import Arguments

_EXP_MOST, _EXP_LEAST = 88.0, -87.0  # beyond them exp of a float32 is infinite or nearly 0
_SIGNIFICANT = 1e-3
"""Share of the output's typical size: smaller values may be 0 by mistake and still be within tolerance."""


def line_clues(output: WrongOutput, problem: ProblemDefinition, inputs: Arguments) -> Iterator[Clue]:
    """Clues of every input that has the shape of the output, along every dimension."""
    for name, value in zip(problem.arguments, inputs, strict=True):
        if name in problem.written_only:
            continue
        if isinstance(value, torch.Tensor) and value.is_floating_point() and value.shape == output.got.shape:
            for dim in range(value.dim()):
                if value.shape[dim] > 1:
                    yield from _clues(output, value.to(output.got.device).double(), dim, name)


def _clues(output: WrongOutput, values: torch.Tensor, dim: int, name: str) -> Iterator[Clue]:
    facts: Facts = {"argument": name}
    if bool(output.got.isfinite().all()):
        yield from _rescaled(output, values, dim, facts)
        return
    wrong = output.wrong & ~output.got.isfinite()
    lines = wrong.any(dim=dim, keepdim=True)
    if bool((lines & ~output.wrong & _is_significant(output)).any()):
        return  # a correct element of this size rules out a mistake in the whole line
    top = values.amax(dim, keepdim=True)
    high, low, masked = top > _EXP_MOST, top < _EXP_LEAST, (values == -math.inf).any(dim, keepdim=True)
    if bool((lines & high).any()):
        symptom, bad_lines = Symptom.EXPONENT, high | low
    else:
        symptom, bad_lines = Symptom.MAXIMUM_FROM_ZERO, low & top.isfinite()
    yield output.region(symptom, bad_lines & (output.wrong | _is_significant(output)), **facts)
    if not bool((lines & ~masked).any()):
        yield output.marked(Symptom.MASKED_LINE, ~output.got.isfinite() & masked, **facts)


def _is_significant(output: WrongOutput) -> torch.Tensor:
    """Which expected values are so large that a 0 in their place would be wrong."""
    return output.expected64.abs() > _SIGNIFICANT * output.scale


def _rescaled(output: WrongOutput, values: torch.Tensor, dim: int, facts: Facts) -> Iterator[Clue]:
    """Sums of exponentials whose parts used the running maximum, and were never rescaled to the last one."""
    whole = (values - values.amax(dim, keepdim=True)).exp().sum(dim, keepdim=True)
    for block in (block for block in BLOCKS if block < values.shape[dim]):
        total, so_far = torch.zeros_like(whole), torch.full_like(whole, -math.inf)
        for part in values.tensor_split(list(range(block, values.shape[dim], block)), dim):
            so_far = torch.maximum(so_far, part.amax(dim, keepdim=True))
            total = total + (part - so_far).exp().sum(dim, keepdim=True).nan_to_num(nan=0.0)
        clue = output.clue(Symptom.RESCALE, output.expected64 * whole / total, dim=dim, block=block, **facts)
        if clue.explained:
            yield clue
