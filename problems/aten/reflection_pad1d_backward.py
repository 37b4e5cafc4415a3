"""Gradient of 1-D reflection padding: y[i] = sum of grad_output[j] over the j with r(j - left) = i.

r mirrors at both ends without repeating them: r(p) = |p| for p < W, r(p) = 2 (W - 1) - p beyond.  self is (C, W) or (N,
C, W) and only its shape counts; grad_output has W + left + right columns; both paddings are below W.  Any strides.  Up
to three terms are added, and may be rounded after each step; NaN and infinities follow IEEE arithmetic.  float64 is
outside of the contract.  Overloads: reflection_pad1d_backward is tested; .grad_input computes the same.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, cases_over, laid_out, torch
from problems.kit.indexing.positions import accumulated, wide_dtype
from problems.kit.movement import any_values, copied, count

_over = partial(cases_over, layout=Layout.CONTIGUOUS, self_layout=Layout.CONTIGUOUS, values="mixed")
_NAME = "{shape} pad {dims} {dtype}"
_TERMS = 3

CASES = (
    *_over(Tier.SMOKE, _NAME, shape=(2, 3, 8), dims=(2, 3), dtype=[F32, BF16]),
    *_over(Tier.SMOKE, _NAME, shape=(3, 33), dims=(0, 5), dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(1, 1), dims=(0, 0), dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(2, 3, 8), dims=[(1, 1), (7, 7), (5, 0), (0, 0)], dtype=FLOATS),
    *_over(Tier.FULL, _NAME, shape=(0, 3, 8), dims=(1, 2), dtype=F32),
    *_over(Tier.FULL, _NAME, shape=[(5, 127), (5, 128), (5, 129)], dims=(2, 3), dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(4, 16, 64), dims=[(5, 5), (63, 63)], dtype=[F32, F16]),
    *_over(Tier.FULL, _NAME, shape=(2, 4099), dims=(100, 4000), dtype=[F32, BF16]),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(13, 65), dims=(4, 3), dtype=[F32, BF16],
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
    *_over(Tier.FULL, f"{_NAME} both {{layout}}", shape=(3, 5, 17), dims=(4, 3), dtype=F16, layout=Layout.IRREGULAR,
           self_layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_NAME} {{values}}", shape=(40, 65), dims=(30, 30), dtype=FLOATS, values="special"),
    *_over(Tier.BENCH, _NAME, shape=(32, 64, 4096), dims=(5, 5), dtype=[F32, BF16]),
    *_over(Tier.BENCH, _NAME, shape=(64, 512, 512), dims=(255, 255), dtype=BF16),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """grad_output: (..., W + left + right), self: `shape`, padding: [left, right].

    "special" gradients hold NaN and infinities in about a sixth of the elements; a sum of finite ones does not
    overflow.
    """
    shape, padding = case.shape("shape"), case.shape("dims")
    grad = any_values(_padded(case), case.dtype, rng)
    if case.word("values") == "special":
        grad[torch.rand(grad.shape, generator=rng) < 1 / 18] = float("nan")
        grad[torch.rand(grad.shape, generator=rng) < 1 / 18] = float("inf")
        grad[torch.rand(grad.shape, generator=rng) < 1 / 18] = float("-inf")
    self = any_values(shape, case.dtype, rng, layout=case.word("self_layout"))
    return laid_out(grad, case.word("layout")), self, list(padding)


def _padded(case: Case) -> tuple[int, ...]:
    *outer, width = case.shape("shape")
    return (*outer, width + sum(case.shape("dims")))


def reference(grad_output: torch.Tensor, x: torch.Tensor, padding: list[int]) -> torch.Tensor:
    """The shape of self, summed in float64 column by column of the padded gradient."""
    width = x.shape[-1]
    position = torch.arange(grad_output.shape[-1], device=x.device) - padding[0]
    position = position.abs()
    source = torch.where(position < width, position, 2 * (width - 1) - position)
    wide = torch.zeros(x.shape, dtype=wide_dtype(x.dtype), device=x.device)
    return wide.index_add(-1, source, grad_output.to(wide.dtype)).to(grad_output.dtype)


def eager(grad_output: torch.Tensor, x: torch.Tensor, padding: list[int]) -> torch.Tensor:
    """PyTorch's operator."""
    result: torch.Tensor = torch.ops.aten.reflection_pad1d_backward.default(grad_output, x, padding)
    return result


def tolerance(case: Case) -> Tolerance:
    """Sums of up to three terms that may be rounded after each step."""
    return accumulated(case.dtype, terms=_TERMS)


def cost(case: Case) -> Cost:
    """One addition for each column of the padding; self is not read."""
    padded, elements = count(_padded(case)), count(case.shape("shape"))
    moved = copied(case, read=padded, written=elements)
    return Cost(flops=padded - elements, bytes_read=moved.bytes_read, bytes_written=moved.bytes_written)


PROBLEM = ProblemDefinition(
    name="aten::reflection_pad1d_backward",
    entry="reflection_pad1d_backward",
    signature="reflection_pad1d_backward(grad_output: Tensor, self: Tensor, padding: list[int]) -> Tensor",
    summary="Gradient of 1-D reflection padding",
    category=Category.BACKWARD,
    second_oracle="PyTorch's reflection_pad1d_backward, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
