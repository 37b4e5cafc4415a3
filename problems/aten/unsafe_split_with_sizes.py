"""Chunks of given sizes: y[k][..., i, ...] = self[..., o_k + i, ...] where o_k = the sum of the sizes before k.

Any rank from 1, any strides, any dtype; dim may be negative.  Returns a list of tensors, which may share memory with
self. The sizes add up to the dimension and may be 0.  Overloads: unsafe_split_with_sizes is tested; .out computes the
same.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, Determinism, ProblemDefinition, Tier
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, torch
from problems.kit.movement import EVERY_DTYPE, case_values, count, exact
from problems.kit.views import LAYOUTS, VIEW, over, parts, written_out

_NAME = "{shape} {split} dim {dim} {dtype}"

CASES = (
    *over(Tier.SMOKE, _NAME, shape=(9, 33), split=(4, 5), dim=0, dtype=[F32, BF16]),
    *over(Tier.SMOKE, _NAME, shape=(4, 9, 6), split=(1, 3, 2), dim=-1, dtype=F32),
    *over(Tier.FULL, _NAME, shape=(1,), split=[(1,), (0, 1), (1, 0)], dim=0, dtype=F32),
    *over(Tier.FULL, _NAME, shape=(0, 5), split=[(0,), (0, 0)], dim=0, dtype=F32),
    *over(Tier.FULL, _NAME, shape=(257,), split=[(257,), (128, 129), (127, 1, 129), (256, 0, 1)], dim=0, dtype=F32),
    *over(Tier.FULL, _NAME, shape=(70, 129), split=(100, 29), dim=1, dtype=F32),
    *over(Tier.FULL, _NAME, shape=(3, 40), split=(1,) * 40, dim=1, dtype=F32),
    *over(Tier.FULL, _NAME, shape=(3, 4, 5, 2, 5), split=(2, 3), dim=[2, -1], dtype=F32),
    *over(Tier.FULL, _NAME, shape=(9, 40), split=(11, 29), dim=1, dtype=EVERY_DTYPE),
    *over(Tier.FULL, f"{_NAME} {{layout}}", shape=(13, 13), split=(6, 7), dim=[0, 1], dtype=F32, layout=LAYOUTS),
    *over(Tier.FULL, f"{_NAME} {{layout}}", shape=(3, 7, 5, 3), split=(3, 4), dim=1, dtype=F16,
          layout=Layout.IRREGULAR),
    *over(Tier.FULL, f"{_NAME} {{values}}", shape=(7, 33), split=(20, 13), dim=1, dtype=FLOATS, values="special"),
    *over(Tier.BENCH, _NAME, shape=(4096, 4096), split=(1000, 2000, 1096), dim=[0, 1], dtype=BF16),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, split_sizes, dim."""
    return case_values(case, rng), list(case.shape("split")), case.size("dim")


def reference(x: torch.Tensor, split_sizes: list[int], dim: int = 0) -> tuple[torch.Tensor, ...]:
    """The parts, by coordinates."""
    return parts(x, split_sizes, dim)


def eager(x: torch.Tensor, split_sizes: list[int], dim: int = 0) -> list[torch.Tensor]:
    """PyTorch's operator."""
    return list(torch.unsafe_split_with_sizes(x, split_sizes, dim))


def cost(case: Case) -> Cost:
    """Cost of copying all elements."""
    elements = count(case.shape("shape"))
    return written_out(case, read=elements, written=elements)


PROBLEM = ProblemDefinition(
    name="aten::unsafe_split_with_sizes",
    entry="unsafe_split_with_sizes",
    signature="unsafe_split_with_sizes(self: Tensor, split_sizes: list[int], dim: int = 0) -> list[Tensor]",
    summary="Split into chunks of given sizes along a dim",
    category=Category.VIEW,
    second_oracle="PyTorch's unsafe_split_with_sizes, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    returns=None,
    framework=VIEW,
    determinism=Determinism.EXACT,
    cannot_reject={"unchanged_input": "where there is one chunk self is the answer"},
)
