"""Penalty for tokens seen before: logits[b, v] = logits[b, v] / p if logits[b, v] > 0 else logits[b, v] * p.

It applies where prompt_mask[b, v] or output_mask[b, v] is true, with p = repetition_penalties[b]; other logits keep
their value.  The logits are float32, float16 or bfloat16 and updated in place, the penalties have their dtype and are
positive; the masks are bool.  All tensors may have any strides.  NaN stays NaN and infinities stay unchanged. A
division may be computed as a product with the reciprocal; subnormal values may be flushed to zero.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, ProblemDefinition, Tier, Tolerance
from problems.kit import (
    BF16,
    F16,
    F32,
    FLOATS,
    Arguments,
    Layout,
    Special,
    cases_over,
    mixed,
    rounded,
    scattered,
    torch,
    torch_dtype,
)
from problems.kit.inference.arguments import arranged

_over = partial(cases_over, seen="some", values="mixed", layout=Layout.CONTIGUOUS)
_SPECIAL = [Special.NAN, Special.INF, Special.NEGATIVE_INF, Special.NEGATIVE_ZERO, Special.SUBNORMAL]

CASES = (
    *_over(Tier.SMOKE, "{shape} {dtype}", shape=(4, 100), dtype=[F32, BF16]),
    *_over(Tier.SMOKE, "{shape} {dtype}", shape=(3, 257), dtype=F16),
    *_over(Tier.FULL, "{shape} {dtype}", shape=[(0, 32), (1, 1), (1, 32), (7, 127), (7, 128), (7, 129)], dtype=F32),
    *_over(Tier.FULL, "{shape} {dtype}", shape=[(31, 512), (2, 8191), (128, 33)], dtype=FLOATS),
    *_over(Tier.FULL, "{shape} {dtype} {seen} seen", shape=(5, 130), dtype=F32, seen=["none", "all"]),
    *_over(Tier.FULL, "{shape} {dtype} {layout}", shape=(7, 65), dtype=FLOATS, layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{shape} {dtype} {values}", shape=(7, 65), dtype=FLOATS, values="special", seen="most"),
    *_over(Tier.BENCH, "{shape} {dtype}", shape=[(256, 32000), (1024, 32000)], dtype=[F32, BF16]),
)

_SHARES = {"none": 0.0, "some": 0.2, "most": 0.7, "all": 1.0}


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """logits: (B, V), prompt_mask and output_mask: (B, V), repetition_penalties: (B,), from 0.5 to 2."""
    shape = case.shape("shape")
    logits = mixed((shape[0], shape[1]), case.dtype, rng)
    if case.word("values") == "special":
        logits = scattered(logits, rng, values=_SPECIAL, each=6)
    share = _SHARES[case.word("seen")]
    prompt, output = (torch.rand(shape, generator=rng) < share for _ in range(2))
    penalties = torch.exp2(torch.rand(shape[0], generator=rng) * 2 - 1).to(torch_dtype(case.dtype))
    return arranged(case, logits, prompt, output, penalties)


def reference(
    logits: torch.Tensor, prompt_mask: torch.Tensor, output_mask: torch.Tensor, repetition_penalties: torch.Tensor
) -> torch.Tensor:
    """The final logits, computed in float64."""
    x, p = logits.double(), repetition_penalties.double().unsqueeze(1)
    penalised = torch.where(x > 0, x / p, x * p)
    return torch.where(prompt_mask | output_mask, penalised, x).to(logits.dtype)


def eager(
    logits: torch.Tensor, prompt_mask: torch.Tensor, output_mask: torch.Tensor, repetition_penalties: torch.Tensor
) -> None:
    """One factor per logit, then a product."""
    p = torch.where(prompt_mask | output_mask, repetition_penalties.unsqueeze(1), 1.0)
    logits *= torch.where(logits > 0, 1.0 / p, p)


def tolerance(case: Case) -> Tolerance:
    """A reciprocal in the dtype of the logits, and a product with it."""
    return rounded(case.dtype, roundings=2)


def cost(case: Case) -> Cost:
    """Two operations per logit: a comparison and a product."""
    batch, words = case.shape("shape")
    element_bytes = case.dtype.bytes
    return Cost(
        flops=2 * batch * words,
        bytes_read=batch * words * (element_bytes + 2) + batch * element_bytes,
        bytes_written=batch * words * element_bytes,
    )


PROBLEM = ProblemDefinition(
    name="vllm::apply_repetition_penalties_cuda",
    entry="apply_repetition_penalties_cuda",
    signature=(
        "apply_repetition_penalties_cuda(logits: Tensor, prompt_mask: Tensor, output_mask: Tensor, "
        "repetition_penalties: Tensor) -> None"
    ),
    summary="For tokens seen in prompt or output: divide positive logits by the penalty, multiply the others by it",
    category=Category.SAMPLING,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    returns=0,
    mutates=("logits",),
)
