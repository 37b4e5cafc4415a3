"""Gather of a latent cache: dst[i] = scale * src_cache[block_table[s, p // B], p % B], s = token_to_seq[i].

p = seq_starts[s] + i - cu_seq_lens[s].  For S sequences with T tokens of E elements and blocks of B tokens the shapes
are src_cache: (blocks, B, 1, E), dst: (T, 1, E), block_table: (S, n), cu_seq_lens: (S + 1,), token_to_seq: (T,), scale:
(1,), seq_starts: (S,); num_tokens is T = cu_seq_lens[-1].  Tensors in any strides; tables, bounds, starts and
token_to_seq are int32.  A start is a multiple of B, without `seq_starts` starts are 0; sequences may be empty.

With kv_cache_dtype "auto" the cache has the dtype of dst and entries are copied: the scale, float32, is ignored, and
NaN, infinities and -0.0 are copied unchanged.  With "fp8" the cache holds e4m3fn codes as uint8 and each value is
multiplied by the scale and rounded once to the dtype of dst; the codes 0x7F and 0xFF give NaN.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise

from engine.model import Case, Category, Cost, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, EXACT, F16, Arguments, Layout, cases_over, normal, rounded, torch
from problems.kit.inference.arguments import arranged
from problems.kit.inference.caches import (
    AUTO,
    FP8,
    blocks_of,
    cache_bytes,
    cache_like,
    float_scale,
    gathered_rows,
    loaded,
    loaded_eagerly,
    paged_table,
    rows_eagerly,
    starts_of,
)

_over = partial(
    cases_over, block_size=16, width=576, starts=False, cache=AUTO, values="mixed", layout=Layout.CONTIGUOUS
)
_SIZES = "{lengths} tokens of {width} by {block_size}"

CASES = (
    *_over(Tier.SMOKE, f"{_SIZES} {{dtype}} {{cache}}", lengths=(5, 17), width=72, dtype=F16, cache=[AUTO, FP8]),
    *_over(Tier.SMOKE, f"{_SIZES} {{dtype}} with starts", lengths=(9, 20), width=40, dtype=BF16, starts=True),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{cache}}", lengths=[(1,), (0, 3), (16, 0, 16), (15, 17, 1, 31)], width=40,
           dtype=F16, cache=[AUTO, FP8]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{cache}}", lengths=(7, 20), dtype=[F16, BF16], cache=[AUTO, FP8]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", lengths=(31, 2), width=33, block_size=[1, 7, 32], dtype=BF16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{cache}} with starts", lengths=(30, 1, 18), width=65, dtype=BF16,
           cache=[AUTO, FP8], starts=True),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{cache}} {{layout}}", lengths=(11, 20), width=33, dtype=F16,
           cache=[AUTO, FP8], starts=True, layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{values}}", lengths=(19, 30), width=24, dtype=[F16, BF16],
           values="special"),
    *_over(Tier.BENCH, f"{_SIZES} {{dtype}} {{cache}}", lengths=(2048, 1000, 4096, 300), block_size=64, dtype=BF16,
           cache=[AUTO, FP8]),
)  # fmt: skip

_SCALE, _MOST_BLOCKS_SKIPPED = 0.375, 2


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """src_cache: (blocks, B, 1, E), dst: (tokens, 1, E), overwritten, and the tables and offsets of its tokens.

    "with starts" the sequences begin up to two blocks after the start of their tables.
    """
    lengths, block_size, width = case.shape("lengths"), case.size("block_size"), case.size("width")
    most = _MOST_BLOCKS_SKIPPED if case.claim("starts") else 0
    starts = torch.randint(0, most + 1, (len(lengths),), generator=rng).int() * block_size
    starts[:1] = most * block_size
    whole = [length + most * block_size for length in lengths]
    blocks = sum(blocks_of(whole, block_size)) + 2
    cache = cache_like((blocks, block_size, 1, width), case, rng)
    dst = normal((sum(lengths), 1, width), case.dtype, rng)
    table = paged_table(whole, block_size, blocks, rng)
    owners = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths)).int()
    scale = float_scale(_SCALE) * (1 + torch.rand(1, generator=rng))
    cache, dst, table, bounds, owners, scale = arranged(case, cache, dst, table, starts_of(lengths), owners, scale)
    seq_starts = arranged(case, starts)[0] if case.claim("starts") else None
    return cache, dst, table, bounds, owners, sum(lengths), case.word("cache"), scale, seq_starts


def reference(
    src_cache: torch.Tensor,
    dst: torch.Tensor,
    block_table: torch.Tensor,
    cu_seq_lens: torch.Tensor,
    token_to_seq: torch.Tensor,
    num_tokens: int,
    kv_cache_dtype: str,
    scale: torch.Tensor,
    seq_starts: torch.Tensor | None = None,
) -> torch.Tensor:
    """The final dst, token by token, in float64 where it is scaled."""
    bounds = cu_seq_lens.tolist()
    lengths = [end - start for start, end in pairwise(bounds)]
    starts = [0] * len(lengths) if seq_starts is None else seq_starts.tolist()
    places = gathered_rows(block_table, lengths, starts, src_cache.shape[1])
    entries = src_cache[places[:, 0], places[:, 1]]
    return loaded(entries, kv_cache_dtype, scale).to(dst.dtype)


def eager(
    src_cache: torch.Tensor,
    dst: torch.Tensor,
    block_table: torch.Tensor,
    cu_seq_lens: torch.Tensor,
    token_to_seq: torch.Tensor,
    num_tokens: int,
    kv_cache_dtype: str,
    scale: torch.Tensor,
    seq_starts: torch.Tensor | None = None,
) -> None:
    """All tokens at once, by indexing; a product in float32."""
    entries = src_cache[rows_eagerly(block_table, cu_seq_lens, seq_starts, src_cache.shape[1])]
    dst.copy_(loaded_eagerly(entries, kv_cache_dtype, scale))


def tolerance(case: Case) -> Tolerance:
    """A copy, or one rounded product."""
    return EXACT if case.word("cache") == AUTO else rounded(case.dtype)


def cost(case: Case) -> Cost:
    """A product for each element that is scaled; one entry of the table for each block that is read."""
    lengths = case.shape("lengths")
    elements = sum(lengths) * case.size("width")
    listed = sum(blocks_of(lengths, case.size("block_size"))) + len(lengths) + 1
    return Cost(
        flops=0 if case.word("cache") == AUTO else elements,
        bytes_read=elements * cache_bytes(case) + 4 * listed,
        bytes_written=elements * case.dtype.bytes,
    )


PROBLEM = ProblemDefinition(
    name="vllm::gather_and_maybe_dequant_cache",
    entry="gather_and_maybe_dequant_cache",
    signature=(
        "gather_and_maybe_dequant_cache(src_cache: Tensor, dst: Tensor, block_table: Tensor, cu_seq_lens: Tensor, "
        "token_to_seq: Tensor, num_tokens: int, kv_cache_dtype: str, scale: Tensor, "
        "seq_starts: Tensor | None = None) -> None"
    ),
    summary="Gather (and dequantise when FP8) MLA cache entries of every token",
    category=Category.KV_CACHE,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    returns=0,
    mutates=("dst",),
    written_only=("dst",),
)
