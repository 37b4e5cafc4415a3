"""Number of right output elements although the kernel that should have written them did not run.

Only the judge can count this, for only it has the expected values.  Elements that are right without computing are
counted separately: a zero, a one, the number that fills most of the output, the previous content of the memory, an
element of an input.  Zeros and previous content also count in any mixture: a product over nothing leaves such an
answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch

from engine import protocol
from engine.judge.compare.counting import count_wrong_each
from engine.judge.compare.outputs import Call, right_counts
from engine.judge.inputs import cases
from engine.protocol import tensors


def count_correct(prepared: cases.PreparedCase, command: protocol.CountCorrect) -> tuple[protocol.CorrectCount, ...]:
    """One entry for each output of the call that the worker has just made.

    Raises:
        UntrustedFileError: the worker has left no readable file.
    """
    got = cases.outputs_of(prepared, command, prepared.arena.read())
    call = cases.finished_call(prepared, got)
    rows = zip(call.names, right_counts(call), call.expected, _left_open(prepared, call), strict=True)
    return tuple(_correct_count(prepared, name, right, wanted, least) for name, right, wanted, least in rows)


def _left_open(prepared: cases.PreparedCase, call: Call) -> tuple[int, ...]:
    """Elements of each output for which the problem's comparer accepts zeros or new memory; 0 without a comparer."""
    if prepared.problem.compare is None:
        return (0,) * len(call.expected)
    zeros = [torch.zeros_like(wanted) for wanted in call.expected]
    poisoned = [_poisoned(prepared, wanted) for wanted in call.expected]
    counts = [right_counts(replace(call, got=guess)) for guess in (zeros, poisoned)]
    return tuple(map(max, zip(*counts, strict=True)))


def _correct_count(
    prepared: cases.PreparedCase, name: str, right: int, expected: torch.Tensor, least: int
) -> protocol.CorrectCount:
    total = expected.numel()
    if not total:
        return protocol.CorrectCount(name=name, total=0, right=right, trivial=least)
    # An element also counts if it equals zero or the previous content of its memory.
    idle = [torch.zeros_like(expected), _poisoned(prepared, expected), *_overwritten(prepared, expected)]
    guesses = [*idle, torch.ones_like(expected), *_filled(expected), *_given(prepared, expected)]
    tolerance = prepared.problem.tolerance(prepared.case)
    wrong = count_wrong_each(guesses, expected, tolerance, together=range(len(idle)))
    trivial = max(total - min(*wrong.each, wrong.of_all), least)
    return protocol.CorrectCount(name=name, total=total, right=right, trivial=trivial)


def _filled(expected: torch.Tensor) -> Iterator[torch.Tensor]:
    """The number that occurs most often, such as a padding, if any occurs twice."""
    if expected.is_complex() or expected.dtype is torch.bool:  # of bools, zeros and ones are all that there is
        return
    numbers = expected.flatten().to(torch.float64 if expected.is_floating_point() else torch.int64)
    often = numbers.mode().values
    if int((numbers == often).sum()) > 1:
        yield torch.full_like(numbers, often.item()).to(expected.dtype).reshape(expected.shape)


def _given(prepared: cases.PreparedCase, expected: torch.Tensor) -> Iterator[torch.Tensor]:
    """The arguments that could be the output unchanged."""
    for spec in (part for value in prepared.content.specs for part in protocol.tensor_specs(value)):
        given = tensors.view(spec, prepared.initial[spec.storage])
        if given.numel() == expected.numel() and given.is_complex() <= expected.is_complex():
            yield given.reshape(expected.shape).to(expected.dtype)


def _poisoned(prepared: cases.PreparedCase, expected: torch.Tensor) -> torch.Tensor:
    """Content of new memory before a call."""
    content = torch.full((expected.numel() * expected.element_size(),), prepared.poison, dtype=torch.uint8)
    return content.to(expected.device).view(expected.dtype).view(expected.shape)


def _overwritten(prepared: cases.PreparedCase, expected: torch.Tensor) -> Iterator[torch.Tensor]:
    """Content before the call of arguments that the entry may write."""
    for name, spec in zip(prepared.problem.arguments, prepared.content.specs, strict=True):
        if name not in prepared.problem.mutates:
            continue
        for part in protocol.tensor_specs(spec):
            before = tensors.view(part, prepared.initial[part.storage])
            if (before.shape, before.dtype) == (expected.shape, expected.dtype):
                yield before
