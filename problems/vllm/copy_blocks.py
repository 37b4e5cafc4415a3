"""Blocks copied inside of every cache: cache[block_mapping[p, 1]] = cache[block_mapping[p, 0]] for each pair p.

key_caches and value_caches are lists of as many tensors, one for each layer; all have (blocks, ...) elements of one
16-bit or 8-bit dtype, in any strides.  The mapping is int64, of any strides.  No block is a target twice, and no target
is a source, so that the order of the pairs does not matter; blocks that are not targets keep their content.  A copy:
NaN, infinities, -0.0 and subnormal values are copied unchanged.
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
    *_over(Tier.SMOKE, _SIZES, blocks=7, block=(2, 4, 8), pairs=3, dtype=[F16, BF16]),
    *_over(Tier.SMOKE, _SIZES, layers=2, blocks=5, block=(3, 16), pairs=2, dtype=F16),
    *_over(Tier.FULL, _SIZES, blocks=2, block=(16,), pairs=[0, 1], dtype=F16),
    *_over(Tier.FULL, _SIZES, layers=[1, 3], blocks=9, block=[(127,), (2, 64), (3, 43), (2, 4, 8, 2)], pairs=4,
           dtype=BF16),
    *_over(Tier.FULL, _SIZES, blocks=3, block=(8, 65, 4), pairs=1, dtype=F16),
    *_over(Tier.FULL, _SIZES, layers=2, blocks=16, block=(4, 33), pairs=8, dtype=[F16, BF16]),
    *_over(Tier.FULL, f"{_SIZES} {{layout}}", layers=2, blocks=6, block=(3, 11), pairs=3, dtype=[F16, BF16],
           layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", layers=2, blocks=6, block=(4, 16), pairs=3, dtype=[F16, BF16],
           values="special"),
    *_over(Tier.BENCH, _SIZES, layers=[1, 16], blocks=128, block=(8, 128, 16), pairs=32, dtype=F16),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """key_caches, value_caches: lists of (blocks, ...), block_mapping: (P, 2)."""
    keys, values = drawn_caches(case, rng), drawn_caches(case, rng)
    return [*keys], [*values], *arranged(case, drawn_pairs(case, rng))


def reference(
    key_caches: list[torch.Tensor], value_caches: list[torch.Tensor], block_mapping: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    """The final caches, those of the keys first."""
    return tuple(copied(cache, block_mapping) for cache in (*key_caches, *value_caches))


def eager(key_caches: list[torch.Tensor], value_caches: list[torch.Tensor], block_mapping: torch.Tensor) -> None:
    """All pairs of a cache at once, by index assignment."""
    for cache in (*key_caches, *value_caches):
        copy_eagerly(cache, block_mapping)


def cost(case: Case) -> Cost:
    """No arithmetic; a source that is used several times is read once."""
    return copy_cost(case, caches=2 * case.size("layers"))


PROBLEM = ProblemDefinition(
    name="vllm::copy_blocks",
    entry="copy_blocks",
    signature="copy_blocks(key_caches: list[Tensor], value_caches: list[Tensor], block_mapping: Tensor) -> None",
    summary="Copy whole KV blocks src->dst in every layer cache",
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
    mutates=("key_caches", "value_caches"),
)
