"""The weight layouts of the Marlin kernels as permutations of (K, N) integer matrices.

Weights are cut into tiles of 16 x 16, in row-major order of tiles. Four adjacent tiles of a row form a group of 1024
values, in the order in which the 32 lanes of a warp hold the operand of a tensor core (mma.m16n8k16): lane i holds
column i // 4 of each half of a tile, and the rows 2 (i % 4) + 0, 1, 8, 9.  Eight values of 4 bits, or four of 8 bits,
form a word with the even ones before the odd ones (Frantar et al., MARLIN, 2024; vLLM, csrc/quantization).
"""

from __future__ import annotations

from engine.model import Case, Cost
from problems.kit.cases import Arguments
from problems.kit.deferred import torch
from problems.kit.inference.arguments import arranged
from problems.kit.inference.packing import EVEN_BEFORE_ODD, drawn_words, pack, unpack

TILE = 16
_GROUP = 4 * TILE * TILE
ORDERS = {4: EVEN_BEFORE_ODD, 8: (0, 2, 1, 3)}
"""For each number of bits, the values at the positions of a word; AWQ uses the same order."""
_SINGLE_SCALE_ORDER = tuple(2 * row + column for row in range(4) for column in (0, 1, 8, 9, 16, 17, 24, 25))
_GROUP_SCALE_ORDER = tuple(row + 8 * column for row in range(8) for column in range(8))


def dense_order() -> torch.Tensor:
    """(1024,): position in a group of 4 tiles, counted tile by tile and row by row -> index of the stored value."""
    places = []
    for lane in range(32):
        rows = [2 * (lane % 4) + step for step in (0, 1, 8, 9)]
        own = [TILE * row + lane // 4 + 8 * half for half in (0, 1) for row in rows]
        places += [place + TILE * TILE * tile for tile in range(4) for place in own]
    return torch.tensor(places)


def to_tiles(values: torch.Tensor, bits: int, order: torch.Tensor | None = None) -> torch.Tensor:
    """(K, N) integers -> (K / 16, N * bits / 2) int32 words; K in multiples of 16, N of 64."""
    order = dense_order() if order is None else order
    rows, columns = values.shape
    tiles = values.reshape(rows // TILE, TILE, columns // TILE, TILE).transpose(1, 2)
    groups = tiles.reshape(rows // TILE, -1, _GROUP)[..., order.to(values.device)]
    return pack(groups.flatten(1), bits, order=ORDERS[bits])


def from_tiles(words: torch.Tensor, bits: int, columns: int, order: torch.Tensor | None = None) -> torch.Tensor:
    """(K, N) integers, int64, from the words of `to_tiles`."""
    order = dense_order() if order is None else order
    groups = unpack(words, bits, order=ORDERS[bits]).reshape(len(words), -1, _GROUP)
    tiles = groups[..., order.argsort().to(words.device)].reshape(len(words), columns // TILE, TILE, TILE)
    return tiles.transpose(1, 2).reshape(-1, columns)


def scale_order(groups: int) -> torch.Tensor:
    """Position among 64 scales of a row, or 32 if there is only one group -> the column of the scale stored there."""
    return torch.tensor(_SINGLE_SCALE_ORDER if groups == 1 else _GROUP_SCALE_ORDER)


def permuted_scales(scales: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    """(groups, N) -> (groups, N) in the order that the kernels read."""
    return scales.reshape(len(scales), -1, len(order))[..., order].reshape(scales.shape)


def restored_scales(scales: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    """The inverse of `permuted_scales`."""
    return permuted_scales(scales, order.argsort().to(scales.device))


def expert_inputs(case: Case, rng: torch.Generator, packed: tuple[int, int]) -> Arguments:
    """b_q_weight: (E, *packed), perm: (E, K) or (E, 0), size_k, size_n, num_bits, is_a_8bit."""
    experts, k = case.size("experts"), case.size("k")
    rows = torch.arange(k).expand(experts, k)
    orders = {
        "random": torch.stack([torch.randperm(k, generator=rng) for _ in range(experts)]),
        "reversed": rows.flip(1),
        "unchanged": rows.contiguous(),
        "no order": rows[:, :0].contiguous(),
    }
    words = drawn_words((experts, *packed), rng)
    arguments = arranged(case, words, orders[case.word("order")].int())
    return *arguments, k, case.size("n"), case.size("bits"), False


def expert_cost(case: Case) -> Cost:
    """No arithmetic is counted; every word is read and written once."""
    moved_bytes = case.size("experts") * case.size("k") * case.size("n") * case.size("bits") // 8
    return Cost(flops=0, bytes_read=moved_bytes, bytes_written=moved_bytes)
