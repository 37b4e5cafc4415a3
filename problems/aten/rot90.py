"""Rotation by k quarter turns from dims[0] towards dims[1]: y[i, j] = self[j, W - 1 - i] for k = 1 on a matrix.

Any rank from 2, any strides, any dtype.  k is taken modulo 4 and may be negative; dims may be negative and in any
order, and their order decides the direction.  A copy: NaN and infinities are copied unchanged.  Overloads: rot90 is
tested; .out computes the same.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, ProblemDefinition, Tier
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, cases_over, torch
from problems.kit.indexing.positions import positions
from problems.kit.movement import EVERY_DTYPE, case_values, copied, count, exact

_over = partial(cases_over, layout=Layout.CONTIGUOUS, values="mixed", dims=(0, 1))
_NAME = "{shape} k {k} dims {dims} {dtype}"

CASES = (
    *_over(Tier.SMOKE, _NAME, shape=(9, 65), k=1, dtype=[F32, BF16]),
    *_over(Tier.SMOKE, _NAME, shape=(4, 9, 5), k=-1, dims=(2, 0), dtype=F32),
    *_over(Tier.FULL, _NAME, shape=[(1, 1), (0, 5)], k=1, dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(2, 3), k=[0, 1, 2, 3, 4, -1, -2, -3, 7, -6], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(31, 257), k=[0, 1, 2, 3], dtype=FLOATS),
    *_over(Tier.FULL, _NAME, shape=[(127, 33), (128, 32), (129, 31), (4099, 2)], k=1, dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(4, 5, 6), k=[1, 2, 3], dims=[(0, 2), (2, 1), (-1, -3)], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(3, 2, 4, 5, 2), k=1, dims=[(0, 4), (3, 1)], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(9, 40), k=3, dtype=EVERY_DTYPE),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(33, 65), k=[1, 2], dtype=F32,
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(3, 7, 2, 3), k=1, dims=(1, 3), dtype=F16,
           layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_NAME} {{values}}", shape=(7, 33), k=1, dtype=FLOATS, values="special"),
    *_over(Tier.BENCH, _NAME, shape=(4096, 4096), k=[1, 2], dtype=BF16),
    *_over(Tier.BENCH, _NAME, shape=(64, 512, 512), k=1, dims=(1, 2), dtype=F32),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, k, dims."""
    return case_values(case, rng), case.size("k"), list(case.shape("dims"))


def reference(x: torch.Tensor, k: int = 1, dims: list[int] | None = None) -> torch.Tensor:
    """The shape with two sizes swapped for odd k; coordinates are rotated one quarter turn at a time."""
    first, second = (dim % x.dim() for dim in dims or (0, 1))
    grid = list(torch.meshgrid(*(torch.arange(size, device=x.device) for size in _turned(x, k, first, second)),
                               indexing="ij"))  # fmt: skip
    for turn in range(k % 4):
        # The size of the second dimension before this turn, in the order from the result back to self.
        width = x.shape[second] if (k % 4 - 1 - turn) % 2 == 0 else x.shape[first]
        grid[first], grid[second] = grid[second], width - 1 - grid[first]
    return torch.take(x.contiguous(), positions(x.shape, grid))


def _turned(x: torch.Tensor, k: int, first: int, second: int) -> list[int]:
    sizes = list(x.shape)
    if k % 2:
        sizes[first], sizes[second] = sizes[second], sizes[first]
    return sizes


def eager(x: torch.Tensor, k: int = 1, dims: list[int] | None = None) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.rot90(x, k, dims or [0, 1])


def cost(case: Case) -> Cost:
    """Every element is read and written once."""
    elements = count(case.shape("shape"))
    return copied(case, read=elements, written=elements)


PROBLEM = ProblemDefinition(
    name="aten::rot90",
    entry="rot90",
    signature="rot90(self: Tensor, k: int = 1, dims: list[int] = [0, 1]) -> Tensor",
    summary="Rotate by k * 90 degrees in a plane of two dims",
    category=Category.PERMUTE,
    second_oracle="PyTorch's rot90, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    determinism=Determinism.EXACT,
)
