"""Gather of paged blocks: dst[cu_seq_lens[s] + t] = src_cache[block_table[s, p // B], p % B].

Token t of sequence s is at p = seq_starts[s] + t.  Caches of 16-bit, 32-bit or 8-bit elements with blocks of B tokens
of any shape, all tensors in any strides; block_table, cu_seq_lens and seq_starts are int32.  A start is a multiple of
B; without `seq_starts` starts are 0.  Sequences may be empty, and dst has exactly cu_seq_lens[-1] tokens.  A copy: NaN,
infinities, -0.0 and subnormal values are copied unchanged.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise

from engine.model import Case, Category, Cost, Determinism, DType, ProblemDefinition, Tier
from problems.kit import BF16, F16, F32, Arguments, Layout, cases_over, integers, mixed, scattered, torch
from problems.kit.inference.arguments import arranged, exact
from problems.kit.inference.caches import blocks_of, gathered_rows, paged_table, rows_eagerly, starts_of

_over = partial(cases_over, block_size=16, entry=(2, 24), starts=False, values="mixed", layout=Layout.CONTIGUOUS)
_SIZES = "{lengths} tokens of {entry} by {block_size}"

CASES = (
    *_over(Tier.SMOKE, f"{_SIZES} {{dtype}}", lengths=(5, 33), dtype=[F16, BF16]),
    *_over(Tier.SMOKE, f"{_SIZES} {{dtype}} with starts", lengths=(9, 20), block_size=8, dtype=F16, starts=True),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", lengths=[(1,), (0, 3), (16, 0, 16), (15, 17, 1, 31)], dtype=F16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", lengths=(31, 2), block_size=[1, 7, 32], dtype=[F16, F32]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", lengths=(17, 40), entry=[(1,), (127,), (4, 33), (2, 3, 5)], dtype=BF16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", lengths=(7, 9), entry=(656,), dtype=DType.UINT8),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} with starts", lengths=(30, 1, 18), dtype=[F16, BF16], starts=True),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{layout}}", lengths=(11, 20), dtype=[F16, BF16], starts=True,
           layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{values}}", lengths=(19, 30), dtype=[F16, F32], values="special"),
    *_over(Tier.BENCH, f"{_SIZES} {{dtype}}", lengths=(2048, 1000, 4096, 300), entry=[(8, 128), (576,)], block_size=32,
           dtype=[F16, BF16]),
)  # fmt: skip

_MOST_BLOCKS_SKIPPED = 2


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """src_cache: (blocks, B, ...), dst: (tokens, ...), overwritten, block_table: (S, n), cu_seq_lens: (S + 1,).

    `seq_starts`: (S,) or None, up to two blocks into a sequence.
    """
    lengths, block_size, entry = case.shape("lengths"), case.size("block_size"), case.shape("entry")
    most = _MOST_BLOCKS_SKIPPED if case.claim("starts") else 0
    starts = torch.randint(0, most + 1, (len(lengths),), generator=rng).int() * block_size
    starts[:1] = most * block_size
    whole = [length + most * block_size for length in lengths]
    blocks = sum(blocks_of(whole, block_size)) + 2
    cache, dst = (_elements(case, (*sizes, *entry), rng) for sizes in ((blocks, block_size), (sum(lengths),)))
    table = paged_table(whole, block_size, blocks, rng)
    cache, dst, table, bounds = arranged(case, cache, dst, table, starts_of(lengths))
    seq_starts = arranged(case, starts)[0] if case.claim("starts") else None
    return cache, dst, table, bounds, len(lengths), seq_starts


def reference(
    src_cache: torch.Tensor,
    dst: torch.Tensor,
    block_table: torch.Tensor,
    cu_seq_lens: torch.Tensor,
    batch_size: int,
    seq_starts: torch.Tensor | None = None,
) -> torch.Tensor:
    """The final dst, token by token."""
    bounds = cu_seq_lens.tolist()
    lengths = [end - start for start, end in pairwise(bounds)]
    starts = [0] * batch_size if seq_starts is None else seq_starts.tolist()
    out = dst.clone()
    for token, (block, place) in enumerate(gathered_rows(block_table, lengths, starts, src_cache.shape[1]).tolist()):
        out[token] = src_cache[block, place]
    return out


def eager(
    src_cache: torch.Tensor,
    dst: torch.Tensor,
    block_table: torch.Tensor,
    cu_seq_lens: torch.Tensor,
    batch_size: int,
    seq_starts: torch.Tensor | None = None,
) -> None:
    """All tokens at once, by indexing."""
    dst.copy_(src_cache[rows_eagerly(block_table, cu_seq_lens, seq_starts, src_cache.shape[1])])


def cost(case: Case) -> Cost:
    """No arithmetic; one entry of the table for each block that is read."""
    entry_elements = 1
    for size in case.shape("entry"):
        entry_elements *= size
    lengths = case.shape("lengths")
    moved_bytes = sum(lengths) * entry_elements * case.dtype.bytes
    listed = sum(blocks_of(lengths, case.size("block_size"))) + len(lengths) + 1
    return Cost(flops=0, bytes_read=moved_bytes + 4 * listed, bytes_written=moved_bytes)


def _elements(case: Case, shape: tuple[int, ...], rng: torch.Generator) -> torch.Tensor:
    if case.dtype is DType.UINT8:
        return integers(shape, case.dtype, rng, low=0, high=256)
    tensor = mixed(shape, case.dtype, rng)
    return scattered(tensor, rng, each=30) if case.word("values") == "special" else tensor


PROBLEM = ProblemDefinition(
    name="vllm::cp_gather_cache",
    entry="cp_gather_cache",
    signature=(
        "cp_gather_cache(src_cache: Tensor, dst: Tensor, block_table: Tensor, cu_seq_lens: Tensor, batch_size: int, "
        "seq_starts: Tensor | None = None) -> None"
    ),
    summary="Gather paged cache blocks of every sequence into a flat token buffer",
    category=Category.KV_CACHE,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    determinism=Determinism.EXACT,
    returns=0,
    mutates=("dst",),
    written_only=("dst",),
)
