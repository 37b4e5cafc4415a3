"""Blocks copied inside of every latent cache: cache[block_mapping[p, 1]] = cache[block_mapping[p, 0]] for each pair p.

kv_caches is a list of tensors, one for each layer: (blocks, B, E) elements of one 16-bit dtype, in any strides.  The
mapping is int64, of any strides.  No block is a target twice, and no target is a source, so that the order of the pairs
does not matter; blocks that are not targets keep their content.  A copy: NaN, infinities, -0.0 and subnormal values are
copied unchanged.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, ProblemDefinition, Tier
from problems.kit import BF16, F16, Arguments, Layout, cases_over, torch
from problems.kit.inference.arguments import arranged, exact
from problems.kit.inference.block_copies import copied, copy_cost, copy_eagerly, drawn_caches, drawn_pairs

_over = partial(cases_over, layers=1, values="mixed", layout=Layout.CONTIGUOUS)
_SIZES = "{layers} layers of {blocks}x{block} {pairs} pairs {dtype}"

CASES = (
    *_over(Tier.SMOKE, _SIZES, blocks=7, block=(4, 40), pairs=3, dtype=[F16, BF16]),
    *_over(Tier.SMOKE, _SIZES, layers=2, blocks=5, block=(2, 33), pairs=2, dtype=F16),
    *_over(Tier.FULL, _SIZES, blocks=2, block=(16, 8), pairs=[0, 1], dtype=F16),
    *_over(Tier.FULL, _SIZES, blocks=6, block=(16, 576), pairs=2, dtype=[F16, BF16]),
    *_over(Tier.FULL, _SIZES, layers=[1, 3], blocks=9, block=[(1, 127), (2, 64), (3, 43)], pairs=4, dtype=BF16),
    *_over(Tier.FULL, f"{_SIZES} {{layout}}", layers=2, blocks=6, block=(3, 11), pairs=3, dtype=[F16, BF16],
           layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", layers=2, blocks=6, block=(4, 16), pairs=3, dtype=[F16, BF16],
           values="special"),
    *_over(Tier.BENCH, _SIZES, layers=[1, 16], blocks=128, block=(64, 576), pairs=32, dtype=F16),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """kv_caches: list of (blocks, B, E), block_mapping: (P, 2)."""
    return [*drawn_caches(case, rng)], *arranged(case, drawn_pairs(case, rng))


def reference(kv_caches: list[torch.Tensor], block_mapping: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The final caches."""
    return tuple(copied(cache, block_mapping) for cache in kv_caches)


def eager(kv_caches: list[torch.Tensor], block_mapping: torch.Tensor) -> None:
    """All pairs of a cache at once, by index assignment."""
    for cache in kv_caches:
        copy_eagerly(cache, block_mapping)


def cost(case: Case) -> Cost:
    """No arithmetic; a source that is used several times is read once."""
    return copy_cost(case, caches=case.size("layers"))


PROBLEM = ProblemDefinition(
    name="vllm::copy_blocks_mla",
    entry="copy_blocks_mla",
    signature="copy_blocks_mla(kv_caches: list[Tensor], block_mapping: Tensor) -> None",
    summary="As copy_blocks for the single MLA cache of a layer",
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
    mutates=("kv_caches",),
)
