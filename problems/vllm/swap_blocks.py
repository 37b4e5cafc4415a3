"""Blocks copied from one cache to another: dst[block_mapping[p, 1]] = src[block_mapping[p, 0]] for every pair p.

Caches of 16-bit elements in any strides; blocks of any rank.  The mapping is int64, of any strides, in host memory on
every device.  No block of dst is named twice, and blocks that are not named keep their content.  A copy: NaN,
infinities, -0.0 and subnormal values are copied unchanged.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, ProblemDefinition, Tier
from problems.kit import BF16, F16, Arguments, Layout, cases_over, distinct, mixed, scattered, torch
from problems.kit.inference.arguments import arranged, exact

_over = partial(cases_over, target=0, order="random", values="mixed", layout=Layout.CONTIGUOUS)
_SIZES = "{pairs} of {blocks}x{block}"

CASES = (
    *_over(Tier.SMOKE, f"{_SIZES} {{dtype}}", pairs=3, blocks=5, block=(4, 16), dtype=[F16, BF16]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", pairs=[0, 1], blocks=1, block=(16, 8), dtype=F16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{order}}", pairs=8, blocks=8, block=(16, 33), dtype=[F16, BF16],
           order=["unchanged", "reversed"]),
    *_over(Tier.FULL, f"{_SIZES} to {{target}} {{dtype}}", pairs=3, blocks=9, target=4, block=(7, 13), dtype=F16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", pairs=5, blocks=31, block=[(127,), (2, 64), (3, 43), (2, 4, 8, 2)],
           dtype=BF16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{layout}}", pairs=4, blocks=6, block=(3, 11), dtype=[F16, BF16],
           layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{values}}", pairs=4, blocks=6, block=(4, 16), dtype=[F16, BF16],
           values="special"),
    *_over(Tier.BENCH, f"{_SIZES} {{dtype}}", pairs=256, blocks=512, block=(64, 256), dtype=[F16, BF16]),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """src: (blocks, ...), dst: likewise with `target` blocks where that is not 0, block_mapping: (P, 2)."""
    pairs, blocks = case.size("pairs"), case.size("blocks")
    targets = case.size("target") or blocks
    src, dst = (mixed((count, *case.shape("block")), case.dtype, rng) for count in (blocks, targets))
    if case.word("values") == "special":
        src, dst = scattered(src, rng, each=9), scattered(dst, rng, each=9)
    written = distinct(pairs, targets, rng)
    orders = {
        "random": lambda: torch.randint(0, blocks, (pairs,), generator=rng),
        "unchanged": lambda: written,
        "reversed": lambda: blocks - 1 - written,
    }
    return arranged(case, src, dst, torch.stack((orders[case.word("order")](), written), dim=1))


def reference(src: torch.Tensor, dst: torch.Tensor, block_mapping: torch.Tensor) -> torch.Tensor:
    """The final dst, pair by pair."""
    out = dst.clone()
    for source, target in block_mapping.tolist():
        out[target] = src[source]
    return out


def eager(src: torch.Tensor, dst: torch.Tensor, block_mapping: torch.Tensor) -> None:
    """All pairs at once, by index assignment."""
    dst[block_mapping[:, 1]] = src[block_mapping[:, 0]]


def cost(case: Case) -> Cost:
    """No arithmetic; a block that is used several times is read once."""
    pairs, elements = case.size("pairs"), 1
    for size in case.shape("block"):
        elements *= size
    block_bytes = elements * case.dtype.bytes
    read = min(pairs, case.size("blocks"))
    return Cost(flops=0, bytes_read=read * block_bytes + 16 * pairs, bytes_written=pairs * block_bytes)


PROBLEM = ProblemDefinition(
    name="vllm::swap_blocks",
    entry="swap_blocks",
    signature="swap_blocks(src: Tensor, dst: Tensor, block_mapping: Tensor) -> None",
    summary="Copy mapped blocks from src to dst",
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
    on_cpu=("block_mapping",),
)
