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
from engine.judge.diagnosis.wrong_output import WrongOutput
from engine.model import ProblemDefinition

if TYPE_CHECKING:
    from engine.model import Arguments

_EXP_MOST, _EXP_LEAST = 88.0, -87.0  # beyond them exp of a float32 is infinite or nearly 0
_SIGNIFICANT = (
    1e-3  # share of the output's typical size: smaller values may be 0 by mistake and still be within tolerance
)
_BLOCKS = tuple(1 << power for power in range(14, 3, -1))


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
    weighty = output.expected64.abs() > _SIGNIFICANT * output.scale
    if bool((lines & ~output.wrong & weighty).any()):
        return  # a correct element of this size rules out a mistake in the whole line
    top = values.amax(dim, keepdim=True)
    high, low, masked = top > _EXP_MOST, top < _EXP_LEAST, (values == -math.inf).any(dim, keepdim=True)
    if bool((lines & high).any()):
        yield _of_lines(output, Symptom.EXPONENT, high | low, facts)
    else:
        yield _of_lines(output, Symptom.MAXIMUM_FROM_ZERO, low & top.isfinite(), facts)
    if not bool((lines & ~masked).any()):
        yield Clue(symptom=Symptom.MASKED_LINE, explained=int((wrong & masked).sum()), facts=facts)


def _of_lines(output: WrongOutput, symptom: Symptom, marked: torch.Tensor, facts: Facts) -> Clue:
    """A clue by which whole lines must be wrong."""
    explained = (output.wrong & marked).sum()
    weighty = output.expected64.abs() > _SIGNIFICANT * output.scale
    contradicted = (~output.wrong & marked & weighty).sum()
    return Clue(symptom=symptom, explained=int(explained), contradicted=int(contradicted), facts=facts)


def _rescaled(output: WrongOutput, values: torch.Tensor, dim: int, facts: Facts) -> Iterator[Clue]:
    """Sums of exponentials whose parts used the running maximum, and were never rescaled to the last one."""
    whole = (values - values.amax(dim, keepdim=True)).exp().sum(dim, keepdim=True)
    for block in (block for block in _BLOCKS if block < values.shape[dim]):
        total, so_far = torch.zeros_like(whole), torch.full_like(whole, -math.inf)
        for part in values.tensor_split(list(range(block, values.shape[dim], block)), dim):
            so_far = torch.maximum(so_far, part.amax(dim, keepdim=True))
            total = total + (part - so_far).exp().sum(dim, keepdim=True).nan_to_num(nan=0.0)
        clue = output.clue(Symptom.RESCALE, output.expected64 * whole / total, dim=dim, block=block, **facts)
        if clue.explained:
            yield clue
