"""Paged caches: block tables of sequences, slots of tokens, and elements that are stored as fp8 codes.

A cache is a tensor of blocks of `block_size` tokens.  Token t of a sequence is in block table[t // block_size], at
position t % block_size. A slot is block * block_size + position.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.model import Case, DType
from problems.kit.deferred import torch
from problems.kit.inference.fp8 import cast_from_e4m3, cast_to_e4m3, e4m3_codes, e4m3_values, off_the_ties
from problems.kit.values import Special, distinct, mixed, scattered, torch_dtype

AUTO, FP8 = "auto", "fp8"
SPECIAL = (Special.NAN, Special.INF, Special.NEGATIVE_INF, Special.NEGATIVE_ZERO, Special.SUBNORMAL)
"""Special elements of a cache; no large ones, whose products with a query would leave no accuracy in a logit."""


def blocks_of(lengths: Sequence[int], block_size: int) -> list[int]:
    """Number of blocks of each sequence."""
    return [-(-length // block_size) for length in lengths]


def paged_table(lengths: Sequence[int], block_size: int, blocks: int, rng: torch.Generator) -> torch.Tensor:
    """(sequences, largest number of blocks of a sequence + 1), int32: blocks in random order, each used at most once.

    Entries after the last block of a sequence are arbitrary block numbers and must be ignored.
    """
    counts = blocks_of(lengths, block_size)
    table = torch.randint(0, blocks, (len(counts), max(counts, default=0) + 1), generator=rng, dtype=torch.int32)
    used = distinct(sum(counts), blocks, rng).int()
    for row, part in zip(table, torch.split(used, counts), strict=True):
        row[: len(part)] = part
    return table


def starts_of(lengths: Sequence[int]) -> torch.Tensor:
    """(sequences + 1,), int32: the start of each sequence in a buffer of all tokens, and the end of the last."""
    return torch.tensor([0, *lengths]).cumsum(0).int()


def slots(case: Case, tokens: int, count: int, rng: torch.Generator) -> torch.Tensor:
    """(T,), int64: distinct slots below `count`, -1 for the `skipped` tokens of the case."""
    mapping = distinct(tokens, count, rng)
    mapping[distinct(case.size("skipped"), tokens, rng)] = -1
    return mapping


def cache_like(shape: tuple[int, ...], case: Case, rng: torch.Generator) -> torch.Tensor:
    """A cache of the case's dtype with values, or of codes, uint8, where the parameter `cache` is "fp8"."""
    if case.word("cache") == FP8:
        return torch.randint(0, 256, shape, generator=rng, dtype=torch.uint8)
    tensor = mixed(shape, case.dtype, rng)
    return scattered(tensor, rng, values=SPECIAL, each=5) if case.word("values") == "special" else tensor


def to_be_cached(shape: tuple[int, ...], case: Case, rng: torch.Generator, *, scale: float) -> torch.Tensor:
    """Values of the case's dtype; if they are stored as fp8, only values whose code does not depend on rounding."""
    if case.word("cache") == FP8:
        return off_the_ties(shape, case.dtype, rng, scale=scale)
    tensor = mixed(shape, case.dtype, rng)
    return scattered(tensor, rng, each=3) if case.word("values") == "special" else tensor


def stored(values: torch.Tensor, kv_cache_dtype: str, scale: torch.Tensor) -> torch.Tensor:
    """Content of a cache for `values`: the values themselves, or the codes of values / scale, computed in float64."""
    return values if kv_cache_dtype == AUTO else e4m3_codes(values.double() / scale.double())


def stored_eagerly(values: torch.Tensor, kv_cache_dtype: str, scale: torch.Tensor) -> torch.Tensor:
    """Like `stored`, in float32 with PyTorch's conversion."""
    return values if kv_cache_dtype == AUTO else cast_to_e4m3(values.float() / scale)


def loaded(cache: torch.Tensor, kv_cache_dtype: str, scale: torch.Tensor) -> torch.Tensor:
    """The float64 values of a cache: the elements themselves, or codes times their scale."""
    return cache.double() if kv_cache_dtype == AUTO else e4m3_values(cache) * scale.double()


def loaded_eagerly(cache: torch.Tensor, kv_cache_dtype: str, scale: torch.Tensor) -> torch.Tensor:
    """Like `loaded`, in float32 with PyTorch's conversion; values stored unchanged keep their dtype."""
    return cache if kv_cache_dtype == AUTO else cast_from_e4m3(cache) * scale


def cache_bytes(case: Case) -> int:
    """Bytes of one element of the cache."""
    return 1 if case.word("cache") == FP8 else case.dtype.bytes


def gathered_rows(table: torch.Tensor, lengths: Sequence[int], starts: Sequence[int], block_size: int) -> torch.Tensor:
    """(tokens, 2), int64: block and position of every token, sequence by sequence.

    The tokens of sequence i are those from `starts[i]` on.
    """
    places = [
        (int(table[sequence, position // block_size]), position % block_size)
        for sequence, (length, start) in enumerate(zip(lengths, starts, strict=True))
        for position in range(start, start + length)
    ]
    return torch.tensor(places, dtype=torch.int64).reshape(-1, 2)


def rows_eagerly(
    block_table: torch.Tensor, cu_seq_lens: torch.Tensor, seq_starts: torch.Tensor | None, block_size: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Block and position of every token, by tensor operations only."""
    lengths = (cu_seq_lens[1:] - cu_seq_lens[:-1]).long()
    sequence = torch.repeat_interleave(torch.arange(len(lengths), device=lengths.device), lengths)
    position = torch.arange(len(sequence), device=lengths.device) - cu_seq_lens[sequence].long()
    if seq_starts is not None:
        position = position + seq_starts[sequence].long()
    return block_table[sequence, position // block_size].long(), position % block_size


def float_scale(value: float) -> torch.Tensor:
    """(1,), float32."""
    return torch.tensor([value], dtype=torch_dtype(DType.FLOAT32))
