"""Leaky ReLU with random slopes: y = x * r if x <= 0 else x, with r uniform between lower and upper in training.

Any rank, any strides of self and noise, of one shape.  In training noise[i] = r where x <= 0 and 1 where not, and the
answer is computed from the slopes that noise holds; without training r = (lower + upper) / 2 and noise stays as it is.
A NaN of self counts as positive and gives NaN.  Slopes are independent of each other and of those of other calls; a
kernel seeds its own generator, and PyTorch's argument for a generator is left out.  The comparison checks: noise
against its range, the distribution, means, independence, and how many float32 slopes repeat, for which 20 random bits
are enough, by bounds that a correct kernel exceeds once in 2e9 tests, less than once in a million runs; and the answer
against self times the noise after the call, with the tolerance of one rounded product.  float64 is outside of the
contract.  Overloads: rrelu_with_noise is tested; .out computes the same.
"""

from __future__ import annotations

from functools import partial

from engine.model import CalledCase, Case, Category, Cost, Determinism, OutputMatch, ProblemDefinition, Tier, Tolerance
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
from problems.kit.movement import any_values, copied, count
from problems.kit.randomness import (
    CANNOT_TELL,
    as_match,
    distribution_faults,
    mean_faults,
    neighbour_faults,
    repeat_faults,
    repeated_faults,
    shared_faults,
)

_over = partial(
    cases_over, layout=Layout.CONTIGUOUS, noise_layout=Layout.CONTIGUOUS, values="mixed", training=True, lower=0.125,
    upper=1 / 3,
)  # fmt: skip
_NAME = "{shape} {dtype} training {training}"

CASES = (
    *_over(Tier.SMOKE, _NAME, shape=(64, 65), dtype=[F32, BF16]),
    *_over(Tier.SMOKE, _NAME, shape=(33, 65), dtype=F32, training=False),
    *_over(Tier.FULL, _NAME, shape=[(), (1,), (0, 5), (127,), (128,), (129,), (5001,)], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(33, 129), dtype=FLOATS, training=[True, False]),
    *_over(Tier.FULL, f"{_NAME} bounds {{lower}} {{upper}}", shape=(65, 129), dtype=[F32, BF16], lower=0.1, upper=0.9),
    *_over(Tier.FULL, f"{_NAME} bounds {{lower}} {{upper}}", shape=(33, 65), dtype=F32, lower=0.25, upper=0.25),
    *_over(Tier.FULL, _NAME, shape=[(12, 13, 14), (3, 4, 5, 6, 7)], dtype=F32),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(65, 129), dtype=F32, training=[True, False],
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED]),
    *_over(Tier.FULL, f"{_NAME} noise {{noise_layout}}", shape=(65, 129), dtype=F32,
           noise_layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.OFFSET]),
    *_over(Tier.FULL, f"{_NAME} both {{layout}}", shape=(9, 7, 12, 13), dtype=F16, layout=Layout.IRREGULAR,
           noise_layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_NAME} {{values}}", shape=(33, 65), dtype=FLOATS, values="special", training=[True, False]),
    *_over(Tier.BENCH, _NAME, shape=(4096, 4096), dtype=[F32, BF16]),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self and noise: `shape`, lower, upper, training.  "special" values are NaN, infinite and extreme."""
    x = mixed(case.shape("shape"), case.dtype, rng)
    if case.word("values") == "special":
        x = scattered(x, rng, each=x.numel() // 24)
    noise = any_values(case.shape("shape"), case.dtype, rng, layout=case.word("noise_layout"))
    bounds = case.number("lower"), case.number("upper")
    return laid_out(x, case.word("layout")), noise, *bounds, case.claim("training")


def reference(
    x: torch.Tensor, noise: torch.Tensor, lower: float = 0.125, upper: float = 1 / 3, training: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """The answer and noise with the mean slope everywhere, in float64; in training slopes are not compared with it."""
    slope = (lower + upper) / 2
    answer = torch.where(x <= 0, x.double() * slope, x.double()).to(x.dtype)
    slopes = torch.where(x <= 0, slope, 1.0).to(noise.dtype)
    return answer, slopes if training else noise.clone()


def eager(
    x: torch.Tensor, noise: torch.Tensor, lower: float = 0.125, upper: float = 1 / 3, training: bool = False
) -> torch.Tensor:
    """Usual PyTorch code: on a CPU PyTorch's operator lacks float16, and writes strided noise to wrong positions."""
    if not training:
        return torch.nn.functional.leaky_relu(x, (lower + upper) / 2)
    slopes = torch.empty_like(x, dtype=torch.float32).uniform_(lower, upper)
    noise.copy_(torch.where(x <= 0, slopes, 1.0))
    return x * noise


def compare(called: CalledCase) -> tuple[OutputMatch, ...]:
    """The tests listed in the module docstring."""
    (answer, noise), (x, _, lower, upper, training) = called.outputs, called.arguments
    assert isinstance(x, torch.Tensor) and isinstance(lower, float) and isinstance(upper, float)
    if not training:
        slope = torch.full_like(x, (lower + upper) / 2, dtype=torch.float64)
        kept = noise.eq(called.expected[1]) | (noise.isnan() & called.expected[1].isnan())
        return _product(answer, x, torch.where(x <= 0, slope, 1.0), called.case), as_match(noise, [], ~kept)
    return _product(answer, x, noise.double(), called.case), _slopes(called, x, lower, upper)


def _product(answer: torch.Tensor, x: torch.Tensor, slopes: torch.Tensor, case: Case) -> OutputMatch:
    wanted = (x.double() * slopes).to(x.dtype).double()
    allowed = _allowed(case).relative * wanted.abs() + torch.finfo(x.dtype).tiny
    near = (answer.double() - wanted).abs() <= allowed
    same = (answer.double() == wanted) | (answer.isnan() & wanted.isnan())
    wrong = ~torch.where(wanted.isfinite(), near, same)
    return OutputMatch(wrong=wrong, message="the answer is not self times the slopes" if bool(wrong.any()) else "")


def _slopes(called: CalledCase, x: torch.Tensor, lower: float, upper: float) -> OutputMatch:
    noise = called.outputs[1]
    rounding = called.case.dtype.epsilon * upper
    drawn = x <= 0
    outside = drawn & ~((noise.double() >= lower - rounding) & (noise.double() <= upper + rounding))
    wrong = outside | (~drawn & (noise != 1))
    if bool(wrong.any()) or upper - lower <= 2 * rounding:
        return as_match(noise, [], wrong)
    shift = rounding / (upper - lower)
    centred = _centred(noise, drawn, lower, upper)  # 0 for the others, so that draws keep their positions and lanes
    variances = drawn.flatten() / 12.0
    faults = distribution_faults(centred[drawn.flatten()] + 0.5, "slopes", shift=shift)
    faults += mean_faults(centred, variances, 0.5 + shift, shift=shift)
    slopes = noise[drawn]
    faults += neighbour_faults(slopes) + repeated_faults(slopes)
    if called.earlier:
        faults += shared_faults(slopes, called.earlier[1][drawn])
        before = _centred(called.earlier[1], drawn, lower, upper)
        faults += repeat_faults(centred, before, variances, 0.5 + shift, shift=shift)
    return as_match(noise, faults)


def _centred(noise: torch.Tensor, drawn: torch.Tensor, lower: float, upper: float) -> torch.Tensor:
    """Slopes as numbers between -0.5 and 0.5, flat; 0 for elements without a drawn slope."""
    return torch.where(drawn, (noise.double() - lower) / (upper - lower) - 0.5, 0.0).flatten()


def tolerance(case: Case) -> Tolerance:
    """One product, rounded once."""
    return _allowed(case)


def _allowed(case: Case) -> Tolerance:
    return rounded(case.dtype)


def cost(case: Case) -> Cost:
    """A product for each element; noise is written in training."""
    elements = count(case.shape("shape"))
    moved = copied(case, read=elements, written=elements * (2 if case.claim("training") else 1))
    return Cost(flops=elements, bytes_read=moved.bytes_read, bytes_written=moved.bytes_written)


PROBLEM = ProblemDefinition(
    name="aten::rrelu_with_noise",
    entry="rrelu_with_noise",
    signature=(
        "rrelu_with_noise(self: Tensor, noise: Tensor, lower: float = 0.125, upper: float = 0.3333333333333333, "
        "training: bool = False) -> Tensor"
    ),
    summary="Leaky ReLU with random slopes in training, which it records",
    category=Category.RANDOM,
    second_oracle="PyTorch's uniform_ and leaky_relu, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    mutates=("noise",),
    compare=compare,
    determinism=Determinism.RANDOM,
    cannot_reject=CANNOT_TELL,
)
