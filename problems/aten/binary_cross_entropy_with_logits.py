"""Cross entropy of logits: y = w * ((1 - t) * x - (1 + (p - 1) * t) * log(sigmoid(x))), x = self, t = target.

Any rank, any strides.  target is between 0 and 1; weight w and pos_weight p are None, which is 1, or broadcast to self.
`reduction` is 0 for none, 1 for the mean, 2 for the sum; the weights do not change the divisor of a mean.  The mean of
no elements is NaN and their sum 0.  NaN stays NaN.  By the formula, inf gives inf, or NaN where t = 1, and -inf gives
NaN.  float64 is outside of the contract.

Overloads: binary_cross_entropy_with_logits (tested) and its .out form.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, F32, FLOATS, Arguments, Layout, Special, laid_out, torch
from problems.kit.pointwise.losses import (
    logits_of,
    loss_cases,
    loss_cost,
    loss_input,
    loss_other,
    loss_over,
    loss_tolerance,
    one_large_cases,
    one_large_losses,
    reduced,
)
from problems.kit.pointwise.unary import drawn

CASES = (
    *loss_cases(dtype=FLOATS, weight="none", pos_weight="none"),
    *loss_over(Tier.FULL, "{shape} {dtype} weight {weight} pos_weight {pos_weight} {layout}", shape=(13, 31),
               dtype=[F32, BF16], weight=["none", "shape", "row"], pos_weight=["none", "row"], reduction=1,
               layout=Layout.IRREGULAR, other_layout=Layout.IRREGULAR),
    *loss_over(Tier.FULL, "{shape} {dtype} weight {weight} pos_weight {pos_weight}", shape=(13, 31), dtype=FLOATS,
               weight=["shape", "row"], pos_weight=["shape", "row"]),
    *one_large_cases(weight="none", pos_weight="none"),
)  # fmt: skip

_SPECIAL = (Special.NAN, Special.INF, Special.NEGATIVE_INF, Special.NEGATIVE_ZERO)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self, target: `shape`; weight and pos_weight: None, `shape` or a vector along the last dimension; reduction.

    "one large" losses are `one_large_losses`.
    """
    x, target = loss_input(case, rng, special=_SPECIAL), loss_other(case, rng, draw=torch.sigmoid)
    if case.word("values") == "one large":
        x, target = -logits_of(one_large_losses(case, rng)).to(x.dtype), torch.ones_like(target)
    weight, pos_weight = (_weight(case, rng, case.word(name)) for name in ("weight", "pos_weight"))
    return x, target, weight, pos_weight, case.size("reduction")


def reference(
    x: torch.Tensor,
    target: torch.Tensor,
    weight: torch.Tensor | None = None,
    pos_weight: torch.Tensor | None = None,
    reduction: int = 1,
) -> torch.Tensor:
    """The shape of self, or a scalar; computed in float64."""
    x64, t = x.double(), target.double()
    scale = 1 if pos_weight is None else 1 + (pos_weight.double() - 1) * t
    loss = (1 - t) * x64 - scale * torch.nn.functional.logsigmoid(x64)
    return reduced(loss if weight is None else loss * weight.double(), reduction, x.dtype)


def eager(
    x: torch.Tensor,
    target: torch.Tensor,
    weight: torch.Tensor | None = None,
    pos_weight: torch.Tensor | None = None,
    reduction: int = 1,
) -> torch.Tensor:
    """PyTorch's operator."""
    answer: torch.Tensor = torch.ops.aten.binary_cross_entropy_with_logits(x, target, weight, pos_weight, reduction)
    return answer


def tolerance(case: Case) -> Tolerance:
    """Three times that of other losses: weights and logarithm may each be rounded."""
    honest = loss_tolerance(case)
    return Tolerance(relative=3 * honest.relative, absolute=3 * honest.absolute)


def cost(case: Case) -> Cost:
    """8 operations per element, and one for a mean or sum."""
    return loss_cost(case, tensors=2, operations=8)


def _weight(case: Case, rng: torch.Generator, form: str) -> torch.Tensor | None:
    """Positive weights."""
    shape = case.shape("shape")
    if form == "none":
        return None
    values = drawn(shape if form == "shape" else shape[-1:], case.dtype, rng, draw=torch.sigmoid)
    return laid_out(2 * values, case.word("other_layout"))


PROBLEM = ProblemDefinition(
    name="aten::binary_cross_entropy_with_logits",
    entry="binary_cross_entropy_with_logits",
    signature=(
        "binary_cross_entropy_with_logits(self: Tensor, target: Tensor, "
        "weight: Tensor | None = None, pos_weight: Tensor | None = None, reduction: int = 1) -> Tensor"
    ),
    summary="BCE on logits with weight, pos_weight and reduction",
    category=Category.LOSS,
    second_oracle="PyTorch's binary_cross_entropy_with_logits, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
