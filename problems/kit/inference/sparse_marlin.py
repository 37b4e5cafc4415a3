"""Weights with two of every four neighbours along K, in the layout of the 2:4 sparse Marlin kernel.

The kept values are a (K / 2, N) matrix, in tiles as in the dense layout but in a different order.  The positions of the
two kept values of a quadruple are 2 bits each, the first in the lower ones; four quadruples along K make an int16 of a
matrix with N rows and K / 16 columns.  Its elements are moved as the sparse tensor cores read them (CUTLASS,
reorder_meta): rows by `_meta_row`, then, in every 2 x 2 square, the upper right and lower left one swapped, then all
stored in pairs of columns, one pair after another.
"""

from __future__ import annotations

from problems.kit.deferred import torch
from problems.kit.inference.marlin import TILE

_QUADRUPLE, _PER_META, _NIBBLE = 4, 4, 4


def sparse_order() -> torch.Tensor:
    """(1024,): like `marlin.dense_order`, for the kept values."""
    places = []
    for lane in range(32):
        rows = [2 * (lane % 4) + step for step in (0, 1, 8, 9)]
        column = lane // 4
        first = column // 2 * TILE * TILE + 8 * (column % 2)
        own = [TILE * row + first + 4 * half for half in (0, 1) for row in rows]
        places += [place + step for step in range(4) for place in own]
    return torch.tensor(places)


def sparse_scale_order(groups: int) -> torch.Tensor:
    """Position among 64 scales of a row -> the column of the scale stored there; the same if there is one group."""
    if groups == 1:
        return torch.arange(64)
    return torch.tensor([8 * row + column for row in range(8) for column in (0, 4, 1, 5, 2, 6, 3, 7)])


def to_meta(positions: torch.Tensor) -> torch.Tensor:
    """(K / 4, 2, N) positions from 0 to 3, ascending -> (K / 32, 2 N) int16 in the layout that the kernel reads."""
    quadruples, _, columns = positions.shape
    nibbles = positions[:, 0] | positions[:, 1] << 2
    shifts = _NIBBLE * torch.arange(_PER_META, device=positions.device)
    elements = (nibbles.reshape(-1, _PER_META, columns) << shifts[None, :, None]).sum(1).T
    moved = torch.empty(elements.numel(), dtype=torch.int64, device=positions.device)
    moved[_meta_places(columns, quadruples // _PER_META).to(positions.device)] = elements.flatten()
    signed = torch.where(moved >= 2**15, moved - 2**16, moved).to(torch.int16)
    return signed.reshape(quadruples // 8, 2 * columns)


def from_meta(meta: torch.Tensor) -> torch.Tensor:
    """The positions, int64, from the result of `to_meta`."""
    columns = meta.shape[1] // 2
    per_column = 2 * len(meta)
    elements = meta.flatten().long()[_meta_places(columns, per_column).to(meta.device)].reshape(columns, per_column)
    shifts = _NIBBLE * torch.arange(_PER_META, device=meta.device)
    nibbles = (elements.unsqueeze(-1) >> shifts & 0xF).flatten(1).T
    return torch.stack((nibbles & 3, nibbles >> 2 & 3), dim=1)


def spread(kept: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """(K / 2, N) kept values and (K / 4, 2, N) positions -> (K, N) with zeros in the other places."""
    pairs = kept.reshape(positions.shape)
    dense = torch.zeros(len(positions), _QUADRUPLE, kept.shape[1], dtype=kept.dtype, device=kept.device)
    return dense.scatter_(1, positions, pairs).flatten(0, 1)


def _meta_places(rows: int, columns: int) -> torch.Tensor:
    """(rows * columns,): the flat position of each element of the matrix of positions, in row-major order."""
    row, column = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
    row = _meta_row(row)
    to_left = ((row % 2 == 0) & (column % 2 == 1)).long()
    to_right = ((row % 2 == 1) & (column % 2 == 0)).long()
    row, column = row + to_left - to_right, column - to_left + to_right
    return (column // 2 * 2 * rows + row * 2 + column % 2).flatten()


def _meta_row(row: torch.Tensor) -> torch.Tensor:
    """Among 64 rows: bit 0 to bit 1, bit 1 to bit 5, bit 2 to bit 0, and the bits 3 to 5 to the bits 2 to 4."""
    bits = [row >> bit & 1 for bit in range(6)]
    return row // 64 * 64 + bits[0] * 2 + bits[1] * 32 + bits[2] + bits[3] * 4 + bits[4] * 8 + bits[5] * 16
