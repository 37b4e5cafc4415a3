"""Exponential draws in place: P(y[i] > t) = exp(-lambd * t).

Any rank, any strides; memory between the elements stays as it is, and the previous content does not matter.  Draws are
finite and at least 0, independent of each other and of those of other calls; a kernel seeds its own generator, and
PyTorch's argument for a generator is left out.  The comparison checks: range, the distribution of all draws, and means
over all, halves, every second element and products at all distances and with the draws of an earlier call, all of u = 1
- exp(-lambd * y), which is uniform, and how many draws of float32 equal the one before, any before and any of an
earlier call, for which 20 random bits are enough; each by a bound that a correct kernel exceeds once in 2e9 tests, less
than once in a million runs.  Draws that the dtype rounds to 0 are correct.  Returns self.  float64 is outside of the
contract.  Overload: exponential_ is tested.
"""

from __future__ import annotations

from functools import partial

from engine.model import (
    CalledCase,
    Case,
    Category,
    Cost,
    Determinism,
    OutputMatch,
    ProblemDefinition,
    ReturnedMemory,
    Tier,
)
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, cases_over, torch
from problems.kit.movement import case_values, copied, count, exact
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

_over = partial(cases_over, layout=Layout.CONTIGUOUS, values="mixed", lambd=1.0)
_NAME = "{shape} {dtype} lambd {lambd}"
_MOVED = 0.37  # an error in y moves u by lambd * y * exp(-lambd * y), at most 1 / e, times the relative error of y

CASES = (
    *_over(Tier.SMOKE, _NAME, shape=(64, 65), dtype=[F32, BF16]),
    *_over(Tier.SMOKE, _NAME, shape=(33, 65), dtype=F32, lambd=0.25),
    *_over(Tier.FULL, _NAME, shape=[(), (1,), (0, 5), (127,), (128,), (129,), (5001,)], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(33, 129), dtype=FLOATS, lambd=[0.125, 1.0, 7.5]),
    *_over(Tier.FULL, _NAME, shape=(33, 65), dtype=F32, lambd=[1e-6, 1e6]),
    *_over(Tier.FULL, _NAME, shape=[(12, 13, 14), (3, 4, 5, 6, 7)], dtype=F32),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(65, 129), dtype=[F32, BF16],
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.OFFSET]),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(9, 7, 12, 13), dtype=F16, layout=Layout.IRREGULAR),
    *_over(Tier.BENCH, _NAME, shape=(4096, 4096), dtype=[F32, BF16]),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, whose content does not matter; lambd."""
    return case_values(case, rng), case.number("lambd")


def reference(x: torch.Tensor, lambd: float = 1.0) -> tuple[torch.Tensor, torch.Tensor]:
    """The mean 1 / lambd in every element, twice; draws are not compared with it element by element."""
    means = torch.full(x.shape, 1 / lambd, dtype=x.dtype, device=x.device)
    return means, means


def eager(x: torch.Tensor, lambd: float = 1.0) -> torch.Tensor:
    """PyTorch's operator."""
    return x.exponential_(lambd)


def compare(called: CalledCase) -> tuple[OutputMatch, ...]:
    """The tests listed in the module docstring, on the returned and on the written tensor."""
    lambd = called.arguments[1]
    assert isinstance(lambd, float)
    earlier = called.earlier or (None, None)
    return tuple(_match(y, before, lambd, called.case) for y, before in zip(called.outputs, earlier, strict=True))


def _match(y: torch.Tensor, earlier: torch.Tensor | None, lambd: float, case: Case) -> OutputMatch:
    below = _uniform(y, lambd)
    shift = _MOVED * case.dtype.epsilon
    variances = torch.full_like(below, 1 / 12)
    faults = distribution_faults(below, "exponential", shift=shift)
    faults += mean_faults(below - 0.5, variances, 0.5, shift=shift)
    faults += neighbour_faults(y.flatten()) + repeated_faults(y.flatten())
    if earlier is not None:
        faults += repeat_faults(below - 0.5, _uniform(earlier, lambd) - 0.5, variances, 0.5, shift=shift)
        faults += shared_faults(y.flatten(), earlier.flatten())
    return as_match(y, faults, ~((y >= 0) & y.isfinite()))


def _uniform(y: torch.Tensor, lambd: float) -> torch.Tensor:
    return -torch.expm1(-lambd * y.double().flatten())


def cost(case: Case) -> Cost:
    """A logarithm and a product for each element, which is written once."""
    elements = count(case.shape("shape"))
    moved = copied(case, read=0, written=elements)
    return Cost(flops=2 * elements, bytes_read=moved.bytes_read, bytes_written=moved.bytes_written)


PROBLEM = ProblemDefinition(
    name="aten::exponential_",
    entry="exponential_",
    signature="exponential_(self: Tensor, lambd: float = 1.0) -> Tensor",
    summary="Fill in place with exponential draws",
    category=Category.RANDOM,
    second_oracle="PyTorch's exponential_, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    mutates=("self",),
    returned_memory=ReturnedMemory.WRITTEN,
    written_only=("self",),
    compare=compare,
    determinism=Determinism.RANDOM,
    cannot_reject={
        **CANNOT_TELL,
        "nan_dropped": "the content of self does not matter",
        "infinities_clamped": "the content of self does not matter",
    },
)
