"""Integers of 4 or 8 bits packed into int32 words, and the products of activations with such weights.

Position i of a word is its bits from `bits * i` on. A word of GPTQ holds neighbours in order. A word of AWQ, and a word
of 4-bit weights after gptq_shuffle, holds the neighbours 0, 2, 4, 6, 1, 3, 5, 7 at the positions 0 to 7.
"""

from __future__ import annotations

from engine.model import Case, DType, Tolerance
from problems.kit.deferred import torch
from problems.kit.tolerances import rounded

EVEN_BEFORE_ODD = (0, 2, 4, 6, 1, 3, 5, 7)
FINE_SCALES = "fine scales"
_WORD_BITS = 32
_STEPS = range(10 * 16, 112 * 16)  # a short scale times 2 ** bits, in 1/1024


def pack(values: torch.Tensor, bits: int, *, dim: int = -1, order: tuple[int, ...] | None = None) -> torch.Tensor:
    """The integers `values`, from 0 to 2 ** bits - 1, packed into int32 words along `dim`.

    `order[i]` is the neighbour at position i; without `order` neighbours keep their order.
    """
    count = _WORD_BITS // bits
    last = values.long().movedim(dim, -1)
    parts = last.reshape(*last.shape[:-1], last.shape[-1] // count, count)
    parts = parts[..., list(order)] if order is not None else parts
    words = (parts << (bits * torch.arange(count, device=values.device))).sum(-1)
    signed = torch.where(words >= 2 ** (_WORD_BITS - 1), words - 2**_WORD_BITS, words)
    return signed.int().movedim(-1, dim)


def unpack(words: torch.Tensor, bits: int, *, dim: int = -1, order: tuple[int, ...] | None = None) -> torch.Tensor:
    """The integers, int64, in the words of `pack`."""
    count = _WORD_BITS // bits
    shifts = bits * torch.arange(count, device=words.device)
    parts = words.movedim(dim, -1).long().unsqueeze(-1) >> shifts & (1 << bits) - 1
    if order is not None:
        parts = parts[..., torch.tensor(order, device=words.device).argsort()]
    return parts.flatten(-2).movedim(-1, dim)


def drawn_words(shape: tuple[int, ...], rng: torch.Generator) -> torch.Tensor:
    """int32 words of random bits."""
    return torch.randint(-(2**31), 2**31, shape, generator=rng).int()


def drawn_scales(case: Case, shape: tuple[int, int], rng: torch.Generator, *, bits: int) -> torch.Tensor:
    """float16 scales of about 0.01 to 0.11 for 4 bits, 1/16 of that for 8.

    They are short: float16 holds their product with every difference of a value and a zero, so that all correct kernels
    multiply the same weights.  "fine scales" have all bits of float16, so that the rounding of a weight is seen.
    """
    steps = range(max(1, _STEPS.start >> bits), (_STEPS.stop >> bits) + 1)
    if case.word("values") == FINE_SCALES:
        return ((torch.rand(shape, generator=rng) * 0.1 + 0.01) * 16 / (1 << bits)).half()
    return (torch.randint(steps.start, steps.stop, shape, generator=rng) / 1024).half()


def dequantised(values: torch.Tensor, zeros: torch.Tensor, scales: torch.Tensor, groups: torch.Tensor) -> torch.Tensor:
    """(K, N) weights (values - zeros) * scales in the dtype of the scales; row k has the zeros and scales of groups[k].

    values: (K, N) integers, zeros and scales: (groups, N), groups: (K,).
    """
    return (values - zeros[groups]).to(scales.dtype) * scales[groups]


def rows_by_group(rows: int, groups: int, device: torch.device) -> torch.Tensor:
    """(rows,), int64: the group of each row if groups are of equal size and hold adjacent rows."""
    return torch.arange(rows, device=device) // (rows // groups)


def product_tolerance(dtype: DType, terms: int) -> Tolerance:
    """Tolerance of a product whose weights may be rounded to `dtype`, summed in float32 and rounded once.

    The rounding of a weight is at most half a unit, of either sign: over a sum that amounts to less than one unit of a
    typical output, and two are allowed.
    """
    wide = rounded(dtype, roundings=2, terms=terms)
    return Tolerance(relative=wide.relative, absolute=wide.absolute + 2 * dtype.epsilon)
