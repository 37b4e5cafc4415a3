"""Gradient of rrelu: y = grad_output * noise in training, else grad_output * (1 if self > 0 else (lower + upper) / 2).

Any rank, any strides of the three tensors, all of one shape.  As in PyTorch, training with upper - lower <= 1e-6 counts
as inference.  noise holds the slope that the forward call drew (1 where self was positive).  self_is_result means that
self is the output of the in-place forward call, which makes no difference while lower and upper are positive; other
bounds are outside of the contract then.  NaN and infinities follow IEEE arithmetic; a NaN in self counts as not
positive. Overloads: rrelu_with_noise_backward is tested; .out computes the same.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import (
    BF16,
    F16,
    F32,
    FLOATS,
    Arguments,
    Layout,
    cases_over,
    laid_out,
    mixed,
    rounded,
    scattered,
    torch,
)
from problems.kit.movement import copied, count

_over = partial(
    cases_over, layout=Layout.CONTIGUOUS, self_layout=Layout.CONTIGUOUS, noise_layout=Layout.CONTIGUOUS,
    values="mixed", training=True, is_result=False, lower=0.125, upper=1 / 3,
)  # fmt: skip
_NAME = "{shape} {dtype} training {training}"

CASES = (
    *_over(Tier.SMOKE, _NAME, shape=(7, 65), dtype=[F32, BF16]),
    *_over(Tier.SMOKE, _NAME, shape=(4, 9, 33), dtype=F32, training=False),
    *_over(Tier.FULL, _NAME, shape=[(), (1,), (0, 5), (127,), (128,), (129,), (4099,), (3, 5, 4, 7)], dtype=F32,
           training=[True, False]),
    *_over(Tier.FULL, _NAME, shape=(31, 257), dtype=FLOATS, training=[True, False]),
    *_over(Tier.FULL, _NAME, shape=(9, 40), dtype=DType.FLOAT64, training=[True, False]),
    *_over(Tier.FULL, f"{_NAME} bounds {{lower}} {{upper}}", shape=(13, 97), dtype=F32, lower=0.25, upper=0.25,
           training=[True, False]),
    *_over(Tier.FULL, f"{_NAME} bounds {{lower}} {{upper}}", shape=(13, 97), dtype=F32, lower=-0.5, upper=3.0,
           training=[True, False]),
    *_over(Tier.FULL, f"{_NAME} self is result", shape=(13, 97), dtype=[F32, BF16], is_result=True,
           training=[True, False]),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(33, 65), dtype=F32, training=[True, False],
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
    *_over(Tier.FULL, f"{_NAME} self {{self_layout}}", shape=(33, 65), dtype=F32, training=False,
           self_layout=[Layout.TRANSPOSED, Layout.STRIDED]),
    *_over(Tier.FULL, f"{_NAME} noise {{noise_layout}}", shape=(33, 65), dtype=F32,
           noise_layout=[Layout.TRANSPOSED, Layout.STRIDED]),
    *_over(Tier.FULL, f"{_NAME} all {{layout}}", shape=(3, 2, 7, 2, 3), dtype=F16, training=[True, False],
           layout=Layout.IRREGULAR, self_layout=Layout.IRREGULAR, noise_layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_NAME} {{values}}", shape=(7, 33), dtype=FLOATS, values="special", training=[True, False]),
    *_over(Tier.BENCH, _NAME, shape=(1024, 1024), dtype=[F32, BF16]),
    *_over(Tier.BENCH, _NAME, shape=(4096, 4096), dtype=BF16, training=[True, False]),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """grad_output, self, noise: `shape`; lower, upper, training, self_is_result.

    "special" gradients and inputs hold NaN, infinities and extremes.
    """
    shape, dtype = case.shape("shape"), case.dtype
    grad, x = mixed(shape, dtype, rng), mixed(shape, dtype, rng)
    if case.word("values") == "special":
        grad, x = (scattered(part, rng, each=part.numel() // 12 + 1) for part in (grad, x))
    lower, upper = case.number("lower"), case.number("upper")
    slopes = lower + (upper - lower) * torch.rand(shape, generator=rng)
    noise = torch.where(x > 0, 1.0, slopes).to(x.dtype)
    return (
        laid_out(grad, case.word("layout")),
        laid_out(x, case.word("self_layout")),
        laid_out(noise, case.word("noise_layout")),
        lower,
        upper,
        case.claim("training"),
        case.claim("is_result"),
    )


def reference(
    grad_output: torch.Tensor,
    x: torch.Tensor,
    noise: torch.Tensor,
    lower: float,
    upper: float,
    training: bool,
    self_is_result: bool,
) -> torch.Tensor:
    """The common shape, in float64."""
    wide = grad_output.double()
    if training and upper - lower > 1e-6:
        return (wide * noise.double()).to(x.dtype)
    return torch.where(x > 0, wide, wide * ((lower + upper) / 2)).to(x.dtype)


def eager(
    grad_output: torch.Tensor,
    x: torch.Tensor,
    noise: torch.Tensor,
    lower: float,
    upper: float,
    training: bool,
    self_is_result: bool,
) -> torch.Tensor:
    """PyTorch's operator."""
    result: torch.Tensor = torch.ops.aten.rrelu_with_noise_backward.default(
        grad_output, x, noise, lower, upper, training, self_is_result
    )
    return result


def tolerance(case: Case) -> Tolerance:
    """One product, rounded once."""
    return rounded(case.dtype)


def cost(case: Case) -> Cost:
    """One product per element of the gradient and one other tensor: noise in training, self otherwise."""
    elements = count(case.shape("shape"))
    moved = copied(case, read=2 * elements, written=elements)
    return Cost(flops=elements, bytes_read=moved.bytes_read, bytes_written=moved.bytes_written)


PROBLEM = ProblemDefinition(
    name="aten::rrelu_with_noise_backward",
    entry="rrelu_with_noise_backward",
    signature=(
        "rrelu_with_noise_backward(grad_output: Tensor, self: Tensor, noise: Tensor, lower: float, upper: float, "
        "training: bool, self_is_result: bool) -> Tensor"
    ),
    summary="Gradient of rrelu given the noise",
    category=Category.BACKWARD,
    second_oracle="PyTorch's rrelu_with_noise_backward, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
