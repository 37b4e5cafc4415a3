"""Step function: y = 0 for self < 0, values for self = 0, 1 for self > 0.

Any rank, any strides; both tensors have one dtype, as PyTorch requires. -0.0 counts as 0, and a subnormal number may.
NaN in values is kept; a zero of the answer may have either sign. NaN in self gives 0, as PyTorch's comparison with 0
does on every device.

Overloads: heaviside (tested) and heaviside.out.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, Determinism, DType, ProblemDefinition, Tolerance
from problems.kit import EQUAL, FLOATS, WHOLE, Arguments, torch
from problems.kit.pointwise.binary import binary_arguments, binary_cases, binary_cost, binary_values, other_dtype

CASES = tuple(case for case in binary_cases(dtype=[*FLOATS, DType.FLOAT64, *WHOLE]) if other_dtype(case) is case.dtype)

_SHARE_OF_ZEROS = 0.3


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, almost a third of it 0, values: `other`, which broadcast."""
    left, right = binary_values(case, rng)
    zeros = torch.rand(left.shape, generator=rng) < _SHARE_OF_ZEROS
    return binary_arguments(case, left.masked_fill(zeros, 0), right)


def reference(x: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """The broadcast shape; values are moved, nothing is computed."""
    step = (x > 0).to(x.dtype)
    return torch.where(x == 0, values, step)


def eager(x: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.heaviside(x, values)


def tolerance(case: Case) -> Tolerance:
    """Bitwise equality."""
    return EQUAL


def cost(case: Case) -> Cost:
    """One operation per element."""
    return binary_cost(case, operations=1)


PROBLEM = ProblemDefinition(
    name="aten::heaviside",
    entry="heaviside",
    signature="heaviside(self: Tensor, values: Tensor) -> Tensor",
    summary="Step function with a given value at zero",
    category=Category.POINTWISE_BINARY,
    second_oracle="PyTorch's heaviside, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    determinism=Determinism.EXACT,
)
