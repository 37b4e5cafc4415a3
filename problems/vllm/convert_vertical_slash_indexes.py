"""Sparse attention patterns as blocks and columns: row block i of M queries attends to ranges = blocks, and to columns.

With d = kv_seqlens[b] - q_seqlens[b] >= 0 and e = (i + 1) M, the diagonal at the distance s, for each s of
slash_indexes[b, h] below e + d, takes the M keys up to t = max(d + e - s, M).  Diagonals are taken in their order,
which is descending and ends with 0: the first makes the range from t - M to t; a further one begins a new range when
its t is more than M beyond the end of the current one, and otherwise moves that end by M if its t is beyond it.  A
range is listed as its keys start, start + N, ... below its end and below kv_seqlens[b].  Columns of vertical_indexes[b,
h], ascending, are listed when they are in no range and below the end of the last one.

Returns (block_count, block_offset, column_count, column_index), int32: the numbers of listed keys and columns, (B, H,
R), and the lists, (B, H, R, slashes) and (B, H, R, verticals), with R = ceil(context_size / M).  Counts of row blocks
from ceil(q_seqlens[b] / M) on are 0; entries after the counts may hold anything.  M = block_size_M is at most N =
block_size_N, causal is True.  Inputs are int32, of any strides.
"""

from __future__ import annotations

from functools import partial

from engine.model import CalledCase, Case, Category, Cost, Determinism, DType, OutputMatch, ProblemDefinition, Tier
from problems.kit import Arguments, Layout, cases_over, integers, torch
from problems.kit.inference.arguments import NO_FLOATS, arranged, exact

_over = partial(cases_over, dtype=DType.INT32, m=4, n=4, verticals=4, slashes=3, layout=Layout.CONTIGUOUS)
_SIZES = "{batch}x{heads}x{context} blocks of {m} {n} {verticals} and {slashes}"

CASES = (
    *_over(Tier.SMOKE, _SIZES, batch=2, heads=2, context=[16, 30]),
    *_over(Tier.SMOKE, _SIZES, batch=1, heads=3, context=64, m=8, n=8, verticals=9, slashes=5),
    *_over(Tier.FULL, _SIZES, batch=2, heads=4, context=[1, 33, 100], verticals=[1, 8], slashes=[1, 6]),
    *_over(Tier.FULL, _SIZES, batch=3, heads=2, context=65, m=[1, 4, 8], n=8, verticals=7, slashes=9),
    *_over(Tier.FULL, _SIZES, batch=1, heads=4, context=5000, m=64, n=64, verticals=9, slashes=5),
    *_over(Tier.FULL, f"{_SIZES} {{layout}}", batch=2, heads=2, context=40, verticals=5, slashes=5,
           layout=Layout.IRREGULAR),
    *_over(Tier.BENCH, _SIZES, batch=1, heads=4, context=[2048, 4096], m=64, n=64, verticals=100, slashes=30),
)  # fmt: skip

_MOST_BEFORE = 20


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """q_seqlens, kv_seqlens: (B,), vertical_indexes, slash_indexes: (B, H, n), the context, the block sizes, causal.

    The longest sequence of queries defines the context size; there may be up to 20 earlier keys.  Distances cluster, so
    that ranges merge.
    """
    batch, heads, context = case.size("batch"), case.size("heads"), case.size("context")
    queries = integers((batch,), DType.INT32, rng, low=max(1, context // 2), high=context + 1)
    queries[0] = context
    keys = queries + integers((batch,), DType.INT32, rng, low=0, high=_MOST_BEFORE)
    verticals = _drawn(batch, heads, case.size("verticals"), int(keys.min()), rng)
    slashes = _drawn(batch, heads, case.size("slashes"), min(int(keys.min()), 3 * case.size("slashes")), rng)
    slashes = slashes.flip(-1).contiguous()
    slashes[..., -1] = 0
    tensors = arranged(case, queries, keys, verticals, slashes)
    return *tensors, context, case.size("m"), case.size("n"), True


def reference(
    q_seqlens: torch.Tensor,
    kv_seqlens: torch.Tensor,
    vertical_indexes: torch.Tensor,
    slash_indexes: torch.Tensor,
    context_size: int,
    block_m: int,
    block_n: int,
    causal: bool = True,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Counts and lists, row block by row block; zeros after the counts."""
    rows = -(-context_size // block_m)
    places = (*vertical_indexes.shape[:2], rows)
    counts = [torch.zeros(places, dtype=torch.int32) for _ in range(2)]
    lists = [torch.zeros((*places, x.shape[-1]), dtype=torch.int32) for x in (slash_indexes, vertical_indexes)]
    verticals, slashes = vertical_indexes.tolist(), slash_indexes.tolist()
    for b, (queries, keys) in enumerate(zip(q_seqlens.tolist(), kv_seqlens.tolist(), strict=True)):
        for h in range(places[1]):
            for row in range(-(-queries // block_m)):
                end = keys - queries + (row + 1) * block_m
                ranges = _ranges([max(end - s, block_m) for s in slashes[b][h] if s < end], block_m)
                offsets = [key for start, stop in ranges for key in range(start, min(stop, keys), block_n)]
                for count, entries, found in zip(
                    counts, lists, (offsets, _columns(verticals[b][h], ranges)), strict=True
                ):
                    count[b, h, row] = len(found)
                    entries[b, h, row, : len(found)] = torch.tensor(found, dtype=torch.int32)
    device = q_seqlens.device
    return counts[0].to(device), lists[0].to(device), counts[1].to(device), lists[1].to(device)


def eager(
    q_seqlens: torch.Tensor,
    kv_seqlens: torch.Tensor,
    vertical_indexes: torch.Tensor,
    slash_indexes: torch.Tensor,
    context_size: int,
    block_m: int,
    block_n: int,
    causal: bool = True,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """The same steps on the host: PyTorch has no operator that merges ranges."""
    return reference(q_seqlens, kv_seqlens, vertical_indexes, slash_indexes, context_size, block_m, block_n, causal)


def compare(called: CalledCase) -> tuple[OutputMatch, ...]:
    """Counts, and lists up to their counts."""
    matches: list[OutputMatch] = []
    for place in range(0, 4, 2):
        count, entries = called.expected[place : place + 2]
        is_listed = torch.arange(entries.shape[-1], device=entries.device) < count.unsqueeze(-1)
        wrong = (called.outputs[place + 1] != entries) & is_listed
        matches += [OutputMatch(wrong=called.outputs[place] != count), OutputMatch(wrong=wrong, left_open=~is_listed)]
    return tuple(matches)


def cost(case: Case) -> Cost:
    """No arithmetic is counted; every index is read once, the counts are written."""
    pairs = case.size("batch") * case.size("heads")
    rows = -(-case.size("context") // case.size("m"))
    return Cost(
        flops=0,
        bytes_read=4 * pairs * (case.size("verticals") + case.size("slashes")) + 8 * case.size("batch"),
        bytes_written=8 * pairs * rows,
    )


def _drawn(batch: int, heads: int, count: int, below: int, rng: torch.Generator) -> torch.Tensor:
    """(B, H, count), int32, ascending; distinct if enough numbers exist."""
    drawn = torch.rand((batch, heads, max(below, count)), generator=rng).argsort(-1)[..., :count]
    return (drawn % max(below, 1)).sort(-1).values.int()


def _ranges(ends: list[int], length: int) -> list[tuple[int, int]]:
    """Start and end of each range, from the ends of the diagonals."""
    ranges: list[tuple[int, int]] = []
    for end in ends:
        if not ranges or end > ranges[-1][1] + length:
            ranges.append((end - length, end))
        elif end > ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], ranges[-1][1] + length)
    return ranges


def _columns(verticals: list[int], ranges: list[tuple[int, int]]) -> list[int]:
    """Columns that are in no range and below the end of the last range."""
    return [
        column
        for column in verticals
        if column < ranges[-1][1] and not any(start <= column < end for start, end in ranges)
    ]


PROBLEM = ProblemDefinition(
    name="vllm::convert_vertical_slash_indexes",
    entry="convert_vertical_slash_indexes",
    signature=(
        "convert_vertical_slash_indexes(q_seqlens: Tensor, kv_seqlens: Tensor, vertical_indexes: Tensor, "
        "slash_indexes: Tensor, context_size: int, block_size_M: int, block_size_N: int, "
        "causal: bool = True) -> tuple[Tensor, Tensor, Tensor, Tensor]"
    ),
    summary="Turn vertical/slash sparse-attention indexes into per-row-block block lists and column lists",
    category=Category.SPARSE_ATTENTION,
    second_oracle="a pattern of four row blocks, worked out by hand",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    determinism=Determinism.EXACT,
    returns=4,
    compare=compare,
    cannot_reject=NO_FLOATS,
)
