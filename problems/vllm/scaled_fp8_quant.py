"""Quantisation to e4m3fn: q = round(saturate(input / s)), returned as (q, s) with s the scale.

With `scale`, one float32 of shape (1,) or (1, 1), s is that, and is returned as it was given.  Without it s is max
|input| / 448, of shape (1,); if use_per_token_if_dynamic each row has its own, of shape (rows, 1), which is at least 1
/ (448 * 512); with scale_ub, one float32, it is min(max |input|, scale_ub) / 448.  Quotients beyond 448 saturate;
rounding is to the nearest.  q has as many rows as the input, or num_token_padding where that is more; the additional
rows may hold anything.  output, memory for q, is None.

input: (rows, columns) of float32, float16 or bfloat16, any strides, with at least one number that is not 0.  A quotient
within rounding of the middle between two values may have either.  Infinities saturate where the scale is given; other
uses of NaN and infinities are outside of the contract.
"""

from __future__ import annotations

from functools import partial

from engine.model import CalledCase, Case, Category, Cost, OutputMatch, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, cases_over, laid_out, mixed, rounded, torch
from problems.kit.inference.fp8 import E4M3_MAX
from problems.kit.inference.steps import COARSE_INPUTS, FEW_TIES, compared, quantised, quantised_eagerly

_over = partial(cases_over, scale="dynamic", padding=-1, bound=False, layout=Layout.CONTIGUOUS, values="mixed")

CASES = (
    *_over(Tier.SMOKE, "{shape} {dtype} {scale}", shape=(7, 497), dtype=F32, scale=["dynamic", "per token"]),
    *_over(Tier.SMOKE, "{shape} {dtype} {scale}", shape=(5, 130), dtype=BF16, scale="static"),
    *_over(Tier.FULL, "{shape} {dtype} {scale}", shape=(9, 513), dtype=FLOATS,
           scale=["dynamic", "per token", "static", "static 2d"]),
    *_over(Tier.FULL, "{shape} {dtype} {scale}", shape=[(1, 1), (1, 32), (7, 127), (7, 128), (7, 129)], dtype=F32),
    *_over(Tier.FULL, "{shape} {dtype} {scale}", shape=[(2, 8192), (71, 65)], dtype=F16, scale="per token"),
    *_over(Tier.FULL, "{shape} {dtype} {scale} padded to {padding}", shape=(5, 65), dtype=[F32, BF16],
           scale=["dynamic", "per token", "static"], padding=[0, 16]),
    *_over(Tier.FULL, "{shape} {dtype} {scale} bounded", shape=(9, 65), dtype=FLOATS, scale="per token", bound=True),
    *_over(Tier.FULL, "{shape} {dtype} {scale} {layout}", shape=(5, 65), dtype=[F32, BF16],
           scale=["dynamic", "static"], layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{shape} {dtype} {scale} bounded {layout}", shape=(5, 65), dtype=F32, scale="per token",
           bound=True, layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{shape} {dtype} {scale} {values}", shape=(5, 65), dtype=FLOATS, scale="per token",
           values="zeros"),
    *_over(Tier.BENCH, "{shape} {dtype} {scale}", shape=(5333, 8192), dtype=BF16, scale=["dynamic", "per token"]),
    *_over(Tier.BENCH, "{shape} {dtype} {scale}", shape=(1024, 4096), dtype=F16, scale="static"),
)  # fmt: skip

_SCALE, _BOUND, _LEAST_SCALE = 0.0113, 1.5, 1 / (448 * 512)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """input: (rows, columns), scale: (1,) or (1, 1) or None, the padded rows or None, scale_ub: (1,) or None.

    "zeros" has every other row 0, for which the scale has its least value.
    """
    rows, columns = case.shape("shape")
    kind, padding = case.word("scale"), case.size("padding")
    values = mixed((rows, columns), case.dtype, rng)
    if case.word("values") == "zeros":
        values[::2] = 0
    scale = torch.tensor([_SCALE]) * (0.5 + torch.rand(1, generator=rng))
    scale = scale.reshape(1, 1) if kind == "static 2d" else scale
    x, scale, bound = (laid_out(tensor, case.word("layout")) for tensor in (values, scale, torch.tensor([_BOUND])))
    return (
        x, scale if kind.startswith("static") else None, padding if padding >= 0 else None,
        bound if case.claim("bound") else None, kind == "per token", None,
    )  # fmt: skip


def reference(
    input: torch.Tensor,
    scale: torch.Tensor | None = None,
    num_token_padding: int | None = None,
    scale_ub: torch.Tensor | None = None,
    use_per_token_if_dynamic: bool = False,
    output: None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The codes and the scale, in float64; padding is zero."""
    x = input.double()
    s = _scale(x, scale, scale_ub, use_per_token_if_dynamic)
    return _padded(quantised(x / s.double(), torch.float8_e4m3fn), num_token_padding), s


def eager(
    input: torch.Tensor,
    scale: torch.Tensor | None = None,
    num_token_padding: int | None = None,
    scale_ub: torch.Tensor | None = None,
    use_per_token_if_dynamic: bool = False,
    output: None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same in float32, with a reciprocal."""
    x = input.float()
    s = _scale(x, scale, scale_ub, use_per_token_if_dynamic)
    return _padded(quantised_eagerly(x * (1 / s), torch.float8_e4m3fn), num_token_padding), s


def tolerance(case: Case) -> Tolerance:
    """For the scale; the quantised values are compared in steps."""
    return rounded(F32)


def compare(called: CalledCase) -> tuple[OutputMatch, ...]:
    """At most one step off, and only for a small share; the scale as float32 gives it; no padding."""
    rows, _ = called.case.shape("shape")
    share = FEW_TIES if called.case.dtype is F32 else COARSE_INPUTS
    return compared(called, share=share, scale_error=rounded(F32).relative, rows=rows)


def cost(case: Case) -> Cost:
    """Three operations per element for its row's range and its quotient."""
    rows, columns = case.shape("shape")
    scales = {"dynamic": 1, "per token": rows}.get(case.word("scale"), 0)
    elements = rows * columns
    return Cost(flops=3 * elements, bytes_read=elements * case.dtype.bytes, bytes_written=elements + 4 * scales)


def _scale(x: torch.Tensor, scale: torch.Tensor | None, bound: torch.Tensor | None, per_token: bool) -> torch.Tensor:
    """float32; computed in the dtype of x."""
    if scale is not None:
        return scale
    if not per_token:
        return (x.abs().amax() / E4M3_MAX).float().reshape(1)
    largest = x.abs().amax(1, keepdim=True)
    largest = largest if bound is None else torch.minimum(largest, bound.to(x.dtype))
    return (largest / E4M3_MAX).clamp(min=_LEAST_SCALE).float()


def _padded(q: torch.Tensor, rows: int | None) -> torch.Tensor:
    if rows is None or rows <= len(q):
        return q
    padding = torch.zeros((rows - len(q), q.shape[1]), dtype=torch.uint8, device=q.device)
    return torch.cat((q.view(torch.uint8), padding)).view(torch.float8_e4m3fn)


PROBLEM = ProblemDefinition(
    name="vllm::scaled_fp8_quant",
    entry="scaled_fp8_quant",
    signature=(
        "scaled_fp8_quant(input: Tensor, scale: Tensor | None = None, num_token_padding: int | None = None, "
        "scale_ub: Tensor | None = None, use_per_token_if_dynamic: bool = False, "
        "output: Tensor | None = None) -> tuple[Tensor, Tensor]"
    ),
    summary="FP8 quantisation, static scale or dynamic per-tensor/per-token",
    category=Category.QUANTISATION,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    returns=2,
    compare=compare,
    cannot_reject={
        "nan_dropped": "the quantised value of NaN is unspecified",
        "infinities_clamped": "an infinity and the largest number saturate alike",
    },
)
