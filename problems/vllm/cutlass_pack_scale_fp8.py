"""Multiples of scales for a lookup table: out[8 i + j] = round(saturate(scales[i] * (j - 8))) for j = 0 to 7.

scales: (r, c), e4m3fn, of any strides, i counts them row by row; out: (8 r c,), e4m3fn.  Only the multiples by -8 to -1
are stored, since those by 1 to 7 have the opposite sign (CUTLASS, mixed-input examples).  Products are rounded to the
nearest, ties to even, and saturate at 448; NaN gives NaN.
"""

from __future__ import annotations

from functools import partial

from engine.model import CalledCase, Case, Category, Cost, DType, OutputMatch, ProblemDefinition, Tier
from problems.kit import Arguments, Layout, cases_over, torch
from problems.kit.inference.arguments import arranged, exact
from problems.kit.inference.fp8 import E4M3_MAX, e4m3_codes, e4m3_values

_over = partial(cases_over, dtype=DType.FLOAT8_E4M3FN, values="usual", layout=Layout.CONTIGUOUS)

CASES = (
    *_over(Tier.SMOKE, "{shape}", shape=[(4, 4), (3, 11)]),
    *_over(Tier.FULL, "{shape}", shape=[(0, 4), (1, 1), (1, 4), (7, 127), (7, 128), (7, 129), (32, 8), (64, 16)]),
    *_over(Tier.FULL, "{shape} {layout}", shape=[(5, 9), (3, 33)], layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{shape} {values}", shape=[(16, 16), (9, 65)], values="any code"),
    *_over(Tier.BENCH, "{shape}", shape=[(32, 4096), (128, 8192)]),
)

_MULTIPLES = 8


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """scales: (r, c), about 1; "any code" has NaN, zeros of both signs, subnormals, and products that saturate."""
    rows, columns = case.shape("shape")
    if case.word("values") == "any code":
        codes = torch.randint(0, 256, (rows, columns), generator=rng, dtype=torch.uint8)
        codes.view(-1)[:2] = torch.tensor([0x7F, 0xFF], dtype=torch.uint8)
    else:
        codes = torch.randint(0x28, 0x48, (rows, columns), generator=rng, dtype=torch.uint8)
    return tuple(tensor.view(torch.float8_e4m3fn) for tensor in arranged(case, codes))


def reference(scales: torch.Tensor) -> torch.Tensor:
    """(r, c) -> (8 r c,) in float64, rounded once."""
    factors = torch.arange(-_MULTIPLES, 0, dtype=torch.float64, device=scales.device)
    products = e4m3_values(scales.view(torch.uint8)).flatten().unsqueeze(1) * factors
    return e4m3_codes(products.flatten()).view(torch.float8_e4m3fn)


def eager(scales: torch.Tensor) -> torch.Tensor:
    """In float32 with PyTorch's conversions."""
    factors = torch.arange(-_MULTIPLES, 0, device=scales.device)
    products = scales.float().flatten().unsqueeze(1) * factors
    return products.flatten().clamp(-E4M3_MAX, E4M3_MAX).to(torch.float8_e4m3fn)


def compare(called: CalledCase) -> tuple[OutputMatch, ...]:
    """Bitwise equality except for the sign of NaN."""
    got, wanted = called.outputs[0], called.expected[0]
    same = (got.view(torch.uint8) == wanted.view(torch.uint8)) | (got.float().isnan() & wanted.float().isnan())
    return (OutputMatch(wrong=~same),)


def cost(case: Case) -> Cost:
    """Eight products for each scale."""
    rows, columns = case.shape("shape")
    return Cost(flops=_MULTIPLES * rows * columns, bytes_read=rows * columns, bytes_written=_MULTIPLES * rows * columns)


PROBLEM = ProblemDefinition(
    name="vllm::cutlass_pack_scale_fp8",
    entry="cutlass_pack_scale_fp8",
    signature="cutlass_pack_scale_fp8(scales: Tensor) -> Tensor",
    summary="Expand each FP8 group scale into the lookup table that the CUTLASS W4A8 kernel reads",
    category=Category.WEIGHT_REPACK,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    compare=compare,
    cannot_reject={"infinities_clamped": "the format has no infinity"},
)
