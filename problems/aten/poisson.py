"""Poisson draws: P(y[i] = k) = exp(-r) * r^k / k! with r = self[i].

Any rank, any strides.  Rates are not negative; a rate of 0 gives 0.  Draws are whole numbers in the dtype of self,
independent of each other and of those of other calls; a kernel seeds its own generator, and PyTorch's argument for a
generator is left out.  Rates of the cases are at most 60, so that all probable draws are exact in bfloat16, and up to
210 in float32.  The comparison checks: whole and not negative, the distribution for every rate above 0, the shares of
draws above floor(r) over all, halves, every second element, at all distances and against an earlier call, and the
skewness of both calls together; each by a bound that a correct kernel exceeds once in 2e9 tests, less than once in a
million runs.  float64 is outside of the contract.  Overloads: poisson is tested; .out computes the same.
"""

from __future__ import annotations

from functools import partial

from engine.model import CalledCase, Case, Category, Cost, Determinism, OutputMatch, ProblemDefinition, Tier
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, cases_over, laid_out, torch, torch_dtype
from problems.kit.movement import copied, count, exact
from problems.kit.randomness import CANNOT_TELL, as_match, mean_faults, repeat_faults, steps_faults, sum_faults

_over = partial(cases_over, layout=Layout.CONTIGUOUS, rates="some")
_NAME = "{shape} {dtype} rates {rates}"
_RATES = {
    "some": (0.0, 0.125, 1.0, 4.5, 30.0),
    "small": (0.03125, 0.5),
    "large": (20.0, 60.0),
    "about twelve": (11.0, 12.0, 13.0),
    "about two hundred": (190.0, 200.0, 210.0),  # e^-r is 0 in float32
    "mostly zero": (0.0, 0.0, 0.0, 2.0),
}
_LEAST_SKEWED = 5.0  # rates from which a normal distribution is close enough to be mistaken for a Poisson distribution

CASES = (
    *_over(Tier.SMOKE, _NAME, shape=(64, 65), dtype=[F32, BF16]),
    *_over(Tier.SMOKE, _NAME, shape=(33, 65), dtype=F32, rates="small"),
    *_over(Tier.FULL, _NAME, shape=[(0, 5), (127,), (128,), (129,), (5001,)], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(33, 129), dtype=FLOATS, rates=["some", "small", "large"]),
    *_over(Tier.FULL, _NAME, shape=(33, 65), dtype=F32, rates="mostly zero"),
    *_over(Tier.FULL, _NAME, shape=(20_001,), dtype=F32, rates="about twelve"),
    *_over(Tier.FULL, _NAME, shape=(1001,), dtype=F32, rates="about two hundred"),
    *_over(Tier.FULL, _NAME, shape=[(), (1,)], dtype=F32, rates="any"),
    *_over(Tier.FULL, _NAME, shape=[(12, 13, 14), (3, 4, 5, 6, 7)], dtype=F32),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(65, 129), dtype=F32,
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.OFFSET]),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(9, 7, 12, 13), dtype=F16, layout=Layout.IRREGULAR),
    *_over(Tier.BENCH, _NAME, shape=(2048, 2048), dtype=[F32, BF16]),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, each element one of the case's rates, or for "any" a rate up to 60."""
    if case.word("rates") == "any":
        chosen = torch.rand(case.shape("shape"), generator=rng) * 60
    else:
        rates = torch.tensor(_RATES[case.word("rates")])
        chosen = torch.take(rates, torch.randint(len(rates), case.shape("shape"), generator=rng))
    return (laid_out(chosen.to(torch_dtype(case.dtype)), case.word("layout")),)


def reference(x: torch.Tensor) -> torch.Tensor:
    """The rates rounded to whole numbers; draws are not compared with it element by element."""
    return x.round()


def eager(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.poisson(x)


def compare(called: CalledCase) -> tuple[OutputMatch, ...]:
    """The tests listed in the module docstring."""
    (y,), (rates,) = called.outputs, called.arguments
    assert isinstance(rates, torch.Tensor)
    wrong = ~((y >= 0) & (y == y.floor()) & y.isfinite()) | ((rates == 0) & (y != 0))
    if bool(wrong.any()):
        return (as_match(y, [], wrong),)
    r, draws = rates.double().flatten(), y.double().flatten()
    faults = [fault for rate in sorted(set(r.tolist()) - {0.0}) for fault in _of_rate(draws[r == rate], rate)]
    median = r.floor()
    above = 1 - _distribution(median, r)
    centred = (draws > median).double() - above
    faults += mean_faults(centred, above * (1 - above), 1.0)
    if called.earlier:
        first = called.earlier[0].double().flatten()
        faults += repeat_faults(centred, (first > median).double() - above, above * (1 - above), 1.0)
        draws, r = torch.cat((draws, first)), torch.cat((r, r))
    return (as_match(y, faults + _skewness(draws, r)),)


def _of_rate(draws: torch.Tensor, rate: float) -> list[str]:
    rates = torch.full_like(draws, rate)
    at, just_below = _distribution(draws, rates), _distribution(draws - 1, rates)
    return steps_faults(draws, at, just_below, f"Poisson of rate {rate:g}")


def _skewness(draws: torch.Tensor, rates: torch.Tensor) -> list[str]:
    """One message if too many draws are where a normal distribution has more of them than a skewed one.

    With z = (draw - rate) / sqrt(rate) these are 0 < z < sqrt(3) and z < -sqrt(3), where the Hermite polynomial
    z ** 3 - 3 z, the first term of the Edgeworth series, is negative.  The share is exact for each rate.
    """
    draws, rates = draws[rates >= _LEAST_SKEWED], rates[rates >= _LEAST_SKEWED]
    reach = (3 * rates).sqrt()
    is_inside = ((draws > rates) & (draws < rates + reach)) | (draws < rates - reach)
    below, high = (rates - reach).ceil() - 1, (rates + reach).ceil() - 1
    shares = _distribution(below, rates) + _distribution(high, rates) - _distribution(rates.floor(), rates)
    return sum_faults(is_inside.double() - shares, shares * (1 - shares), 1.0, "skewness")


def _distribution(draws: torch.Tensor, rates: torch.Tensor) -> torch.Tensor:
    """P(y <= draws) = Q(draws + 1, rate), the regularised upper incomplete gamma function; 1 for a rate of 0."""
    inside = torch.special.gammaincc((draws + 1).clamp(min=1), rates)
    return torch.where(draws < 0, 0.0, torch.where(rates == 0, 1.0, inside))


def cost(case: Case) -> Cost:
    """One draw for each rate; the operations depend on the method and are at least one per draw."""
    elements = count(case.shape("shape"))
    moved = copied(case, read=elements, written=elements)
    return Cost(flops=elements, bytes_read=moved.bytes_read, bytes_written=moved.bytes_written)


PROBLEM = ProblemDefinition(
    name="aten::poisson",
    entry="poisson",
    signature="poisson(self: Tensor) -> Tensor",
    summary="Poisson draws with the given rates",
    category=Category.RANDOM,
    second_oracle="PyTorch's poisson, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    compare=compare,
    determinism=Determinism.RANDOM,
    cannot_reject={
        **CANNOT_TELL,
        "nan_dropped": "rates are never NaN",
        "infinities_clamped": "rates are finite",
    },
)
