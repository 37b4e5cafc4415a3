"""Clues in the errors of a wrong output: integer overflow, factors, offsets and rounding.

Every function reads one wrong output and yields clues; none of them decides, none changes a tensor.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch

from engine.judge.diagnosis.ranking import Clue
from engine.judge.diagnosis.symptoms import Symptom
from engine.judge.diagnosis.wrong_output import BLOCKS, FEWEST, WrongOutput
from engine.protocol.tensors import dtype_name

_ROUNDINGS = ((torch.float16, 2.0**-11), (torch.bfloat16, 2.0**-8))
_SINGLE = (torch.float32, 2.0**-24)
_SIGNIFICANDS = (("float64", 53), ("float32", 24))  # bits, including the hidden one
_MOST_SMALL = 2.0**-4  # of the output's typical size: a larger error is not one of rounding
_MOST_ROUNDINGS = 256  # times a typical error, or the rounding of its type: a larger one has another cause
_ROUNDED = 2.0**-40  # closer to 1 than this, a factor is float64 rounding
_WRAPS = {8: torch.int8, 16: torch.int16, 32: torch.int32}


def error_clues(output: WrongOutput) -> Iterator[Clue]:
    """Every clue in the differences of the values from the expected ones."""
    if output.is_exact:
        yield from _integers(output)
    if not output.got.is_complex() and output.got.dtype != torch.bool:
        yield from _factors(output)
        yield from _distances(output)
        yield from _small_errors(output)


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
    if int((output.wrong & above).sum()) >= FEWEST and not bool(output.wrong.all()):
        yield output.marked(Symptom.TOWARD_ZERO, above)


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
    if int((output.wrong & usable).sum()) < FEWEST:
        return
    whole = _ratio(got, expected, usable, tuple(range(got.dim())))
    factor = float(whole.flatten()[0])
    if factor != 0 and abs(factor - 1) > _ROUNDED:  # all zeros are no evidence for a factor
        yield output.clue(Symptom.SCALE, whole * expected, factor=factor, known="")
    for dim, size in enumerate(got.shape):
        if size < FEWEST or got.numel() // size < 2:
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
    for block in (block for block in BLOCKS if size > block and not output.is_exact):
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
            if clue.explained >= len(parts) * FEWEST:
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
    if int(usable.sum()) < FEWEST:
        return
    middle = difference[usable].median()
    if float(middle.abs()) <= _ROUNDED * float(output.scale):
        return
    yield output.clue(Symptom.OFFSET, output.expected64 + middle, offset=float(middle), known="")
    for dim, size in enumerate(difference.shape):
        yield from _carried(output, difference, dim)
        if size < FEWEST or difference.numel() // size < 2:
            continue
        lines = difference.nan_to_num(nan=0.0, posinf=0.0, neginf=0.0).median(dim=dim, keepdim=True).values
        yield output.clue(Symptom.LINE_OFFSET, output.expected64 + lines, dim=dim)


def _carried(output: WrongOutput, difference: torch.Tensor, dim: int) -> Iterator[Clue]:
    """Blocks whose carry is lost: each is off by the expected value before its first element."""
    size = difference.shape[dim]
    expected = output.expected64
    for block in (block for block in BLOCKS if size > block):
        before = torch.arange(size, device=expected.device) // block * block - 1
        shape = [-1 if at == dim else 1 for at in range(expected.dim())]
        carried = expected.index_select(dim, before.clamp(min=0)).where((before >= 0).view(shape), 0.0)
        first_is_right = not bool(output.wrong.narrow(dim, 0, block).any())
        clue = output.clue(Symptom.CARRY, expected - carried, block=block, dim=dim)
        if first_is_right and clue.explained >= FEWEST:
            yield clue


def _small_errors(output: WrongOutput) -> Iterator[Clue]:
    """Errors that are small relative to the output, of both signs, and no larger than a narrow type causes."""
    if output.is_exact:
        return
    error = (output.got64 - output.expected64) / output.scale
    chosen = error[output.wrong]
    if chosen.numel() < 2 * FEWEST or not bool(chosen.isfinite().all()):
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
    return output.marked(Symptom.SMALL_ERRORS, small, extent=extent, **facts)
