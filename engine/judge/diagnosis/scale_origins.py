"""Origins of a factor or offset that an output is off by: the size of a dimension, a constant, a type.

A bare number such as 0.00389105 explains nothing; 1 / 257 shows that the sum was divided by its length.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from engine.judge.diagnosis.ranking import Clue
from engine.judge.diagnosis.symptoms import Symptom
from engine.model import ProblemDefinition

if TYPE_CHECKING:
    from engine.model import Arguments

_CLOSE = 1e-3
_CONSTANTS = (("the sign is wrong", -1.0), ("ln 2", math.log(2.0)), ("1 / ln 2", 1 / math.log(2.0)))


def with_origin(clue: Clue, problem: ProblemDefinition, inputs: Arguments, kind: torch.dtype) -> Clue:
    """The clue with the origin of its factor, if that is known; the output has the type `kind`."""
    factor = clue.facts.get("factor")
    if clue.symptom is not Symptom.SCALE or not isinstance(factor, float):
        return clue
    close = max(_CLOSE, torch.finfo(kind).eps) if kind.is_floating_point else _CLOSE
    for name, value in _candidates(problem, inputs):
        if abs(factor - value) <= close * abs(value):
            return replace(clue, facts={**clue.facts, "known": f": {name}"})
    return clue


def as_divisor(clue: Clue, guess: torch.Tensor, expected: torch.Tensor) -> Clue:
    """The clue of a padded reduction as one of a wrong divisor, where zeros change nothing else.

    Then every element of the `guess` is that expected times size / width, or its root or inverse.
    """
    size, width = clue.facts.get("size"), clue.facts.get("width")
    if clue.symptom is not Symptom.PADDED or not isinstance(size, int) or not isinstance(width, int):
        return clue
    usable = guess.isfinite() & expected.isfinite() & (expected != 0)
    wide = torch.complex128 if guess.is_complex() else torch.float64
    if not bool(usable.any()):
        return clue
    ratios = guess[usable].to(wide) / expected[usable].to(wide)
    close = max(_CLOSE, 2 * torch.finfo(guess.dtype).eps) if guess.is_floating_point() else _CLOSE
    for power in (1.0, 0.5, -0.5, -1.0):
        factor = (size / width) ** power
        if bool(((ratios - factor).abs() <= close * factor).all()):
            return replace(clue, symptom=Symptom.DIVISOR)
    return clue


def _candidates(problem: ProblemDefinition, inputs: Arguments) -> Iterator[tuple[str, float]]:
    yield from _CONSTANTS
    for name, value in zip(problem.arguments, inputs, strict=True):
        if isinstance(value, float) and value not in (0.0, 1.0):
            yield name, value
            yield f"1 / {name}", 1 / value
        if isinstance(value, torch.Tensor) and name not in problem.written_only:
            for dim, size in enumerate(value.shape):
                yield from _of_size(size, f"the size of dimension {dim} of {name}")
            yield from _of_size(value.numel(), f"the number of elements of {name}")


def _of_size(size: int, words: str) -> Iterator[tuple[str, float]]:
    if size > 1:
        yield f"1 / {size}, {words}", 1 / size
        yield f"{size}, {words}", float(size)
        yield f"1 / sqrt({size}), of {words}", size**-0.5
        yield f"sqrt({size}), of {words}", size**0.5
