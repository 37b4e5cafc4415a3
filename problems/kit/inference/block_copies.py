"""Copies of whole blocks within caches, given as pairs of a source and a target."""

from __future__ import annotations

import math

from engine.model import Case, Cost
from problems.kit.deferred import torch
from problems.kit.layouts import laid_out
from problems.kit.values import distinct, mixed, scattered


def drawn_caches(case: Case, rng: torch.Generator) -> list[torch.Tensor]:
    """One cache of (blocks, ...) for each layer of the case; "special" ones hold NaN, infinities and extremes."""
    shape = (case.size("blocks"), *case.shape("block"))
    caches = [mixed(shape, case.dtype, rng) for _ in range(case.size("layers"))]
    if case.word("values") == "special":
        caches = [scattered(cache, rng, each=9) for cache in caches]
    return [laid_out(cache, case.word("layout")) for cache in caches]


def drawn_pairs(case: Case, rng: torch.Generator) -> torch.Tensor:
    """(P, 2), int64: distinct targets, and sources that are not targets."""
    pairs, blocks = case.size("pairs"), case.size("blocks")
    order = distinct(blocks, blocks, rng)
    others = order[pairs:]
    sources = others[torch.randint(0, len(others), (pairs,), generator=rng)]
    return torch.stack((sources, order[:pairs]), dim=1)


def copied(cache: torch.Tensor, block_mapping: torch.Tensor) -> torch.Tensor:
    """The cache after all copies, pair by pair."""
    out = cache.clone()
    for source, target in block_mapping.tolist():
        out[target] = cache[source]
    return out


def copy_eagerly(cache: torch.Tensor, block_mapping: torch.Tensor) -> None:
    """All pairs at once, in place."""
    cache[block_mapping[:, 1]] = cache[block_mapping[:, 0]]


def copy_cost(case: Case, *, caches: int) -> Cost:
    """Each target is written once; distinct sources, at most the blocks that are not targets, are read once."""
    pairs, blocks = case.size("pairs"), case.size("blocks")
    block_bytes = math.prod(case.shape("block")) * case.dtype.bytes
    read = min(pairs, blocks - pairs)
    return Cost(
        flops=0, bytes_read=caches * read * block_bytes + 16 * pairs, bytes_written=caches * pairs * block_bytes
    )
