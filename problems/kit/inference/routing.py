"""Pairs of tokens and experts, sorted by expert and padded to whole blocks, and the comparison of such lists."""

from __future__ import annotations

from collections.abc import Sequence

from problems.kit.deferred import torch


def aligned(chosen: torch.Tensor, experts: int, block_size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Indices of pairs, by expert and ascending, padded with the number of pairs; and the expert of each block.

    `chosen` is the expert of each pair; pairs of an expert outside of 0 to `experts` - 1 are left out.  Both int64.
    """
    pairs = chosen.flatten().long()
    listed, owners = [], []
    for expert in range(experts):
        own = (pairs == expert).nonzero().flatten()
        padding = -len(own) % block_size
        listed += [own, torch.full((padding,), len(pairs), device=pairs.device)]
        owners += [expert] * ((len(own) + padding) // block_size)
    nothing = torch.zeros(0, dtype=torch.int64, device=pairs.device)
    return torch.cat((nothing, *listed)), torch.tensor(owners, dtype=torch.int64, device=pairs.device)


def block_bounds(owners: torch.Tensor, block_size: int) -> list[tuple[int, int]]:
    """Start and end of the entries of each expert; `owners` is the expert of every block."""
    counts = torch.unique_consecutive(owners, return_counts=True)[1].tolist()
    ends = [block_size * sum(counts[: number + 1]) for number in range(len(counts))]
    return list(zip([0, *ends], ends, strict=False))


def out_of_place(got: torch.Tensor, expected: torch.Tensor, bounds: Sequence[tuple[int, int]]) -> torch.Tensor:
    """Mask in the shape of `expected`: true for wrong entries; the order within each of `bounds` is free.

    Within bounds the sorted entries are compared; entries outside of all bounds are ignored.
    """
    wrong = torch.zeros(expected.shape, dtype=torch.bool, device=expected.device)
    for start, end in bounds:
        wrong[start:end] = got[start:end].sort().values != expected[start:end].sort().values
    return wrong
