"""Chunks of one size: y[k][..., i, ...] = self[..., k * split_size + i, ...] along one dimension.

Any rank from 1, any strides, any dtype; dim may be negative.  Returns a list of tensors, which may share memory with
self.  The last chunk is smaller where the size is not a multiple of split_size; a dimension without elements gives one
chunk.  Overloads: .Tensor is tested; .Tensor_out computes the same.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, Determinism, ProblemDefinition, Tier
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, torch
from problems.kit.movement import EVERY_DTYPE, case_values, count, exact
from problems.kit.views import LAYOUTS, VIEW, over, parts, written_out

_NAME = "{shape} {split} dim {dim} {dtype}"

CASES = (
    *over(Tier.SMOKE, _NAME, shape=(9, 33), split=4, dim=0, dtype=[F32, BF16]),
    *over(Tier.SMOKE, _NAME, shape=(4, 9, 6), split=2, dim=-1, dtype=F32),
    *over(Tier.FULL, _NAME, shape=(1,), split=[1, 5], dim=0, dtype=F32),
    *over(Tier.FULL, _NAME, shape=(0, 5), split=2, dim=[0, 1], dtype=F32),
    *over(Tier.FULL, _NAME, shape=(257,), split=[31, 128, 129, 256, 257, 1000], dim=0, dtype=F32),
    *over(Tier.FULL, _NAME, shape=(70, 129), split=50, dim=1, dtype=F32),
    *over(Tier.FULL, _NAME, shape=(3, 40), split=1, dim=1, dtype=F32),
    *over(Tier.FULL, _NAME, shape=(3, 4, 5, 2, 7), split=2, dim=[0, 2, -1], dtype=F32),
    *over(Tier.FULL, _NAME, shape=(9, 40), split=11, dim=1, dtype=EVERY_DTYPE),
    *over(Tier.FULL, f"{_NAME} {{layout}}", shape=(13, 65), split=6, dim=[0, 1], dtype=F32, layout=LAYOUTS),
    *over(Tier.FULL, f"{_NAME} {{layout}}", shape=(3, 7, 5, 3), split=3, dim=1, dtype=F16, layout=Layout.IRREGULAR),
    *over(Tier.FULL, f"{_NAME} {{values}}", shape=(7, 33), split=20, dim=1, dtype=FLOATS, values="special"),
    *over(Tier.BENCH, _NAME, shape=(4096, 4096), split=1024, dim=[0, 1], dtype=BF16),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, split_size, dim."""
    return case_values(case, rng), case.size("split"), case.size("dim")


def reference(x: torch.Tensor, split_size: int, dim: int = 0) -> tuple[torch.Tensor, ...]:
    """The parts, by coordinates."""
    size = x.shape[dim]
    lengths = [min(split_size, size - start) for start in range(0, size, split_size)] if size else [0]
    return parts(x, lengths, dim)


def eager(x: torch.Tensor, split_size: int, dim: int = 0) -> list[torch.Tensor]:
    """PyTorch's operator."""
    return list(torch.unsafe_split(x, split_size, dim))


def cost(case: Case) -> Cost:
    """Cost of copying all elements."""
    elements = count(case.shape("shape"))
    return written_out(case, read=elements, written=elements)


PROBLEM = ProblemDefinition(
    name="aten::unsafe_split",
    entry="unsafe_split",
    signature="unsafe_split(self: Tensor, split_size: int, dim: int = 0) -> list[Tensor]",
    summary="Split into chunks of a given size along a dim",
    category=Category.VIEW,
    second_oracle="PyTorch's unsafe_split, in every smoke and full case",
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
