"""Draws of 0 and 1: P(y[i] = 1) = p[i], with p = self, or the argument p where it is given.

Any rank, any strides.  Probabilities are from 0 to 1; with p, the content of self does not matter.  The answer has the
shape and dtype of self.  Draws are independent of each other and of those of other calls; a kernel seeds its own
generator, and PyTorch's argument for a generator is left out.  The comparison checks: values are 0 or 1, exactly so
where p is 0 or 1; the means over all, halves and every second element, products at all distances and with the draws
of an earlier call, and the sum weighted by p, each by a bound that a correct kernel exceeds once in 2e9 tests, less
than once in a million runs.  float64 is outside of the contract.  Overloads: bernoulli, .p and .Tensor are tested; .out
forms compute the same.
"""

from __future__ import annotations

from functools import partial

from engine.model import CalledCase, Case, Category, Cost, Determinism, OutputMatch, ProblemDefinition, Tier
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, cases_over, laid_out, torch, torch_dtype
from problems.kit.movement import copied, count, exact
from problems.kit.randomness import CANNOT_TELL, as_match, mean_faults, repeat_faults, sum_faults

_over = partial(cases_over, layout=Layout.CONTIGUOUS, p_layout=Layout.CONTIGUOUS, p="self")
_NAME = "{shape} {dtype} p {p}"

CASES = (
    *_over(Tier.SMOKE, _NAME, shape=(64, 65), dtype=[F32, BF16]),
    *_over(Tier.SMOKE, _NAME, shape=(33, 65), dtype=F32, p="0.3"),
    *_over(Tier.FULL, _NAME, shape=[(), (1,), (0, 5), (127,), (128,), (129,), (5001,)], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(33, 129), dtype=FLOATS, p=["self", "tensor", "0.1", "0.5", "0.9"]),
    *_over(Tier.FULL, _NAME, shape=(33, 65), dtype=F32, p=["0.0", "1.0", "1e-3"]),
    *_over(Tier.FULL, _NAME, shape=(40_001,), dtype=F32, p="1e-4"),
    *_over(Tier.FULL, _NAME, shape=(133_001,), dtype=F32, p="1e-6"),
    *_over(Tier.FULL, _NAME, shape=(20_001,), dtype=F32, p="0.5"),
    *_over(Tier.FULL, _NAME, shape=[(12, 13, 14), (3, 4, 5, 6, 7)], dtype=F32),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(65, 129), dtype=F32,
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.OFFSET]),
    *_over(Tier.FULL, f"{_NAME} both {{layout}}", shape=(9, 7, 12, 13), dtype=F16, p="tensor",
           layout=Layout.IRREGULAR, p_layout=Layout.IRREGULAR),
    *_over(Tier.BENCH, _NAME, shape=(4096, 4096), dtype=[F32, BF16]),
    *_over(Tier.BENCH, _NAME, shape=(4096, 4096), dtype=F32, p="0.5"),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, p: None, a number or a tensor of probabilities; a tenth of them is 0 and a tenth is 1."""
    probabilities = torch.rand(case.shape("shape"), generator=rng)
    share = torch.rand(case.shape("shape"), generator=rng)
    probabilities = torch.where(share < 0.1, 0.0, torch.where(share > 0.9, 1.0, probabilities))
    probabilities = probabilities.to(torch_dtype(case.dtype))
    if case.word("p") == "self":
        return laid_out(probabilities, case.word("layout")), None
    x = laid_out(torch.randn(case.shape("shape"), generator=rng).to(torch_dtype(case.dtype)), case.word("layout"))
    if case.word("p") == "tensor":
        return x, laid_out(probabilities, case.word("p_layout"))
    return x, float(case.word("p"))


def _probabilities(x: torch.Tensor, p: torch.Tensor | float | None) -> torch.Tensor:
    given = x if p is None else p
    return torch.as_tensor(given, dtype=torch.float64, device=x.device).expand(x.shape)


def reference(x: torch.Tensor, p: torch.Tensor | float | None = None) -> torch.Tensor:
    """The probabilities rounded to 0 or 1; draws are not compared with it element by element."""
    return _probabilities(x, p).round().to(x.dtype)


def eager(x: torch.Tensor, p: torch.Tensor | float | None = None) -> torch.Tensor:
    """PyTorch's operator."""
    if p is None:
        return torch.bernoulli(x)
    result: torch.Tensor = (
        torch.ops.aten.bernoulli.p(x, p) if isinstance(p, float) else torch.empty_like(x).bernoulli_(p)
    )
    return result


def compare(called: CalledCase) -> tuple[OutputMatch, ...]:
    """The tests listed in the module docstring."""
    (y,), (x, given) = called.outputs, called.arguments
    assert isinstance(x, torch.Tensor) and (given is None or isinstance(given, torch.Tensor | float))
    p = _probabilities(x, given)
    wrong = ((y != 0) & (y != 1)) | ((p == 0) & (y != 0)) | ((p == 1) & (y != 1))
    p, centred = p.flatten(), (y.double() - p).flatten()
    variances = p * (1 - p)
    weights = 2 * p - 1
    faults = mean_faults(centred, variances, 1.0)
    faults += sum_faults(centred * weights, variances * weights**2, 1.0, "draws do not follow p")
    if called.earlier:
        faults += repeat_faults(centred, (called.earlier[0].double().flatten() - p), variances, 1.0)
    return (as_match(y, faults, wrong),)


def cost(case: Case) -> Cost:
    """One comparison per element; all probabilities are read, a number p counts as one."""
    elements = count(case.shape("shape"))
    moved = copied(case, read=elements if case.word("p") in ("self", "tensor") else 1, written=elements)
    return Cost(flops=elements, bytes_read=moved.bytes_read, bytes_written=moved.bytes_written)


PROBLEM = ProblemDefinition(
    name="aten::bernoulli",
    entry="bernoulli",
    signature="bernoulli(self: Tensor, p: Tensor | float | None = None) -> Tensor",
    summary="Draw 0 and 1 with given probabilities",
    category=Category.RANDOM,
    second_oracle="PyTorch's bernoulli, in every smoke and full case",
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
        "nan_dropped": "probabilities are never NaN",
        "infinities_clamped": "probabilities are finite",
    },
)
