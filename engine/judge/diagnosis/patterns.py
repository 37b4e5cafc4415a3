"""Clues in the values of a wrong output: never written, elsewhere, wrong at an end only, or special values.

Every function reads one wrong output and yields clues; none of them decides, none changes a tensor.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import torch

from engine.judge.compare.measures import consists_of, equal_or_nan, other_zero, raw
from engine.judge.diagnosis.ranking import Clue
from engine.judge.diagnosis.symptoms import Symptom
from engine.judge.diagnosis.wrong_output import BLOCKS, FEWEST, WrongOutput
from engine.protocol.tensors import dtype_name


def patterns(output: WrongOutput) -> Iterator[Clue]:
    """Every clue in the values themselves and their positions."""
    yield from _memory(output)
    yield from _places(output)
    yield from _tails(output)
    yield from _dropped_nan(output)
    yield from _unsaturated(output)
    yield from _zero_signs(output)
    yield output.marked(Symptom.ZEROED, (raw(output.got) == 0) & (raw(output.expected) != 0))


def _memory(output: WrongOutput) -> Iterator[Clue]:
    """Clues on earlier content of the memory: from before the call, or from an earlier call."""
    got, wrong = output.got, output.wrong
    unwritten = wrong & consists_of(got, output.poison)
    where = _where(output, unwritten)
    yield output.marked(Symptom.POISON, unwritten, byte=f"0x{output.poison:02X}", where=where)
    if output.before is not None:
        unchanged = wrong & (got == output.before)
        where = _where(output, unchanged)
        yield output.marked(Symptom.UNCHANGED, unchanged, argument=output.name, where=where)
        kept = equal_or_nan(output.expected, output.before)
        yield output.marked(Symptom.OVERWRITTEN, kept, argument=output.name)
        if not output.is_exact:
            old = wrong & got.isnan() & output.before.isnan()
            yield output.marked(Symptom.OLD_NAN, old, argument=output.name)
    if output.earlier is not None and output.same_input:
        yield output.marked(Symptom.DIFFERS, wrong & ~equal_or_nan(got, output.earlier))
    elif output.earlier is not None:
        yield output.clue(Symptom.KEPT, output.earlier)


def _places(output: WrongOutput) -> Iterator[Clue]:
    """Right values in wrong places."""
    expected = output.expected
    for first, second in itertools.combinations(range(expected.dim()), 2):
        if expected.shape[first] > 1 and expected.shape[second] > 1:
            stored = expected.transpose(first, second).contiguous().view(expected.shape)
            yield output.clue(Symptom.TRANSPOSED_OUTPUT, stored)
    yield from _moved(output)


def _moved(output: WrongOutput) -> Iterator[Clue]:
    """Elements with the value of another one, at a position that is a multiple of theirs or a step away."""
    expected, count = output.expected.flatten(), output.expected.numel()
    if count < 2 * FEWEST:
        return
    numbers = torch.arange(count, device=expected.device)
    strides = sorted({*output.expected.shape, 2} - {0, 1})
    maps = [(f"element {stride} * i", numbers * stride) for stride in strides]
    maps += [(f"element i {'+-'[step < 0]} {abs(step)}", numbers + step) for step in (1, -1)]
    for text, source in maps:
        inside = ((source >= 0) & (source < count)).view(output.expected.shape)
        guess = expected[source.clamp(0, count - 1)].view(output.expected.shape)
        yield from _from_elsewhere(output, guess, inside, text)
    for dim, size in enumerate(output.expected.shape):
        if size > 1:
            yield from _moved_along(output, dim, size)


def _moved_along(output: WrongOutput, dim: int, size: int) -> Iterator[Clue]:
    """Elements with the value of their neighbour along a dimension, or of its other end."""
    everywhere = torch.ones_like(output.wrong)
    turned = output.expected.flip(dim)
    yield from _from_elsewhere(output, turned, everywhere, f"element {size - 1} - i of dimension {dim}")
    for step, end, word in ((1, 0, "first"), (-1, size - 1, "last")):
        guess = output.expected.roll(step, dim)
        guess.select(dim, end).zero_()  # as in an exclusive scan, which leaves out the element itself
        is_zero = bool((raw(output.got).select(dim, end) == 0).all())
        inside = everywhere.clone()
        inside.select(dim, end).fill_(is_zero)
        begun = f", and the {word} is 0" if is_zero else ""
        text = f"element i {'-+'[step < 0]} 1 of dimension {dim}{begun}"
        yield from _from_elsewhere(output, guess, inside, text)


def _from_elsewhere(output: WrongOutput, guess: torch.Tensor, inside: torch.Tensor, text: str) -> Iterator[Clue]:
    """A clue of elements with the values of `guess`; none if there are none `inside`."""
    fits = output.agrees(guess) & inside
    explained = int((output.wrong & fits).sum())
    if explained >= FEWEST:
        contradicted = int((~output.wrong & ~fits & inside).sum())
        yield Clue(symptom=Symptom.MOVED, explained=explained, contradicted=contradicted, facts={"map": text})


def _dropped_nan(output: WrongOutput) -> Iterator[Clue]:
    """Numbers where NaN is expected, in memory that was written."""
    if not output.is_exact:
        unwritten = consists_of(output.got, output.poison)
        dropped = output.expected.isnan() & ~output.got.isnan() & ~unwritten
        yield output.marked(Symptom.DROPPED_NAN, dropped, count=int(dropped.sum()))


def _unsaturated(output: WrongOutput) -> Iterator[Clue]:
    """Non-finite elements where the largest number of the type is expected, in memory that was written."""
    got, expected = output.got, output.expected
    if got.is_floating_point():
        largest = torch.finfo(output.dtype).max
        beyond = ~got.isfinite() & (expected.abs() == largest) & ~consists_of(got, output.poison)
        facts = {"dtype": dtype_name(output.dtype), "largest": f"{largest:g}"}
        yield output.marked(Symptom.UNSATURATED, beyond, **facts)


def _zero_signs(output: WrongOutput) -> Iterator[Clue]:
    """Zeros with the other sign, where the operator keeps it."""
    lost = output.wrong & other_zero(output.got, output.expected)
    if not bool(lost.any()):
        return
    gained = not output.got.is_complex() and bool(output.got[lost].signbit().all())
    wanted, found = ("0.0", "-0.0") if gained else ("-0.0", "0.0")
    yield output.marked(Symptom.ZERO_SIGN, lost, wanted=wanted, found=found)


def _tails(output: WrongOutput) -> Iterator[Clue]:
    """Wrong elements at the end of a dimension only, beyond the last whole block."""
    wrong, shape = output.wrong, output.wrong.shape
    for dim, size in enumerate(shape):
        lines = wrong.movedim(dim, 0).reshape(size, -1).any(dim=1)
        start = int(lines.byte().argmax())
        block = _block_of(start, size)
        if block is not None:
            region = torch.arange(size, device=wrong.device) >= start
            fits = region.view([-1 if at == dim else 1 for at in range(len(shape))]).expand(shape)
            yield output.region(Symptom.TAIL, fits, dim=dim, start=start, block=block, size=size)
    start, count = int(wrong.flatten().byte().argmax()), wrong.numel()
    block = _block_of(start, count)
    if block is not None and len(shape) != 1:
        fits = (torch.arange(count, device=wrong.device) >= start).view(shape)
        facts = {"start": start, "block": block, "size": count, "count": count - start}
        yield output.region(Symptom.FLAT_TAIL, fits, **facts)


def _block_of(start: int, size: int) -> int | None:
    """The largest power of two that divides `start` but not `size`, so that the last block begins there."""
    fitting = (block for block in BLOCKS if start and start % block == 0 and size - start < block)
    return next(fitting, None)


def _where(output: WrongOutput, marked: torch.Tensor) -> str:
    """From which element on elements are marked, if all of them are from there on."""
    first = int(marked.flatten().byte().argmax())
    if bool(marked.flatten()[first:].all()) and first:
        return f" from element {first} on"
    if marked.dim() > 1:
        columns = marked.reshape(-1, marked.shape[-1])
        start = int(columns.any(dim=0).byte().argmax())
        if start and bool(columns[:, start:].all()):
            return f" from column {start} on"
    return ""
