"""Dependence of an answer on content: the size of a table of answers, and answers to other content."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from engine.judge.compare.measures import bytes_of
from engine.judge.compare.outputs import right_counts
from engine.judge.inputs.cases import Content, Contents, PreparedCase, finished_call
from engine.judge.inputs.copies import private_copies
from engine.judge.inputs.outputs import expected_outputs
from engine.model import Determinism, ProblemDefinition
from engine.protocol import tensors

if TYPE_CHECKING:
    from engine.model import Arguments, OutputReport

_MOST_ARGUMENTS = 4
_MOST_DEPENDED_ON = 8
_MOST_BYTES = 1 << 62
_MOST_ELEMENTS = 1 << 16
_FEW_ELEMENTS = 32
_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def answer_table_bytes(prepared: PreparedCase, contents: Contents) -> int:
    """Bytes of a table in which half of each output could be looked up, 0 where it may have any size.

    An element of the answer that depends on k elements of an argument, each one of N values, is one of N**k.  N is
    estimated by how many values of one content occur in another, k by how many elements of the answer stay the same
    when half of the argument is exchanged.  Small cases are drawn and exchanged several times.  Only floats are
    exchanged: integers may be few, and known before.
    """
    problem, content = prepared.problem, prepared.content
    if problem.determinism in (Determinism.RANDOM, Determinism.UNSPECIFIED):
        return 0
    other, *more = _others(prepared, contents)
    pairs = enumerate(zip(_tensors(content.inputs), _tensors(other.inputs), strict=False))
    alike = {number: pair for number, pair in pairs if _are_alike_floats(*pair)}
    if not alike:
        return 0
    largest = sorted(alike, key=lambda number: alike[number][0].numel())[-_MOST_ARGUMENTS:]
    sizes = [
        _entries(problem, content, other, number, _values(*alike[number], _drawn_again(more, number)))
        for number in largest
    ]
    outputs = [value for value in content.expected if value.numel()]
    by_output = [max(by_argument) * value.element_size() for value, *by_argument in zip(outputs, *sizes, strict=True)]
    return int(min((_MOST_BYTES, *by_output))) if by_output else 0


def right_for_other(
    prepared: PreparedCase, contents: Contents, got: Sequence[torch.Tensor | OutputReport], seed: int
) -> int:
    """Number of elements of these outputs that are right for the content of `seed` instead of the current one."""
    other = contents.make(prepared.problem, prepared.case, seed)
    return sum(right_counts(finished_call(replace(prepared, content=other), got)))


def _entries(problem: ProblemDefinition, content: Content, other: Content, number: int, values: float) -> list[float]:
    """Entries of the table of each output that is not empty, when it is looked up by tensor `number`."""
    smallest = min((value.numel() for value in content.expected if value.numel()), default=_FEW_ELEMENTS)
    exchanges = range(math.ceil(_FEW_ELEMENTS / smallest))
    try:
        expected = [
            expected_outputs(problem, _half_exchanged(content.inputs, other.inputs, number, seed=number + seed))
            for seed in exchanges
        ]
    except Exception:  # a reference of any operator or suite, on content that it may refuse
        return [0.0] * sum(value.numel() > 0 for value in content.expected)
    answers = zip(content.expected, *expected, strict=True)
    shares = [_share_kept(value, exchanged) for value, *exchanged in answers if value.numel()]
    return [values ** min(-math.log2(share), _MOST_DEPENDED_ON) / 2 for share in shares]


def _half_exchanged(inputs: Arguments, others: Arguments, number: int, *, seed: int) -> Arguments:
    """Copies of `inputs`, a random half of the memory of tensor `number` taken from `others`."""
    mixed, second = private_copies(inputs), private_copies(others)
    memory, source = (_tensors(values)[number] for values in (mixed, second))
    spanned = 1 + sum((size - 1) * stride for size, stride in zip(memory.shape, memory.stride(), strict=True))
    memory, source = (part.as_strided((spanned,), (1,)) for part in (memory, source))
    generator = torch.Generator(memory.device).manual_seed(seed)
    chosen = torch.rand(spanned, generator=generator, device=memory.device) < 0.5
    memory.copy_(torch.where(chosen, source, memory))
    return mixed


def _share_kept(value: torch.Tensor, exchanged: Sequence[torch.Tensor]) -> float:
    """The share of elements that are bitwise equal; at least that of one element."""
    if any((value.shape, value.dtype) != (other.shape, other.dtype) for other in exchanged):
        return 1.0
    same = [int((bytes_of(value) == bytes_of(other.to(value.device))).all(dim=1).sum()) for other in exchanged]
    return (sum(same) + 1) / (len(same) * value.numel() + 1)


def _others(prepared: PreparedCase, contents: Contents) -> list[Content]:
    """Other contents of a case: one, or as many as give a few elements of its smallest tensor."""
    smallest = min((tensor.numel() for tensor in _tensors(prepared.content.inputs) if tensor.numel()), default=1)
    seeds = range(1 + 2 * (_FEW_ELEMENTS // smallest))
    first = prepared.draws.number("table of answers")
    return [contents.make(prepared.problem, prepared.case, first + seed) for seed in seeds]


def _drawn_again(contents: Sequence[Content], number: int) -> list[torch.Tensor]:
    """Tensor `number` of each of these contents."""
    every = (_tensors(content.inputs) for content in contents)
    return [tensors_of[number] for tensors_of in every if number < len(tensors_of)]


def _values(first: torch.Tensor, second: torch.Tensor, more: Sequence[torch.Tensor]) -> float:
    """The estimated number of values that elements can have, of which two samples were drawn (Lincoln and Petersen)."""
    samples = [
        [value for one in half for value in _sample(one)] for half in ((first, *more[::2]), (second, *more[1::2]))
    ]
    known, drawn = set(samples[0]), samples[1]
    again = sum(value in known for value in drawn)
    return min(len(known) * len(drawn) / max(again, 1), 2.0 ** (8 * first.element_size()))


def _sample(values: torch.Tensor) -> list[int]:
    """Some of the elements, as integers of the same bits."""
    parts = torch.view_as_real(values) if values.is_complex() else values
    flat = parts.reshape(-1)
    some = flat[:: 1 + flat.numel() // _MOST_ELEMENTS].contiguous().view(_INTEGERS[flat.element_size()])
    return [int(value) for value in some.tolist()]


def _are_alike_floats(first: torch.Tensor, second: torch.Tensor) -> bool:
    floats = first.is_floating_point() or first.is_complex()
    same = (first.dtype, first.shape, first.stride()) == (second.dtype, second.shape, second.stride())
    return floats and same and first.numel() > 0


def _tensors(values: Arguments) -> list[torch.Tensor]:
    return [tensor for value in values for tensor in tensors.tensors_in(value)]
