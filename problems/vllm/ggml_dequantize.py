"""Values of GGML blocks: out[i, 32 b + j] = d * (code[j] - middle) + offset, for block b of row i of W.

W: (m, n / 32 * block bytes), uint8, in any strides.  quant_type is 8 (Q8_0: d in float16, then 32 signed bytes) or 2
(Q4_0: d, then 16 bytes with value j in the lower half of byte j and value j + 16 in its upper half, middle 8), as also
3 (Q4_1: d, offset in float16, 16 bytes), 6 (Q5_0: d, 4 bytes whose bit j, little-endian, is the fifth bit of value j,
16 bytes, middle 16) and 7 (Q5_1: d, offset, 4 bytes, 16 bytes).  The other formats of vLLM are outside of the contract.
The answer, (m, n), is of dtype float16, bfloat16 or float32, float16 for None, rounded once.  Scales of NaN and
infinity follow IEEE arithmetic, and so inf * 0 is NaN.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, cases_over, rounded, torch, torch_dtype
from problems.kit.inference.arguments import NO_FLOATS, arranged
from problems.kit.inference.ggml import decoded, drawn, row_bytes

_over = partial(cases_over, named=True, values="usual", layout=Layout.CONTIGUOUS)
_SIZES = "{m}x{n} type {type} {dtype}"

CASES = (
    *_over(Tier.SMOKE, _SIZES, m=3, n=64, type=8, dtype=[F16, F32]),
    *_over(Tier.SMOKE, _SIZES, m=5, n=32, type=2, dtype=F16),
    *_over(Tier.FULL, _SIZES, m=4, n=96, type=[2, 3, 6, 7, 8], dtype=FLOATS),
    *_over(Tier.FULL, _SIZES, m=[0, 1, 127, 129], n=32, type=[2, 8], dtype=F16),
    *_over(Tier.FULL, _SIZES, m=2, n=[1024, 4128], type=8, dtype=BF16),
    *_over(Tier.FULL, f"{_SIZES} by default", m=3, n=64, type=8, dtype=F16, named=False),
    *_over(Tier.FULL, f"{_SIZES} {{layout}}", m=3, n=64, type=[2, 8], dtype=F16, layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", m=7, n=64, type=[2, 8], dtype=[F16, F32], values="special"),
    *_over(Tier.BENCH, _SIZES, m=4096, n=4096, type=[2, 8], dtype=F16),
)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """W, quant_type, m, n, dtype.

    The rows of "special" weights begin with a scale of NaN, infinities, zeros, a subnormal and the largest number.
    """
    m, n, kind = case.size("m"), case.size("n"), case.size("type")
    weights = drawn((m, n), kind, rng)
    if case.word("values") == "special":
        scales = torch.tensor([torch.nan, torch.inf, -torch.inf, 0.0, -0.0, 6e-8, 65504.0]).half()
        weights[:, :2] = scales[:, None].view(torch.uint8)
    return *arranged(case, weights), kind, m, n, torch_dtype(case.dtype) if case.claim("named") else None


def reference(w: torch.Tensor, quant_type: int, m: int, n: int, dtype: torch.dtype | None = None) -> torch.Tensor:
    """(m, n) in float64, rounded."""
    return decoded(w, quant_type, torch.float64).to(dtype or torch.float16)


def eager(w: torch.Tensor, quant_type: int, m: int, n: int, dtype: torch.dtype | None = None) -> torch.Tensor:
    """Computed in float32."""
    return decoded(w, quant_type, torch.float32).to(dtype or torch.float16)


def tolerance(case: Case) -> Tolerance:
    """A product and, in formats with an offset, a sum in float32, rounded once."""
    return rounded(case.dtype)


def cost(case: Case) -> Cost:
    """One subtraction and one product per value; every byte is read once."""
    m, n = case.size("m"), case.size("n")
    return Cost(flops=2 * m * n, bytes_read=m * row_bytes(case.size("type"), n), bytes_written=m * n * case.dtype.bytes)


PROBLEM = ProblemDefinition(
    name="vllm::ggml_dequantize",
    entry="ggml_dequantize",
    signature="ggml_dequantize(W: Tensor, quant_type: int, m: int, n: int, dtype: dtype | None = None) -> Tensor",
    summary="Decode GGML blocks, such as Q8_0 with its float16 scale and 32 int8, to floats",
    category=Category.DEQUANTISATION,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    cannot_reject={
        **NO_FLOATS,
        "bfloat16_arithmetic": "no argument is a floating point tensor",
        "tensorfloat32_arithmetic": "no argument is a floating point tensor",
    },
)
