"""Dependence of answers on content: the size of a table of answers, and answers to another content."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from engine.judge.inputs import cases
from engine.judge.inputs.copied_arena import CopiedArena
from engine.judge.inputs.dependence import answer_table_bytes, right_for_other
from engine.model import Determinism, ProblemDefinition
from tests.engine.judge.probing.test_input_variants import CASE, CPU, Inputs, drawn, problem

ROWS, COLUMNS = 40, 50
MATRIX = drawn(ROWS, COLUMNS)
ANSWER_BYTES = 4 * ROWS * COLUMNS


def few(rng: torch.Generator) -> tuple[Any, ...]:
    """Float32 zeros and ones."""
    return (torch.randint(2, (ROWS, COLUMNS), generator=rng).float(),)


def halves(rng: torch.Generator) -> tuple[Any, ...]:
    """Bfloat16 numbers."""
    return (torch.randn(ROWS, COLUMNS, generator=rng).bfloat16(),)


def with_positions(rng: torch.Generator) -> tuple[Any, ...]:
    """Float32 numbers and integers below 9."""
    return torch.randn(ROWS, COLUMNS, generator=rng), torch.randint(9, (ROWS, COLUMNS), generator=rng)


def size_of_table(inputs: Inputs, reference: Callable[..., Any], determinism: Determinism) -> int:
    """Bytes of a table of the answers of this reference."""
    judged = problem(inputs, reference, returns=None, determinism=determinism)
    return answer_table_bytes(prepared(judged), cases.Contents(CPU))


def prepared(judged: ProblemDefinition) -> cases.PreparedCase:
    """The case with the content of seed 7."""
    content = cases.Contents(CPU).make(judged, CASE, 7)
    arena = CopiedArena.__new__(CopiedArena)  # never used
    return cases.PreparedCase(problem=judged, case=CASE, arena=arena, base=content, content=content)


def pairs(x: torch.Tensor) -> torch.Tensor:
    """Sums of two elements."""
    return x + x.flip(0)


@pytest.mark.parametrize(
    ("inputs", "reference", "holds"),
    [
        (MATRIX, lambda x: 2 * x, False),
        (MATRIX, lambda x: torch.arange(9), True),
        (MATRIX, lambda x: (x, torch.arange(9)), True),
        (MATRIX, lambda x: (x, torch.zeros(0)), False),
        (MATRIX, lambda x: torch.cat((x[:1], torch.ones(ROWS - 1, COLUMNS))), True),
        (few, lambda x: 2 * x, True),
        (halves, lambda x: 2 * x, True),
        (halves, pairs, False),
        (with_positions, lambda x, i: x * i.cos(), False),
        (with_positions, lambda x, i: i.cos(), True),
        (with_positions, lambda x, i: x[i[0]], False),
    ],
    ids=[
        "each", "none", "one of two", "empty", "few elements", "two values", "16 bits", "pairs of 16 bits",
        "table of cosines", "only positions", "look-up",
    ],
)  # fmt: skip
def test_constant_of_answer_size_holds_answers(inputs: Inputs, reference: Callable[..., Any], holds: bool) -> None:
    assert (size_of_table(inputs, reference, Determinism.ROUNDING) <= ANSWER_BYTES) is holds


@pytest.mark.parametrize(
    ("inputs", "holds"),
    [(drawn(1), False), (drawn(3), False), (lambda rng: (torch.randint(2, (1,), generator=rng).float(),), True)],
    ids=["one number", "three numbers", "one of two values"],
)
def test_constant_of_tiny_answer_size_holds_only_few_values(inputs: Inputs, *, holds: bool) -> None:
    assert (size_of_table(inputs, lambda x: 2 * x, Determinism.ROUNDING) <= 16) is holds


@pytest.mark.parametrize("determinism", [Determinism.RANDOM, Determinism.UNSPECIFIED])
def test_constant_of_any_size_holds_random_answers(determinism: Determinism) -> None:
    assert size_of_table(MATRIX, torch.rand_like, determinism) == 0


def test_reference_that_refuses_mixed_content_bounds_nothing() -> None:
    def only_twos(x: torch.Tensor) -> torch.Tensor:
        if len(x.unique()) > 1:
            raise ValueError("two numbers")
        return 2 * x

    assert size_of_table(lambda rng: (torch.randn(1, generator=rng).repeat(99),), only_twos, Determinism.EXACT) == 0


def test_answer_to_other_content_is_counted_as_such() -> None:
    judged = problem(drawn(9), lambda x: 2 * x)
    case, contents = prepared(judged), cases.Contents(CPU)
    (other,) = contents.make(judged, CASE, 8).expected
    mixed = torch.cat((other[:4], case.content.expected[0][4:]))
    assert [right_for_other(case, contents, [got], 8) for got in (other, mixed)] == [9, 4]
