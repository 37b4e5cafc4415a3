"""Merge of two partial attentions: output = (e^p * prefix_output + e^s * suffix_output) / (e^p + e^s).

p = prefix_lse[h, t] and s = suffix_lse[h, t] are the logarithms of the sums of the exponentials of each part, float32;
output_lse[h, t] = log(e^p + e^s) is written where the argument is not None.  A part without keys has -inf, and +inf
counts as -inf, as some attention kernels return it.  Where both are -inf the output is prefix_output and output_lse is
-inf.  A part of weight 0 has no influence if its elements are finite.  Outputs are float32, float16 or bfloat16, all
tensors in any strides.  NaN of a part or its lse gives NaN; infinities of the outputs follow IEEE arithmetic; subnormal
values may be flushed to zero.
"""

from __future__ import annotations

import math
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
    cancelling,
    cases_over,
    laid_out,
    mixed,
    normal,
    rounded,
    scattered,
    torch,
)
from problems.kit.tolerances import of_few

_over = partial(cases_over, lse=True, values="mixed", layout=Layout.CONTIGUOUS)
_SIZES = "{tokens}x{heads}x{head_size}"
_SPECIAL = [Special.NAN, Special.INF, Special.NEGATIVE_INF, Special.NEGATIVE_ZERO, Special.SUBNORMAL]

CASES = (
    *_over(Tier.SMOKE, f"{_SIZES} {{dtype}}", tokens=5, heads=3, head_size=16, dtype=[F32, BF16]),
    *_over(Tier.SMOKE, f"{_SIZES} {{dtype}} without lse", tokens=3, heads=2, head_size=32, dtype=F16, lse=False),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", tokens=[0, 1], heads=1, head_size=32, dtype=F32),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", tokens=7, heads=5, head_size=[8, 65, 128], dtype=FLOATS),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", tokens=[31, 33], heads=4, head_size=64, dtype=BF16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} without lse", tokens=9, heads=3, head_size=24, dtype=[F32, F16], lse=False),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{values}}", tokens=9, heads=4, head_size=16, dtype=FLOATS,
           values=["no keys", "far apart", "large", "far below zero", "special"]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{layout}}", tokens=7, heads=3, head_size=24, dtype=[F32, BF16],
           layout=Layout.IRREGULAR),
    *_over(Tier.BENCH, f"{_SIZES} {{dtype}}", tokens=1024, heads=32, head_size=128, dtype=[F16, BF16]),
    *_over(Tier.BENCH, f"{_SIZES} {{dtype}}", tokens=4096, heads=16, head_size=128, dtype=BF16),
)  # fmt: skip

_FAR, _LARGE = 60.0, 5000.0
_TYPICAL = 1.5  # less than the root mean squares of outputs and of output_lse over all draws, 1.8 and 2.2


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """output, prefix_output, suffix_output: (T, H, D), prefix_lse, suffix_lse, output_lse: (H, T).

    "no keys" has -inf and +inf in one or both logarithms, "far apart" differences of about 60, "large" logarithms of
    about 5000, "far below zero" about -5000, "special" outputs and logarithms with NaN and infinities.
    """
    shape = (case.size("tokens"), case.size("heads"), case.size("head_size"))
    prefix, suffix = (mixed(shape, case.dtype, rng) for _ in range(2))
    logs = [normal((shape[1], shape[0]), F32, rng) * 2 for _ in range(2)]
    values = case.word("values")
    if values == "no keys":
        logs = _without_keys(logs, rng)
    if values == "far apart":
        logs[0] += _FAR * torch.randint(-1, 2, logs[0].shape, generator=rng)
    if values == "large":
        logs = [log + _LARGE for log in logs]
    if values == "far below zero":
        logs = [log - _LARGE for log in logs]
    if values == "special":
        prefix, suffix = scattered(prefix, rng, values=_SPECIAL), scattered(suffix, rng, values=_SPECIAL)
        logs[0] = scattered(logs[0], rng, values=[Special.NAN], each=1)
    written = normal(shape, case.dtype, rng), normal((shape[1], shape[0]), F32, rng)
    output, p_out, p_lse, s_out, s_lse, output_lse = (
        laid_out(tensor, case.word("layout")) for tensor in (written[0], prefix, logs[0], suffix, logs[1], written[1])
    )
    return output, p_out, p_lse, s_out, s_lse, output_lse if case.claim("lse") else None


def reference(
    output: torch.Tensor,
    prefix_output: torch.Tensor,
    prefix_lse: torch.Tensor,
    suffix_output: torch.Tensor,
    suffix_lse: torch.Tensor,
    output_lse: torch.Tensor | None = None,
) -> tuple[torch.Tensor, ...]:
    """The final output and, where there is one, output_lse; computed in float64."""
    merged, lse = _merged(prefix_output.double(), prefix_lse.double(), suffix_output.double(), suffix_lse.double())
    return (merged.to(output.dtype),) if output_lse is None else (merged.to(output.dtype), lse.float())


def eager(
    output: torch.Tensor,
    prefix_output: torch.Tensor,
    prefix_lse: torch.Tensor,
    suffix_output: torch.Tensor,
    suffix_lse: torch.Tensor,
    output_lse: torch.Tensor | None = None,
) -> None:
    """Computed in float32."""
    merged, lse = _merged(prefix_output.float(), prefix_lse, suffix_output.float(), suffix_lse)
    output.copy_(merged)
    if output_lse is not None:
        output_lse.copy_(lse)


def tolerance(case: Case) -> Tolerance:
    """Two rounded products that may cancel; float32 weights from exponentials of differences.

    output_lse is the sum of a logarithm of the inputs and one of weights, which may cancel, too.
    """
    usual = cancelling(case.dtype)
    if case.dtype is F32:
        usual = Tolerance(relative=rounded(F32, roundings=4, terms=4).relative, absolute=usual.absolute)
    sums = case.size("tokens") * case.size("heads")
    return of_few(usual, outputs=sums, scale=_TYPICAL) if case.claim("lse") else usual


def cost(case: Case) -> Cost:
    """Three operations per element: two products and a sum."""
    tokens, heads, head_size = case.size("tokens"), case.size("heads"), case.size("head_size")
    elements, logs = tokens * heads * head_size, tokens * heads
    return Cost(
        flops=3 * elements,
        bytes_read=2 * elements * case.dtype.bytes + 8 * logs,
        bytes_written=elements * case.dtype.bytes + (4 * logs if case.claim("lse") else 0),
    )


def _without_keys(logs: list[torch.Tensor], rng: torch.Generator) -> list[torch.Tensor]:
    """About a quarter of each replaced by -inf or +inf; for the first token in both."""
    made = []
    for log in logs:
        empty = torch.rand(log.shape, generator=rng) < 1 / 4
        empty[:, 0] = True
        signs = torch.where(torch.rand(log.shape, generator=rng) < 1 / 3, math.inf, -math.inf)
        made.append(torch.where(empty, signs, log))
    return made


def _merged(
    prefix: torch.Tensor, p: torch.Tensor, suffix: torch.Tensor, s: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """(T, H, D), (H, T), (T, H, D), (H, T) -> (T, H, D), (H, T), in the dtype of the inputs."""
    p, s = (log.masked_fill(log == math.inf, -math.inf) for log in (p, s))
    largest = torch.maximum(p, s)
    empty = largest == -math.inf
    shift = largest.masked_fill(empty, 0.0)
    a, b = (p - shift).exp(), (s - shift).exp()
    total = (a + b).masked_fill(empty, 1.0)
    weights = ((part / total).T.unsqueeze(-1) for part in (a, b))
    merged = prefix * next(weights) + suffix * next(weights)
    merged = torch.where(empty.T.unsqueeze(-1), prefix, merged)
    return merged, (total.log() + shift).masked_fill(empty, -math.inf)


PROBLEM = ProblemDefinition(
    name="vllm::merge_attn_states",
    entry="merge_attn_states",
    signature=(
        "merge_attn_states(output: Tensor, prefix_output: Tensor, prefix_lse: Tensor, suffix_output: Tensor, "
        "suffix_lse: Tensor, output_lse: Tensor | None = None) -> None"
    ),
    summary="Combine two partial attention results by their log-sum-exp weights",
    category=Category.ATTENTION,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    returns=0,
    mutates=("output", "output_lse"),
    written_only=("output",),
)
