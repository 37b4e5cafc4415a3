"""Gradient of select: y[..., i, ...] = grad_output where i = index along the dim, else 0.

Any rank, any strides, any dtype; dim and index may be negative.  A copy: NaN and infinities are copied unchanged.
Overloads: select_backward is tested; .out computes the same.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, ProblemDefinition, Tier
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, cases_over, torch
from problems.kit.movement import EVERY_DTYPE, any_values, copied, count, exact

_over = partial(cases_over, layout=Layout.CONTIGUOUS, values="mixed")
_NAME = "{sizes} dim {dim} index {index} {dtype}"

CASES = (
    *_over(Tier.SMOKE, _NAME, sizes=(5, 65), dim=0, index=3, dtype=[F32, BF16]),
    *_over(Tier.SMOKE, _NAME, sizes=(4, 9, 7), dim=-2, index=-2, dtype=F32),
    *_over(Tier.FULL, _NAME, sizes=(1,), dim=0, index=[0, -1], dtype=F32),
    *_over(Tier.FULL, _NAME, sizes=(2, 3), dim=[0, -1], index=[0, 1, -1], dtype=FLOATS),
    *_over(Tier.FULL, _NAME, sizes=(0, 5), dim=1, index=2, dtype=F32),
    *_over(Tier.FULL, _NAME, sizes=[(3, 127), (3, 128), (3, 129)], dim=[0, 1], index=-3, dtype=F32),
    *_over(Tier.FULL, _NAME, sizes=(2, 4099), dim=0, index=1, dtype=FLOATS),
    *_over(Tier.FULL, _NAME, sizes=[(2, 3, 4, 5), (2, 3, 4, 5, 2, 3)], dim=[0, 2, -1], index=1, dtype=F32),
    *_over(Tier.FULL, _NAME, sizes=(9, 40), dim=0, index=4, dtype=EVERY_DTYPE),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", sizes=(5, 13, 65), dim=0, index=2, dtype=[F32, BF16],
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET, Layout.PADDED]),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", sizes=(3, 7, 5, 2, 3), dim=2, index=-1, dtype=F16,
           layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_NAME} {{values}}", sizes=(7, 3, 33), dim=1, index=2, dtype=FLOATS, values="special"),
    *_over(Tier.BENCH, _NAME, sizes=(16, 1024, 1024), dim=[0, 2], index=7, dtype=BF16),
    *_over(Tier.BENCH, _NAME, sizes=(512, 512, 64), dim=1, index=-1, dtype=F32),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """grad_output: `sizes` without `dim`; the sizes of the input, dim, index."""
    special = case.word("values") == "special"
    grad = any_values(_grad_shape(case), case.dtype, rng, special=special, layout=case.word("layout"))
    return grad, list(case.shape("sizes")), case.size("dim"), case.size("index")


def _grad_shape(case: Case) -> tuple[int, ...]:
    sizes = list(case.shape("sizes"))
    del sizes[case.size("dim")]
    return tuple(sizes)


def reference(grad_output: torch.Tensor, input_sizes: list[int], dim: int, index: int) -> torch.Tensor:
    """The shape `input_sizes`: a comparison with the coordinate chooses between the gradient and 0."""
    coordinate = torch.arange(input_sizes[dim], device=grad_output.device)
    chosen = coordinate == index % input_sizes[dim]
    for _ in range(len(input_sizes) - 1 - dim % len(input_sizes)):
        chosen = chosen.unsqueeze(-1)
    zero = torch.zeros((), dtype=grad_output.dtype, device=grad_output.device)
    return torch.where(chosen, grad_output.unsqueeze(dim), zero)


def eager(grad_output: torch.Tensor, input_sizes: list[int], dim: int, index: int) -> torch.Tensor:
    """Usual PyTorch code: a tensor of zeros, and a copy into one of its slices."""
    result = grad_output.new_zeros(input_sizes)
    result.select(dim, index).copy_(grad_output)
    return result


def cost(case: Case) -> Cost:
    """The gradient is read, all of the output is written."""
    return copied(case, read=count(_grad_shape(case)), written=count(case.shape("sizes")))


PROBLEM = ProblemDefinition(
    name="aten::select_backward",
    entry="select_backward",
    signature="select_backward(grad_output: Tensor, input_sizes: list[int], dim: int, index: int) -> Tensor",
    summary="Zeros with the gradient at one index of a dim",
    category=Category.BACKWARD,
    second_oracle="PyTorch's select, in every smoke and full case",
    rearranges=True,
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    determinism=Determinism.EXACT,
)
