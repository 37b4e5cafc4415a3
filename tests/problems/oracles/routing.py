"""Routing of tokens to experts, in lists of Python numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def topk_softmax(weights: Array, ids: Array, pairs: Array, gating: Array, renormalize: bool) -> list[Array]:
    for token, row in enumerate(gating.tolist()):
        total = math.fsum(math.exp(value - max(row)) for value in row)
        shares = [math.exp(value - max(row)) / total for value in row]
        best = sorted(range(len(row)), key=lambda expert: (-row[expert], expert))[: weights.shape[1]]
        held = math.fsum(shares[expert] for expert in best) if renormalize else 1.0
        for rank, expert in enumerate(best):
            weights[token, rank], ids[token, rank] = shares[expert] / held, expert
            pairs[token, rank] = rank * len(gating) + token
    return [weights, ids, pairs]


def grouped_topk(
    scores: Array, groups: int, chosen: int, topk: int, renormalize: bool, factor: float, bias: Array, function: int
) -> tuple[list[list[float]], list[list[int]]]:
    weights, ids = [], []
    for row in scores.tolist():
        own = [1 / (1 + math.exp(-score)) for score in row] if function == 1 else row
        ranked = [score + float(extra) for score, extra in zip(own, bias, strict=True)]
        size = len(row) // groups
        worth = [sum(sorted(ranked[g * size : (g + 1) * size])[-2:]) for g in range(groups)]
        best = sorted(range(groups), key=lambda group: (-worth[group], group))[:chosen]
        experts = sorted((e for e in range(len(row)) if e // size in best), key=lambda e: (-ranked[e], e))[:topk]
        held = math.fsum(own[expert] for expert in experts) if renormalize else 1.0
        weights.append([own[expert] / held * factor for expert in experts])
        ids.append(experts)
    return weights, ids


def blocks_of(own: list[list[int]], block: int, padding: int) -> tuple[list[int], list[int]]:
    """The entries of each expert padded to whole blocks, and the expert of each block."""
    entries: list[int] = []
    experts: list[int] = []
    for expert, pairs in enumerate(own):
        count = -(-len(pairs) // block)
        entries += pairs + [padding] * (count * block - len(pairs))
        experts += [expert] * count
    return entries, experts


def owned(chosen: Array, count: int, mapping: Array | None) -> list[list[int]]:
    """The pairs of each expert."""
    own: list[list[int]] = [[] for _ in range(count)]
    for pair, expert in enumerate(chosen.flat):
        place = int(expert) if mapping is None or expert < 0 else int(mapping[expert])
        if place >= 0:
            own[place].append(pair)
    return own


def moe_align_block_size(
    chosen: Array, count: int, block: int, listed: Array, experts: Array, total: Array, mapping: Array | None = None
) -> tuple[Array, Array, Array]:
    entries, owners = blocks_of(owned(chosen, count, mapping), block, chosen.size)
    listed[: len(entries)], experts[: len(owners)], total[0] = entries, owners, len(entries)
    return listed, experts, total


def batched_moe_align_block_size(
    most: int, block: int, counts: Array, listed: Array, experts: Array, total: Array
) -> tuple[Array, Array, Array]:
    slots = [[expert * most + i for i in range(held)] for expert, held in enumerate(counts)]
    entries, owners = blocks_of(slots, block, len(counts) * most)
    listed[:], experts[:], total[0] = len(counts) * most, -1, len(entries)
    listed[: len(entries)], experts[: len(owners)] = entries, owners
    return listed, experts, total


def moe_lora_align_block_size(*arguments: Any) -> tuple[Array, Array, Array]:
    chosen, adapters, count, block, _, row, block_row, listed, experts, totals, enabled, used = arguments[:12]
    for adapter in used:
        if adapter < 0 or not enabled[adapter]:
            continue
        own = np.where((adapters == adapter)[:, None], chosen, -1)
        entries, owners = blocks_of(owned(own, count, arguments[12]), block, chosen.size)
        listed[adapter * row : adapter * row + len(entries)] = entries
        experts[adapter * block_row : adapter * block_row + len(owners)] = owners
        totals[adapter] = len(entries)
    return listed, experts, totals


ORACLES = {
    "topk_softmax": topk_softmax,
    "grouped_topk": grouped_topk,
    "moe_align_block_size": moe_align_block_size,
    "batched_moe_align_block_size": batched_moe_align_block_size,
    "moe_lora_align_block_size": moe_lora_align_block_size,
}
