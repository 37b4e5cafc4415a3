"""Sum of the outputs of the experts of a token: output[t, h] = sum_j input[t, j, h].

Elements of float16, bfloat16 or float32, both tensors of one dtype and of any strides; from 1 to 64 experts for a
token.  Sums are carried in float32 or better and rounded once.  NaN and infinities follow IEEE arithmetic; subnormal
values may be flushed to zero.
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
    normal,
    rounded,
    special_rows,
    torch,
)
from problems.kit.inference.arguments import arranged

_over = partial(cases_over, values="mixed", layout=Layout.CONTIGUOUS)
_SIZES = "{tokens}x{k}x{width}"
_LINES = [Special.NAN, Special.INF, Special.NEGATIVE_INF, Special.BOTH_INF, Special.ALL_NEGATIVE_ZERO, Special.LARGE]

CASES = (
    *_over(Tier.SMOKE, f"{_SIZES} {{dtype}}", tokens=5, k=2, width=72, dtype=[F32, BF16]),
    *_over(Tier.SMOKE, f"{_SIZES} {{dtype}}", tokens=3, k=4, width=33, dtype=F16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", tokens=[0, 1], k=2, width=32, dtype=F16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", tokens=7, k=[1, 3, 6, 9], width=129, dtype=[F32, BF16]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", tokens=31, k=4, width=[1, 127, 128], dtype=F16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", tokens=2, k=8, width=4099, dtype=FLOATS),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", tokens=3, k=64, width=65, dtype=[F16, BF16]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{layout}}", tokens=5, k=3, width=33, dtype=FLOATS,
           layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{values}}", tokens=4, k=5, width=40, dtype=FLOATS, values="special"),
    *_over(Tier.BENCH, f"{_SIZES} {{dtype}}", tokens=1024, k=[2, 4], width=4096, dtype=[F16, BF16]),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """input: (T, k, H), output: (T, H), overwritten; each "special" sum has one kind of special term."""
    tokens, k, width = case.size("tokens"), case.size("k"), case.size("width")
    terms = mixed((tokens, k, width), case.dtype, rng)
    if case.word("values") == "special":
        terms = special_rows(terms, rng, rows=_LINES, dim=1)
    return arranged(case, terms, normal((tokens, width), case.dtype, rng))


def reference(input: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
    """The final output, summed in float64."""
    return input.double().sum(1).to(output.dtype)


def eager(input: torch.Tensor, output: torch.Tensor) -> None:
    """torch.sum, which carries sums of 16-bit elements in float32."""
    torch.sum(input, dim=1, out=output)


def tolerance(case: Case) -> Tolerance:
    """A sum of k terms, carried in float32 and rounded once."""
    return rounded(case.dtype, terms=case.size("k"))


def cost(case: Case) -> Cost:
    """One addition per element."""
    tokens, k, width = case.size("tokens"), case.size("k"), case.size("width")
    element_bytes = case.dtype.bytes
    return Cost(
        flops=tokens * k * width,
        bytes_read=tokens * k * width * element_bytes,
        bytes_written=tokens * width * element_bytes,
    )


PROBLEM = ProblemDefinition(
    name="vllm::moe_sum",
    entry="moe_sum",
    signature="moe_sum(input: Tensor, output: Tensor) -> None",
    summary="Sum the top-k expert outputs of each token",
    category=Category.MOE_COMBINE,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    returns=0,
    mutates=("output",),
    written_only=("output",),
)
