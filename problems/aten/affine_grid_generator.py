"""Sampling grid: y[n, i, j] = theta[n] @ (x_j, y_i, 1), and y[n, k, i, j] = theta[n] @ (x_j, y_i, z_k, 1) in 3-D.

theta is (N, 2, 3) with size [N, C, H, W], or (N, 3, 4) with size [N, C, D, H, W]; the grid is (N, H, W, 2) or
(N, D, H, W, 3).  The S coordinates of an axis go evenly from -1 to 1 with align_corners, a single one being 0, and
are (2 i + 1) / S - 1 without.  Coordinates may be rounded to the dtype before the products.  Any
strides.  NaN and infinities follow IEEE arithmetic; rows of theta with both are outside of the contract.
Overloads: affine_grid_generator is tested; .out computes the same.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, cancelling, cases_over, laid_out, mixed, torch
from problems.kit.movement import copied, count

_over = partial(cases_over, layout=Layout.CONTIGUOUS, values="mixed", align=[False, True])
_NAME = "{sizes} align {align} {dtype}"

CASES = (
    *_over(Tier.SMOKE, _NAME, sizes=(2, 3, 5, 9), align=True, dtype=F32),
    *_over(Tier.SMOKE, _NAME, sizes=(1, 2, 4, 6), align=False, dtype=BF16),
    *_over(Tier.SMOKE, _NAME, sizes=(2, 1, 3, 4, 5), align=False, dtype=F32),
    *_over(Tier.FULL, _NAME, sizes=[(1, 1, 1, 1), (1, 3, 1, 7), (2, 3, 7, 1), (1, 1, 1, 1, 1)], dtype=F32),
    *_over(Tier.FULL, _NAME, sizes=(0, 3, 4, 5), dtype=F32),
    *_over(Tier.FULL, _NAME, sizes=[(1, 3, 4, 4), (3, 1, 31, 17)], dtype=FLOATS),
    *_over(Tier.FULL, _NAME, sizes=[(1, 1, 3, 127), (1, 1, 3, 128), (1, 1, 129, 3), (1, 1, 1, 2052)], dtype=F32),
    *_over(Tier.FULL, _NAME, sizes=[(1, 2, 4, 4, 4), (2, 1, 3, 7, 5)], dtype=FLOATS),
    *_over(Tier.FULL, _NAME, sizes=(2, 1, 5, 6), dtype=DType.FLOAT64),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", sizes=(4, 3, 5, 9), dtype=F32,
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", sizes=[(4, 3, 5, 9), (3, 1, 4, 3, 2)], dtype=F16,
           layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_NAME} {{values}}", sizes=(4, 3, 6, 8), dtype=FLOATS, values="special"),
    *_over(Tier.BENCH, _NAME, sizes=(4, 3, 1024, 1024), align=False, dtype=[F32, BF16]),
    *_over(Tier.BENCH, _NAME, sizes=(2, 1, 64, 128, 128), align=True, dtype=F32),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """theta: (N, dims, dims + 1), size, align_corners.

    "special" has one infinity or NaN in the last column of some matrices, where no coordinate can cancel it.
    """
    sizes = case.shape("sizes")
    dims = len(sizes) - 2
    theta = mixed((sizes[0], dims, dims + 1), case.dtype, rng)
    if case.word("values") == "special":
        theta[0, 0, -1], theta[1, 1, -1], theta[2, 0, -1] = float("nan"), float("inf"), float("-inf")
    return laid_out(theta, case.word("layout")), list(sizes), case.claim("align")


def reference(theta: torch.Tensor, size: list[int], align_corners: bool) -> torch.Tensor:
    """(N, ..., dims), in float64."""
    axes = [_coordinates(length, align_corners, theta.device) for length in size[2:]]
    grid = torch.meshgrid(*axes, indexing="ij")
    wide = theta.double()
    total = wide[:, :, -1].view(-1, *(1 for _ in axes), len(axes))
    for number, coordinate in enumerate(reversed(grid)):
        total = total + coordinate[None, ..., None] * wide[:, :, number].view(-1, *(1 for _ in axes), len(axes))
    return total.expand(size[0], *size[2:], len(axes)).to(theta.dtype)


def _coordinates(length: int, align_corners: bool, device: torch.device) -> torch.Tensor:
    steps = torch.arange(length, dtype=torch.float64, device=device)
    if align_corners and length > 1:
        return steps * (2 / (length - 1)) - 1
    return (2 * steps + 1) / length - 1


def eager(theta: torch.Tensor, size: list[int], align_corners: bool) -> torch.Tensor:
    """PyTorch's operator."""
    result: torch.Tensor = torch.ops.aten.affine_grid_generator.default(theta, size, align_corners)
    return result


def tolerance(case: Case) -> Tolerance:
    """A sum of three or four products whose factors may be rounded, and which may cancel."""
    return cancelling(case.dtype)


def cost(case: Case) -> Cost:
    """One multiply-add for each dimension of each coordinate."""
    sizes = case.shape("sizes")
    dims = len(sizes) - 2
    written = sizes[0] * count(sizes[2:]) * dims
    moved = copied(case, read=sizes[0] * dims * (dims + 1), written=written)
    return Cost(flops=2 * dims * written, bytes_read=moved.bytes_read, bytes_written=moved.bytes_written)


PROBLEM = ProblemDefinition(
    name="aten::affine_grid_generator",
    entry="affine_grid_generator",
    signature="affine_grid_generator(theta: Tensor, size: list[int], align_corners: bool) -> Tensor",
    summary="2-D or 3-D sampling grid from batched affine matrices",
    category=Category.VISION,
    second_oracle="PyTorch's affine_grid_generator, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
