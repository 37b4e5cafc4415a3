"""How much of an output is right although the kernel that should have written it did not run.

Only the judge can count this, for only it has the expected values.  Elements that are right without computing
are counted separately: a zero, a one, what lay in the memory before, an element of an input.  Zeros and what lay in the
memory before also count in any mixture: a product over nothing leaves such an answer.
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


def count_correct(hand: cases.CaseInHand, command: protocol.CountCorrect) -> tuple[protocol.CorrectCount, ...]:
    """One entry for each output of the call that the worker has just made.

    Raises:
        UntrustedFileError: the worker has left no file that can be read.
    """
    got = cases.outputs_of(hand, command, hand.arena.read())
    call = cases.finished_call(hand, got)
    rows = zip(call.names, right_counts(call), call.expected, _left_open(hand, call), strict=True)
    return tuple(_correct_count(hand, name, right, wanted, least) for name, right, wanted, least in rows)


def _left_open(hand: cases.CaseInHand, call: Call) -> tuple[int, ...]:
    """How many elements of each output the problem's comparer accepts of zeros or of new memory; 0 without one."""
    if hand.problem.compare is None:
        return (0,) * len(call.expected)
    zeros = [torch.zeros_like(wanted) for wanted in call.expected]
    poisoned = [_poisoned(hand, wanted) for wanted in call.expected]
    counts = [right_counts(replace(call, got=guess)) for guess in (zeros, poisoned)]
    return tuple(map(max, zip(*counts, strict=True)))


def _correct_count(
    hand: cases.CaseInHand, name: str, right: int, expected: torch.Tensor, least: int
) -> protocol.CorrectCount:
    total = expected.numel()
    if not total:
        return protocol.CorrectCount(name=name, total=0, right=right, trivial=least)
    # An element also counts if it equals zero or the previous content of its memory.
    idle = [torch.zeros_like(expected), _poisoned(hand, expected), *_overwritten(hand, expected)]
    guesses = [*idle, torch.ones_like(expected), *_given(hand, expected)]
    tolerance = hand.problem.tolerance(hand.case)
    wrong = count_wrong_each(guesses, expected, tolerance, together=range(len(idle)))
    trivial = max(total - min(*wrong.each, wrong.of_all), least)
    return protocol.CorrectCount(name=name, total=total, right=right, trivial=trivial)


def _given(hand: cases.CaseInHand, expected: torch.Tensor) -> Iterator[torch.Tensor]:
    """The arguments that could be the output as they are."""
    for spec in (part for value in hand.content.specs for part in protocol.tensor_specs(value)):
        given = tensors.view(spec, hand.initial[spec.storage])
        if given.numel() == expected.numel() and given.is_complex() <= expected.is_complex():
            yield given.reshape(expected.shape).to(expected.dtype)


def _poisoned(hand: cases.CaseInHand, expected: torch.Tensor) -> torch.Tensor:
    """Content of new memory before a call."""
    content = torch.full((expected.numel() * expected.element_size(),), hand.poison, dtype=torch.uint8)
    return content.to(expected.device).view(expected.dtype).view(expected.shape)


def _overwritten(hand: cases.CaseInHand, expected: torch.Tensor) -> Iterator[torch.Tensor]:
    """Content before the call of arguments that the entry may write."""
    for name, spec in zip(hand.problem.arguments, hand.content.specs, strict=True):
        if name not in hand.problem.mutates:
            continue
        for part in protocol.tensor_specs(spec):
            before = tensors.view(part, hand.initial[part.storage])
            if (before.shape, before.dtype) == (expected.shape, expected.dtype):
                yield before
