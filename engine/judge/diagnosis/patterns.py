"""Clues in a wrong output itself: values that were never written, are elsewhere, or follow a rule.

Every function reads one wrong output and yields clues; none of them decides, none changes a tensor.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import torch

from engine.judge.compare.measures import consists_of, equal_or_nan, other_zero, raw
from engine.judge.diagnosis.ranking import Clue
from engine.judge.diagnosis.symptoms import Symptom
from engine.judge.diagnosis.wrong_output import WrongOutput
from engine.protocol.tensors import dtype_name

_BLOCKS = tuple(1 << power for power in range(14, 3, -1))
_LEAST_IN_LINE = 4  # fewest wrong elements of a line for a factor of that line to be meaningful
_ROUNDINGS = ((torch.float16, 2.0**-11), (torch.bfloat16, 2.0**-8))
_SINGLE = (torch.float32, 2.0**-24)
_SIGNIFICANDS = (("float64", 53), ("float32", 24))  # bits, including the hidden one
_MOST_SMALL = 2.0**-4
_MOST_ROUNDINGS = 256  # times a typical error, or the rounding of its type: a larger one has another cause
_ROUNDED = 2.0**-40  # closer to 1 than this, a factor is float64 rounding
_WRAPS = {8: torch.int8, 16: torch.int16, 32: torch.int32}


def patterns(output: WrongOutput) -> Iterator[Clue]:
    """Every clue of the output itself."""
    yield from _memory(output)
    yield from _places(output)
    yield from _tails(output)
    yield from _dropped_nan(output)
    yield from _unsaturated(output)
    yield from _zero_signs(output)
    yield _only(output, Symptom.ZEROED, (raw(output.got) == 0) & (raw(output.expected) != 0))
    if output.is_exact:
        yield from _integers(output)
    if not output.got.is_complex() and output.got.dtype != torch.bool:
        yield from _factors(output)
        yield from _distances(output)
        yield from _small_errors(output)


def _memory(output: WrongOutput) -> Iterator[Clue]:
    """Clues on earlier content of the memory: from before the call, or from an earlier call."""
    got, wrong = output.got, output.wrong
    unwritten = wrong & consists_of(got, output.poison)
    where = _where(output, unwritten)
    yield _only(output, Symptom.POISON, unwritten, byte=f"0x{output.poison:02X}", where=where)
    if output.before is not None:
        unchanged = wrong & (got == output.before)
        where = _where(output, unchanged)
        yield _only(output, Symptom.UNCHANGED, unchanged, argument=output.name, where=where)
        kept = equal_or_nan(output.expected, output.before)
        yield _only(output, Symptom.OVERWRITTEN, kept, argument=output.name)
        if not output.is_exact:
            old = wrong & got.isnan() & output.before.isnan()
            yield _only(output, Symptom.OLD_NAN, old, argument=output.name)
    if output.earlier is not None and output.same_input:
        yield _only(output, Symptom.DIFFERS, wrong & ~equal_or_nan(got, output.earlier))
    elif output.earlier is not None:
        yield output.clue(Symptom.KEPT, output.earlier)


def _only(output: WrongOutput, symptom: Symptom, marked: torch.Tensor, **facts: str | int | float) -> Clue:
    """A clue that no right element can contradict."""
    return Clue(symptom=symptom, explained=int((marked & output.wrong).sum()), facts=facts)


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
    if count < 2 * _LEAST_IN_LINE:
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
    if explained >= _LEAST_IN_LINE:
        contradicted = int((~output.wrong & ~fits & inside).sum())
        yield Clue(symptom=Symptom.MOVED, explained=explained, contradicted=contradicted, facts={"map": text})


def _dropped_nan(output: WrongOutput) -> Iterator[Clue]:
    """Numbers where NaN is expected, in memory that was written."""
    if not output.is_exact:
        unwritten = consists_of(output.got, output.poison)
        dropped = output.expected.isnan() & ~output.got.isnan() & ~unwritten
        yield _only(output, Symptom.DROPPED_NAN, dropped, count=int(dropped.sum()))


def _unsaturated(output: WrongOutput) -> Iterator[Clue]:
    """Non-finite elements where the largest number of the type is expected, in memory that was written."""
    got, expected = output.got, output.expected
    if got.is_floating_point():
        largest = torch.finfo(output.dtype).max
        beyond = ~got.isfinite() & (expected.abs() == largest) & ~consists_of(got, output.poison)
        facts = {"dtype": dtype_name(output.dtype), "largest": f"{largest:g}"}
        yield _only(output, Symptom.UNSATURATED, beyond, **facts)


def _zero_signs(output: WrongOutput) -> Iterator[Clue]:
    """Zeros with the other sign, where the operator keeps it."""
    lost = output.wrong & other_zero(output.got, output.expected)
    if not bool(lost.any()):
        return
    gained = not output.got.is_complex() and bool(output.got[lost].signbit().all())
    wanted, found = ("0.0", "-0.0") if gained else ("-0.0", "0.0")
    yield _only(output, Symptom.ZERO_SIGN, lost, wanted=wanted, found=found)


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
            yield _region(output, Symptom.TAIL, fits, dim=dim, start=start, block=block, size=size)
    start, count = int(wrong.flatten().byte().argmax()), wrong.numel()
    block = _block_of(start, count)
    if block is not None and len(shape) != 1:
        fits = (torch.arange(count, device=wrong.device) >= start).view(shape)
        facts = {"start": start, "block": block, "size": count, "count": count - start}
        yield _region(output, Symptom.FLAT_TAIL, fits, **facts)


def _region(output: WrongOutput, symptom: Symptom, region: torch.Tensor, **facts: str | int | float) -> Clue:
    """A clue of a region of wrong elements: right ones inside of it count against it."""
    explained, contradicted = (output.wrong & region).sum(), (~output.wrong & region).sum()
    return Clue(symptom=symptom, explained=int(explained), contradicted=int(contradicted), facts=facts)


def _block_of(start: int, size: int) -> int | None:
    """The largest power of two that divides `start` but not `size`, so that the last block begins there."""
    fitting = (block for block in _BLOCKS if start and start % block == 0 and size - start < block)
    return next(fitting, None)


def _integers(output: WrongOutput) -> Iterator[Clue]:
    """Overflow: of the output type, of an intermediate type, or of sums that began with poison."""
    if output.got.dtype == torch.bool:
        return
    expected = output.expected.long()
    byte = torch.full((output.got.element_size(),), output.poison, dtype=torch.uint8)
    poison = int(byte.view(output.got.dtype))
    # One less than a constant is an error of the constant: nothing was accumulated that could have begun with -1.
    if poison != -1 or bool((expected != expected.flatten()[0]).any()):
        added = output.expected + poison
        yield output.clue(Symptom.POISON_ADDED, added, value=poison, byte=f"0x{output.poison:02X}")
    for bits, narrow in _WRAPS.items():
        if torch.iinfo(output.got.dtype).bits > bits:
            yield output.clue(Symptom.WRAPPED, expected.to(narrow), bits=bits)
    yield from _rounded_toward_zero(output)
    yield from _held_in_floats(output, expected)


def _rounded_toward_zero(output: WrongOutput) -> Iterator[Clue]:
    """Negative integers that are too large by 1, where some elements, exact quotients, are right."""
    above = (output.expected < 0) & (output.got == output.expected + 1)
    if int((output.wrong & above).sum()) >= _LEAST_IN_LINE and not bool(output.wrong.all()):
        yield _only(output, Symptom.TOWARD_ZERO, above)


def _held_in_floats(output: WrongOutput, expected: torch.Tensor) -> Iterator[Clue]:
    """Integers with the error of a float that cannot represent them, of the widest that explains most of them."""
    difference = (output.got.long() - expected).abs()  # float64 cannot distinguish large integers
    error = difference.double() / output.scale
    for dtype, bits in _SIGNIFICANDS:
        spacing = torch.exp2(expected.abs().double().clamp(min=1).log2().floor() + 1 - bits)
        near = (difference <= 4 * spacing) & (spacing >= 1)
        if 2 * int((output.wrong & near).sum()) >= output.wrong_count:
            yield _small(output, near, error, dtype=dtype, rounding=2.0**-bits)
            return


def _factors(output: WrongOutput) -> Iterator[Clue]:
    """Errors that are a factor: one for all, one for each line, one for each block of a line."""
    got, expected = output.got64, output.expected64
    usable = got.isfinite() & expected.isfinite() & (expected != 0)
    if int((output.wrong & usable).sum()) < _LEAST_IN_LINE:
        return
    whole = _ratio(got, expected, usable, tuple(range(got.dim())))
    factor = float(whole.flatten()[0])
    if factor != 0 and abs(factor - 1) > _ROUNDED:  # all zeros are no evidence for a factor
        yield output.clue(Symptom.SCALE, whole * expected, factor=factor, known="")
    for dim, size in enumerate(got.shape):
        if size < _LEAST_IN_LINE or got.numel() // size < 2:
            continue
        lines = _ratio(got, expected, usable, (dim,))
        bad = (output.wrong & usable).any(dim=dim, keepdim=True) & (lines != 0) & ((lines - 1).abs() > _ROUNDED)
        if bool(bad.any()):
            facts = {"dim": dim, "least": float(lines[bad].min()), "most": float(lines[bad].max())}
            yield output.clue(Symptom.LINE_SCALE, (lines * expected).where(lines != 0, torch.nan), **facts)
    yield from _block_factors(output, usable)


def _block_factors(output: WrongOutput, usable: torch.Tensor) -> Iterator[Clue]:
    """A factor for each block of the last dimension, which is 1 in the last one."""
    size = output.got.shape[-1] if output.got.dim() else 0
    for block in (block for block in _BLOCKS if size > block and not output.is_exact):
        cuts = list(range(block, size, block))
        parts = [
            _ratio(got, expected, use, (-1,)) * expected
            for got, expected, use in zip(
                output.got64.tensor_split(cuts, -1),
                output.expected64.tensor_split(cuts, -1),
                usable.tensor_split(cuts, -1),
                strict=True,
            )
        ]
        last_is_right = not bool(output.wrong[..., (size - 1) // block * block :].any())
        if last_is_right and len(parts) > 1:
            clue = output.clue(Symptom.BLOCK_SCALE, torch.cat(parts, -1), block=block)
            if clue.explained >= len(parts) * _LEAST_IN_LINE:
                yield clue
                return


def _ratio(got: torch.Tensor, expected: torch.Tensor, usable: torch.Tensor, dims: tuple[int, ...]) -> torch.Tensor:
    """got / expected along these dimensions by least squares; 0 where there are no usable elements."""
    zero = torch.zeros((), dtype=got.dtype, device=got.device)
    got, expected = got.where(usable, zero), expected.where(usable, zero)
    if not dims:
        return torch.where(expected != 0, got / expected, zero)
    largest = expected.abs().amax(dims, keepdim=True).clamp(min=torch.finfo(got.dtype).tiny)
    got, expected = got / largest, expected / largest
    squares = (expected * expected).sum(dims, keepdim=True)
    return torch.where(squares > 0, (got * expected).sum(dims, keepdim=True) / squares, zero)


def _distances(output: WrongOutput) -> Iterator[Clue]:
    """Errors that are an offset: one for all, one for each line, or a missing carry between blocks."""
    difference = output.got64 - output.expected64
    usable = difference.isfinite() & output.wrong
    if int(usable.sum()) < _LEAST_IN_LINE:
        return
    middle = difference[usable].median()
    if float(middle.abs()) <= _ROUNDED * float(output.scale):
        return
    yield output.clue(Symptom.OFFSET, output.expected64 + middle, offset=float(middle), known="")
    for dim, size in enumerate(difference.shape):
        yield from _carried(output, difference, dim)
        if size < _LEAST_IN_LINE or difference.numel() // size < 2:
            continue
        lines = difference.nan_to_num(nan=0.0, posinf=0.0, neginf=0.0).median(dim=dim, keepdim=True).values
        yield output.clue(Symptom.LINE_OFFSET, output.expected64 + lines, dim=dim)


def _carried(output: WrongOutput, difference: torch.Tensor, dim: int) -> Iterator[Clue]:
    """Blocks whose carry is lost: each is off by the expected value before its first element."""
    size = difference.shape[dim]
    expected = output.expected64
    for block in (block for block in _BLOCKS if size > block):
        before = torch.arange(size, device=expected.device) // block * block - 1
        shape = [-1 if at == dim else 1 for at in range(expected.dim())]
        carried = expected.index_select(dim, before.clamp(min=0)).where((before >= 0).view(shape), 0.0)
        first_is_right = not bool(output.wrong.narrow(dim, 0, block).any())
        clue = output.clue(Symptom.CARRY, expected - carried, block=block, dim=dim)
        if first_is_right and clue.explained >= _LEAST_IN_LINE:
            yield clue


def _small_errors(output: WrongOutput) -> Iterator[Clue]:
    """Errors that are small relative to the output, of both signs, and no larger than a narrow type causes."""
    if output.is_exact:
        return
    error = (output.got64 - output.expected64) / output.scale
    chosen = error[output.wrong]
    if chosen.numel() < 2 * _LEAST_IN_LINE or not bool(chosen.isfinite().all()):
        return
    largest, usual = float(chosen.abs().max()), float(chosen.abs().median())
    balance = float((chosen > 0).double().mean())
    if largest > _MOST_SMALL or not 0.05 < balance < 0.95:
        return
    own = torch.finfo(output.got.dtype).eps
    types = (*_ROUNDINGS, _SINGLE) if output.got.dtype == torch.float64 else _ROUNDINGS
    narrower = [(dtype, rounding) for dtype, rounding in types if rounding * 2 >= own]
    dtype, rounding = min(narrower, key=lambda pair: abs(math.log(usual / pair[1])))
    if largest <= _MOST_ROUNDINGS * max(usual, rounding):
        yield _small(output, output.wrong, error.abs(), dtype=dtype_name(dtype), rounding=rounding)


def _small(output: WrongOutput, small: torch.Tensor, error: torch.Tensor, *, dtype: str, rounding: float) -> Clue:
    """A clue of the `small` ones of the errors, which are relative to the output's size."""
    chosen = error[output.wrong & small]
    extent = "all" if len(chosen) == output.wrong_count else "most"
    largest, usual = float(chosen.max()), float(chosen.median())
    facts: dict[str, str | int | float] = {"dtype": dtype, "largest": largest, "typical": usual, "rounding": rounding}
    return _only(output, Symptom.SMALL_ERRORS, small, extent=extent, **facts)


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
