"""AWQ weights of experts in Marlin tiles: out[e] = marlin(q[e]) with the unpacked q[e] of b_q_weight[e].

b_q_weight: (E, K, N * bits / 32) packs along N in AWQ's order: the places of a word hold its 8 columns of 4 bits in the
order 0, 2, 4, 6, 1, 3, 5, 7, or its 4 columns of 8 bits in the order 0, 2, 1, 3.  marlin(q) of (K, N) are (K / 16, N *
bits / 2) words: tiles of 16 x 16, in row-major order of tiles; four adjacent tiles of a row are 1024 values in the
order of the 32 lanes of a warp. Lane i has, of each of the four tiles in turn, the rows 2 (i % 4) + 0, 1, 8, 9 of
column i // 4, then those of column i // 4 + 8.  A word holds, of 8 values of 4 bits that follow each other, those at 0,
2, 4, 6, 1, 3, 5, 7; of 4 values of 8 bits those at 0, 2, 1, 3.  perm, int32, is ignored: AWQ keeps the order of the
rows.  size_k = K is a multiple of 16, size_n = N of 64; num_bits is 4 or 8.  is_a_8bit, which selects another layout
for 8-bit activations, is False.  Words are int32, tensors in any strides; the answer is a new contiguous tensor.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Determinism, DType, ProblemDefinition, Tier
from problems.kit import Arguments, Layout, cases_over, torch
from problems.kit.inference.arguments import NO_FLOATS, exact
from problems.kit.inference.marlin import ORDERS, expert_cost, expert_inputs, to_tiles
from problems.kit.inference.packing import unpack

_over = partial(cases_over, dtype=DType.INT32, order="random", layout=Layout.CONTIGUOUS)
_SIZES = "{experts}x{k}x{n} {bits} bit"

CASES = (
    *_over(Tier.SMOKE, _SIZES, experts=2, k=32, n=64, bits=[4, 8]),
    *_over(Tier.FULL, _SIZES, experts=[1, 3], k=[16, 48], n=[64, 128], bits=4),
    *_over(Tier.FULL, _SIZES, experts=[1, 4], k=32, n=192, bits=8),
    *_over(Tier.FULL, f"{_SIZES} {{order}}", experts=2, k=64, n=64, bits=[4, 8], order=["unchanged", "reversed"]),
    *_over(Tier.FULL, f"{_SIZES} {{layout}}", experts=3, k=32, n=64, bits=[4, 8], layout=Layout.IRREGULAR),
    *_over(Tier.BENCH, _SIZES, experts=8, k=2048, n=2048, bits=[4, 8]),
)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """b_q_weight, perm: (E, K), size_k, size_n, num_bits, is_a_8bit."""
    k, n, bits = case.size("k"), case.size("n"), case.size("bits")
    return expert_inputs(case, rng, (k, n * bits // 32))


def reference(
    b_q_weight: torch.Tensor, perm: torch.Tensor, size_k: int, size_n: int, num_bits: int, is_a_8bit: bool
) -> torch.Tensor:
    """(E, K, N * bits / 32) -> (E, K / 16, N * bits / 2), expert by expert."""
    return torch.stack([to_tiles(unpack(words, num_bits, order=ORDERS[num_bits]), num_bits) for words in b_q_weight])


def eager(
    b_q_weight: torch.Tensor, perm: torch.Tensor, size_k: int, size_n: int, num_bits: int, is_a_8bit: bool
) -> torch.Tensor:
    """The same steps; there is no arithmetic that could use another precision."""
    return reference(b_q_weight, perm, size_k, size_n, num_bits, is_a_8bit)


PROBLEM = ProblemDefinition(
    name="vllm::awq_marlin_moe_repack",
    entry="awq_marlin_moe_repack",
    signature=(
        "awq_marlin_moe_repack(b_q_weight: Tensor, perm: Tensor, size_k: int, size_n: int, num_bits: int, "
        "is_a_8bit: bool = False) -> Tensor"
    ),
    summary="Re-order AWQ packed expert weights into Marlin tile order",
    category=Category.WEIGHT_REPACK,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=expert_cost,
    determinism=Determinism.EXACT,
    cannot_reject=NO_FLOATS,
)
