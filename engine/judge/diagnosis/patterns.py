"""Clues in a wrong output itself: values that were never written, are elsewhere, or follow a rule.

Every function reads one comparison and yields clues; none of them decides, none changes a tensor.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import torch

from engine.judge.compare.measures import consists_of, equal_or_nan, other_zero, raw
from engine.judge.diagnosis.prediction import Comparison
from engine.judge.diagnosis.ranking import Clue
from engine.judge.diagnosis.symptoms import Symptom
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


def patterns(comparison: Comparison) -> Iterator[Clue]:
    """Every clue of the output itself."""
    yield from _memory(comparison)
    yield from _places(comparison)
    yield from _tails(comparison)
    yield from _dropped_nan(comparison)
    yield from _unsaturated(comparison)
    yield from _zero_signs(comparison)
    yield _only(comparison, Symptom.ZEROED, (raw(comparison.got) == 0) & (raw(comparison.expected) != 0))
    if comparison.is_exact:
        yield from _integers(comparison)
    if not comparison.got.is_complex() and comparison.got.dtype != torch.bool:
        yield from _factors(comparison)
        yield from _distances(comparison)
        yield from _small_errors(comparison)


def _memory(comparison: Comparison) -> Iterator[Clue]:
    """Clues on earlier content of the memory: from before the call, or from an earlier call."""
    got, wrong = comparison.got, comparison.wrong
    unwritten = wrong & consists_of(got, comparison.poison)
    where = _where(comparison, unwritten)
    yield _only(comparison, Symptom.POISON, unwritten, byte=f"0x{comparison.poison:02X}", where=where)
    if comparison.before is not None:
        unchanged = wrong & (got == comparison.before)
        where = _where(comparison, unchanged)
        yield _only(comparison, Symptom.UNCHANGED, unchanged, argument=comparison.name, where=where)
        kept = equal_or_nan(comparison.expected, comparison.before)
        yield _only(comparison, Symptom.OVERWRITTEN, kept, argument=comparison.name)
        if not comparison.is_exact:
            old = wrong & got.isnan() & comparison.before.isnan()
            yield _only(comparison, Symptom.OLD_NAN, old, argument=comparison.name)
    if comparison.earlier is not None and comparison.same_input:
        yield _only(comparison, Symptom.DIFFERS, wrong & ~equal_or_nan(got, comparison.earlier))
    elif comparison.earlier is not None:
        yield comparison.clue(Symptom.KEPT, comparison.earlier)


def _only(comparison: Comparison, symptom: Symptom, marked: torch.Tensor, **facts: str | int | float) -> Clue:
    """A clue that no right element can contradict."""
    return Clue(symptom=symptom, explained=int((marked & comparison.wrong).sum()), facts=facts)


def _places(comparison: Comparison) -> Iterator[Clue]:
    """Right values in wrong places."""
    expected = comparison.expected
    for first, second in itertools.combinations(range(expected.dim()), 2):
        if expected.shape[first] > 1 and expected.shape[second] > 1:
            stored = expected.transpose(first, second).contiguous().view(expected.shape)
            yield comparison.clue(Symptom.TRANSPOSED_OUTPUT, stored)
    yield from _moved(comparison)


def _moved(comparison: Comparison) -> Iterator[Clue]:
    """Elements with the value of another one, at a position that is a multiple of theirs or a step away."""
    expected, count = comparison.expected.flatten(), comparison.expected.numel()
    if count < 2 * _LEAST_IN_LINE:
        return
    numbers = torch.arange(count, device=expected.device)
    strides = sorted({*comparison.expected.shape, 2} - {0, 1})
    maps = [(f"element {stride} * i", numbers * stride) for stride in strides]
    maps += [(f"element i {'+-'[step < 0]} {abs(step)}", numbers + step) for step in (1, -1)]
    for text, source in maps:
        inside = ((source >= 0) & (source < count)).view(comparison.expected.shape)
        guess = expected[source.clamp(0, count - 1)].view(comparison.expected.shape)
        yield from _from_elsewhere(comparison, guess, inside, text)
    for dim, size in enumerate(comparison.expected.shape):
        if size > 1:
            yield from _moved_along(comparison, dim, size)


def _moved_along(comparison: Comparison, dim: int, size: int) -> Iterator[Clue]:
    """Elements with the value of their neighbour along a dimension, or of its other end."""
    everywhere = torch.ones_like(comparison.wrong)
    turned = comparison.expected.flip(dim)
    yield from _from_elsewhere(comparison, turned, everywhere, f"element {size - 1} - i of dimension {dim}")
    for step, end, word in ((1, 0, "first"), (-1, size - 1, "last")):
        guess = comparison.expected.roll(step, dim)
        guess.select(dim, end).zero_()  # as in an exclusive scan, which leaves out the element itself
        is_zero = bool((raw(comparison.got).select(dim, end) == 0).all())
        inside = everywhere.clone()
        inside.select(dim, end).fill_(is_zero)
        begun = f", and the {word} is 0" if is_zero else ""
        text = f"element i {'-+'[step < 0]} 1 of dimension {dim}{begun}"
        yield from _from_elsewhere(comparison, guess, inside, text)


def _from_elsewhere(comparison: Comparison, guess: torch.Tensor, inside: torch.Tensor, text: str) -> Iterator[Clue]:
    """A clue of elements with the values of `guess`; none if there are none `inside`."""
    fits = comparison.agrees(guess) & inside
    explained = int((comparison.wrong & fits).sum())
    if explained >= _LEAST_IN_LINE:
        contradicted = int((~comparison.wrong & ~fits & inside).sum())
        yield Clue(symptom=Symptom.MOVED, explained=explained, contradicted=contradicted, facts={"map": text})


def _dropped_nan(comparison: Comparison) -> Iterator[Clue]:
    """Numbers where NaN is expected, in memory that was written."""
    if not comparison.is_exact:
        unwritten = consists_of(comparison.got, comparison.poison)
        dropped = comparison.expected.isnan() & ~comparison.got.isnan() & ~unwritten
        yield _only(comparison, Symptom.DROPPED_NAN, dropped, count=int(dropped.sum()))


def _unsaturated(comparison: Comparison) -> Iterator[Clue]:
    """Non-finite elements where the largest number of the type is expected, in memory that was written."""
    got, expected = comparison.got, comparison.expected
    if got.is_floating_point():
        largest = torch.finfo(comparison.dtype).max
        beyond = ~got.isfinite() & (expected.abs() == largest) & ~consists_of(got, comparison.poison)
        facts = {"dtype": dtype_name(comparison.dtype), "largest": f"{largest:g}"}
        yield _only(comparison, Symptom.UNSATURATED, beyond, **facts)


def _zero_signs(comparison: Comparison) -> Iterator[Clue]:
    """Zeros with the other sign, where the operator keeps it."""
    lost = comparison.wrong & other_zero(comparison.got, comparison.expected)
    if not bool(lost.any()):
        return
    gained = not comparison.got.is_complex() and bool(comparison.got[lost].signbit().all())
    wanted, found = ("0.0", "-0.0") if gained else ("-0.0", "0.0")
    yield _only(comparison, Symptom.ZERO_SIGN, lost, wanted=wanted, found=found)


def _tails(comparison: Comparison) -> Iterator[Clue]:
    """Wrong elements at the end of a dimension only, beyond the last whole block."""
    wrong, shape = comparison.wrong, comparison.wrong.shape
    for dim, size in enumerate(shape):
        lines = wrong.movedim(dim, 0).reshape(size, -1).any(dim=1)
        start = int(lines.byte().argmax())
        block = _block_of(start, size)
        if block is not None:
            region = torch.arange(size, device=wrong.device) >= start
            fits = region.view([-1 if at == dim else 1 for at in range(len(shape))]).expand(shape)
            yield _region(comparison, Symptom.TAIL, fits, dim=dim, start=start, block=block, size=size)
    start, count = int(wrong.flatten().byte().argmax()), wrong.numel()
    block = _block_of(start, count)
    if block is not None and len(shape) != 1:
        fits = (torch.arange(count, device=wrong.device) >= start).view(shape)
        facts = {"start": start, "block": block, "size": count, "count": count - start}
        yield _region(comparison, Symptom.FLAT_TAIL, fits, **facts)


def _region(comparison: Comparison, symptom: Symptom, region: torch.Tensor, **facts: str | int | float) -> Clue:
    """A clue of a region of wrong elements: right ones inside of it count against it."""
    explained, contradicted = (comparison.wrong & region).sum(), (~comparison.wrong & region).sum()
    return Clue(symptom=symptom, explained=int(explained), contradicted=int(contradicted), facts=facts)


def _block_of(start: int, size: int) -> int | None:
    """The largest power of two that divides `start` but not `size`, so that the last block begins there."""
    fitting = (block for block in _BLOCKS if start and start % block == 0 and size - start < block)
    return next(fitting, None)


def _integers(comparison: Comparison) -> Iterator[Clue]:
    """Overflow: of the output type, of an intermediate type, or of sums that began with poison."""
    if comparison.got.dtype == torch.bool:
        return
    expected = comparison.expected.long()
    byte = torch.full((comparison.got.element_size(),), comparison.poison, dtype=torch.uint8)
    poison = int(byte.view(comparison.got.dtype))
    # One less than a constant is an error of the constant: nothing was accumulated that could have begun with -1.
    if poison != -1 or bool((expected != expected.flatten()[0]).any()):
        added = comparison.expected + poison
        yield comparison.clue(Symptom.POISON_ADDED, added, value=poison, byte=f"0x{comparison.poison:02X}")
    for bits, narrow in _WRAPS.items():
        if torch.iinfo(comparison.got.dtype).bits > bits:
            yield comparison.clue(Symptom.WRAPPED, expected.to(narrow), bits=bits)
    yield from _rounded_toward_zero(comparison)
    yield from _held_in_floats(comparison, expected)


def _rounded_toward_zero(comparison: Comparison) -> Iterator[Clue]:
    """Negative integers that are too large by 1, where some elements, exact quotients, are right."""
    above = (comparison.expected < 0) & (comparison.got == comparison.expected + 1)
    if int((comparison.wrong & above).sum()) >= _LEAST_IN_LINE and not bool(comparison.wrong.all()):
        yield _only(comparison, Symptom.TOWARD_ZERO, above)


def _held_in_floats(comparison: Comparison, expected: torch.Tensor) -> Iterator[Clue]:
    """Integers with the error of a float that cannot represent them, of the widest that explains most of them."""
    difference = (comparison.got.long() - expected).abs()  # float64 cannot distinguish large integers
    error = difference.double() / comparison.scale
    for dtype, bits in _SIGNIFICANDS:
        spacing = torch.exp2(expected.abs().double().clamp(min=1).log2().floor() + 1 - bits)
        near = (difference <= 4 * spacing) & (spacing >= 1)
        if 2 * int((comparison.wrong & near).sum()) >= comparison.wrong_count:
            yield _small(comparison, near, error, dtype=dtype, rounding=2.0**-bits)
            return


def _factors(comparison: Comparison) -> Iterator[Clue]:
    """Errors that are a factor: one for all, one for each line, one for each block of a line."""
    got, expected = comparison.got64, comparison.expected64
    usable = got.isfinite() & expected.isfinite() & (expected != 0)
    if int((comparison.wrong & usable).sum()) < _LEAST_IN_LINE:
        return
    whole = _ratio(got, expected, usable, tuple(range(got.dim())))
    factor = float(whole.flatten()[0])
    if factor != 0 and abs(factor - 1) > _ROUNDED:  # all zeros are no evidence for a factor
        yield comparison.clue(Symptom.SCALE, whole * expected, factor=factor, known="")
    for dim, size in enumerate(got.shape):
        if size < _LEAST_IN_LINE or got.numel() // size < 2:
            continue
        lines = _ratio(got, expected, usable, (dim,))
        bad = (comparison.wrong & usable).any(dim=dim, keepdim=True) & (lines != 0) & ((lines - 1).abs() > _ROUNDED)
        if bool(bad.any()):
            facts = {"dim": dim, "least": float(lines[bad].min()), "most": float(lines[bad].max())}
            yield comparison.clue(Symptom.LINE_SCALE, (lines * expected).where(lines != 0, torch.nan), **facts)
    yield from _block_factors(comparison, usable)


def _block_factors(comparison: Comparison, usable: torch.Tensor) -> Iterator[Clue]:
    """A factor for each block of the last dimension, which is 1 in the last one."""
    size = comparison.got.shape[-1] if comparison.got.dim() else 0
    for block in (block for block in _BLOCKS if size > block and not comparison.is_exact):
        cuts = list(range(block, size, block))
        parts = [
            _ratio(got, expected, use, (-1,)) * expected
            for got, expected, use in zip(
                comparison.got64.tensor_split(cuts, -1),
                comparison.expected64.tensor_split(cuts, -1),
                usable.tensor_split(cuts, -1),
                strict=True,
            )
        ]
        last_is_right = not bool(comparison.wrong[..., (size - 1) // block * block :].any())
        if last_is_right and len(parts) > 1:
            clue = comparison.clue(Symptom.BLOCK_SCALE, torch.cat(parts, -1), block=block)
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


def _distances(comparison: Comparison) -> Iterator[Clue]:
    """Errors that are an offset: one for all, one for each line, or a missing carry between blocks."""
    difference = comparison.got64 - comparison.expected64
    usable = difference.isfinite() & comparison.wrong
    if int(usable.sum()) < _LEAST_IN_LINE:
        return
    middle = difference[usable].median()
    if float(middle.abs()) <= _ROUNDED * float(comparison.scale):
        return
    yield comparison.clue(Symptom.OFFSET, comparison.expected64 + middle, offset=float(middle), known="")
    for dim, size in enumerate(difference.shape):
        yield from _carried(comparison, difference, dim)
        if size < _LEAST_IN_LINE or difference.numel() // size < 2:
            continue
        lines = difference.nan_to_num(nan=0.0, posinf=0.0, neginf=0.0).median(dim=dim, keepdim=True).values
        yield comparison.clue(Symptom.LINE_OFFSET, comparison.expected64 + lines, dim=dim)


def _carried(comparison: Comparison, difference: torch.Tensor, dim: int) -> Iterator[Clue]:
    """Blocks whose carry is lost: each is off by the expected value before its first element."""
    size = difference.shape[dim]
    expected = comparison.expected64
    for block in (block for block in _BLOCKS if size > block):
        before = torch.arange(size, device=expected.device) // block * block - 1
        shape = [-1 if at == dim else 1 for at in range(expected.dim())]
        carried = expected.index_select(dim, before.clamp(min=0)).where((before >= 0).view(shape), 0.0)
        first_is_right = not bool(comparison.wrong.narrow(dim, 0, block).any())
        clue = comparison.clue(Symptom.CARRY, expected - carried, block=block, dim=dim)
        if first_is_right and clue.explained >= _LEAST_IN_LINE:
            yield clue


def _small_errors(comparison: Comparison) -> Iterator[Clue]:
    """Errors that are small relative to the output, of both signs, and no larger than a narrow type causes."""
    if comparison.is_exact:
        return
    error = (comparison.got64 - comparison.expected64) / comparison.scale
    chosen = error[comparison.wrong]
    if chosen.numel() < 2 * _LEAST_IN_LINE or not bool(chosen.isfinite().all()):
        return
    largest, usual = float(chosen.abs().max()), float(chosen.abs().median())
    balance = float((chosen > 0).double().mean())
    if largest > _MOST_SMALL or not 0.05 < balance < 0.95:
        return
    own = torch.finfo(comparison.got.dtype).eps
    types = (*_ROUNDINGS, _SINGLE) if comparison.got.dtype == torch.float64 else _ROUNDINGS
    narrower = [(dtype, rounding) for dtype, rounding in types if rounding * 2 >= own]
    dtype, rounding = min(narrower, key=lambda pair: abs(math.log(usual / pair[1])))
    if largest <= _MOST_ROUNDINGS * max(usual, rounding):
        yield _small(comparison, comparison.wrong, error.abs(), dtype=dtype_name(dtype), rounding=rounding)


def _small(comparison: Comparison, small: torch.Tensor, error: torch.Tensor, *, dtype: str, rounding: float) -> Clue:
    """A clue of the `small` ones of the errors, which are relative to the output's size."""
    chosen = error[comparison.wrong & small]
    extent = "all" if len(chosen) == comparison.wrong_count else "most"
    largest, usual = float(chosen.max()), float(chosen.median())
    facts: dict[str, str | int | float] = {"dtype": dtype, "largest": largest, "typical": usual, "rounding": rounding}
    return _only(comparison, Symptom.SMALL_ERRORS, small, extent=extent, **facts)


def _where(comparison: Comparison, marked: torch.Tensor) -> str:
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
