"""Quantisation to int8: q = saturate(round(input / s) + azp), row by row; returns (q, s, azp).

With `scale`, one float32, s is that, and azp is `azp`, one int32, or 0 for None.  Without it each row has its own: if
symmetric, s = max |input| / 127 and azp = 0; else s = (max - min) / 255 and azp = round(-128 - min / s).  Rounding is
to the nearest, and q saturates at -128 and 127.  s is returned as (rows, 1) float32, or as it was given, azp as (rows,
1) int32 or as it was given; without azp the answer is (q, s), where vLLM has None as third value.  A row of zeros has s
= 0 and q = 0 if symmetric; else a row has at least two different values.  symmetric is true where azp is None and scale
is given.

input: (rows, columns) of float32, float16 or bfloat16, any strides.  A quotient within rounding of the middle between
two levels may have either.  Infinities saturate where the scale is given; other uses of NaN and infinities are outside
of the contract.
"""

from __future__ import annotations

from functools import partial

from engine.model import CalledCase, Case, Category, Cost, OutputMatch, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, cases_over, laid_out, mixed, rounded, torch
from problems.kit.inference.steps import COARSE_INPUTS, FEW_TIES, compared, quantised, quantised_eagerly, settled_rows

_over = partial(cases_over, symmetric=True, static=False, values="mixed", layout=Layout.CONTIGUOUS)
_MODES = "symmetric {symmetric} static {static}"

CASES = (
    *_over(Tier.SMOKE, f"{{shape}} {{dtype}} {_MODES}", shape=(7, 497), dtype=F32, symmetric=[True, False]),
    *_over(Tier.SMOKE, f"{{shape}} {{dtype}} {_MODES}", shape=(5, 130), dtype=BF16, static=True),
    *_over(Tier.FULL, f"{{shape}} {{dtype}} {_MODES}", shape=(9, 513), dtype=FLOATS, symmetric=[True, False],
           static=[True, False]),
    *_over(Tier.FULL, "{shape} {dtype}", shape=[(0, 32), (1, 1), (1, 32), (7, 127), (7, 128), (7, 129)], dtype=F32),
    *_over(Tier.FULL, f"{{shape}} {{dtype}} {_MODES}", shape=(2, 8192), dtype=F16, symmetric=[True, False]),
    *_over(Tier.FULL, f"{{shape}} {{dtype}} {_MODES} {{layout}}", shape=(5, 65), dtype=[F32, BF16],
           symmetric=[True, False], static=[True, False], layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{shape} {dtype} {values}", shape=(5, 65), dtype=F32, values="zeros"),
    *_over(Tier.BENCH, f"{{shape}} {{dtype}} {_MODES}", shape=(5333, 8192), dtype=BF16, symmetric=[True, False]),
    *_over(Tier.BENCH, f"{{shape}} {{dtype}} {_MODES}", shape=(1024, 4096), dtype=F16, static=True),
)  # fmt: skip

_SCALE, _ZERO_POINT, _TIE_MARGIN = 0.0213, -11, 0.02
_LEAST, _LEVELS = -128, 255


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """input: (rows, columns), scale: (1,) or None, azp: (1,) or None, symmetric.

    No row has a zero point within 0.02 of the midpoint of two integers; "zeros" has some rows of zeros.
    """
    rows, columns = case.shape("shape")
    symmetric = case.claim("symmetric")

    def draw(count: int) -> torch.Tensor:
        return mixed((count, columns), case.dtype, rng, mean=0.0 if symmetric else 0.7)

    x = draw(rows) if symmetric else settled_rows(rows, draw, _is_settled)
    if case.word("values") == "zeros":
        x[::2] = 0
    scale = torch.tensor([_SCALE]) * (0.5 + torch.rand(1, generator=rng))
    azp = torch.tensor([_ZERO_POINT], dtype=torch.int32)
    x, scale, azp = (laid_out(tensor, case.word("layout")) for tensor in (x, scale, azp))
    is_static = case.claim("static")
    return x, scale if is_static else None, azp if is_static and not symmetric else None, symmetric


def reference(
    input: torch.Tensor, scale: torch.Tensor | None = None, azp: torch.Tensor | None = None, symmetric: bool = True
) -> tuple[torch.Tensor, ...]:
    """(rows, columns) int8, the scales and, where there are any, the zero points; in float64."""
    x = input.double()
    s, z = _scales(x, scale, azp, symmetric)
    zero = torch.zeros_like(x) if z is None else z.double()
    q = quantised((x / s.double()).nan_to_num(nan=0.0).round() + zero, torch.int8)
    return (q, s) if z is None else (q, s, z)


def eager(
    input: torch.Tensor, scale: torch.Tensor | None = None, azp: torch.Tensor | None = None, symmetric: bool = True
) -> tuple[torch.Tensor, ...]:
    """The same in float32, with a reciprocal."""
    x = input.float()
    s, z = _scales(x, scale, azp, symmetric)
    q = (x * torch.where(s == 0, 0, 1 / s)).round()
    q = quantised_eagerly(q if z is None else q + z, torch.int8)
    return (q, s) if z is None else (q, s, z)


def tolerance(case: Case) -> Tolerance:
    """For the scales; the quantised values are compared in steps."""
    return rounded(F32)


def compare(called: CalledCase) -> tuple[OutputMatch, ...]:
    """At most one step off, and only for a small share; scales as float32 gives them."""
    share = FEW_TIES if called.case.dtype is F32 else COARSE_INPUTS
    return compared(called, share=share, scale_error=rounded(F32).relative)


def cost(case: Case) -> Cost:
    """Three operations per element for its row's range and its quotient."""
    rows, columns = case.shape("shape")
    made = 0 if case.claim("static") else 4 * rows * (1 if case.claim("symmetric") else 2)
    elements = rows * columns
    return Cost(flops=3 * elements, bytes_read=elements * case.dtype.bytes, bytes_written=elements + made)


def _scales(
    x: torch.Tensor, scale: torch.Tensor | None, azp: torch.Tensor | None, symmetric: bool
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """float32 scales, int32 zero points; computed in the dtype of x."""
    if scale is not None:
        return scale, azp
    if symmetric:
        return (x.abs().amax(1, keepdim=True) / 127).float(), None
    least, largest = x.aminmax(dim=1, keepdim=True)
    s = (largest - least) / _LEVELS
    return s.float(), (_LEAST - least / s).round().int()


def _is_settled(x: torch.Tensor) -> torch.Tensor:
    """Whether the zero point of a row does not depend on rounding."""
    least, largest = x.double().aminmax(dim=1)
    offset = least / ((largest - least) / _LEVELS)
    return ((offset - offset.floor()) - 0.5).abs() > _TIE_MARGIN


PROBLEM = ProblemDefinition(
    name="vllm::scaled_int8_quant",
    entry="scaled_int8_quant",
    signature=(
        "scaled_int8_quant(input: Tensor, scale: Tensor | None = None, azp: Tensor | None = None, "
        "symmetric: bool = True) -> tuple[Tensor, ...]"
    ),
    summary="INT8 quantisation, static or dynamic per token, symmetric or with zero point",
    category=Category.QUANTISATION,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    returns=None,
    compare=compare,
    cannot_reject={
        "nan_dropped": "the quantised value of NaN is unspecified",
        "infinities_clamped": "an infinity and the largest number saturate alike",
    },
)
