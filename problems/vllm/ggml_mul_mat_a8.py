"""Product with GGML weights: out[b, r] = sum_k X[b, k] * w[r, k], w the values of the blocks of W.

W: (row, K / 32 * block bytes), uint8, X: (batch, K), out: (batch, row).  vLLM quantises activations to 8 bits first, 32
neighbours of a row at a time, with a step of 1/127 of the largest: a correct kernel may omit that step; the reference
omits it.  quant_type names the layout of a block of 32 values, little-endian: 8 (Q8_0: d in float16, then 32 signed
bytes), 2 (Q4_0: d, then 16 bytes with value j in the lower half of byte j and value j + 16 in its upper half), 3 (Q4_1:
d, offset in float16, 16 bytes), 6 (Q5_0: d, 4 bytes whose bit j is the fifth bit of value j, 16 bytes) or 7 (Q5_1: d,
offset, 4 bytes, 16 bytes).  A value is d * (code - middle) + offset, with a middle of 8 for Q4_0, 16 for Q5_0 and 0
otherwise, and an offset of 0 where there is none.  X, and the answer, are float32, float16 or bfloat16; any strides.
Activations are finite; weights have finite scales.  The columns of W are a multiple of 32.
"""

from __future__ import annotations

from functools import partial

from engine.model import Category, ProblemDefinition, Tier
from problems.kit import BF16, F16, F32, Layout, cases_over
from problems.kit.inference.ggml import (
    CANNOT_REJECT,
    ggml_tolerance,
    product_cost,
    product_eager,
    product_inputs,
    product_reference,
)

_over = partial(cases_over, layout=Layout.CONTIGUOUS, values="steps")
_SIZES = "{batch}x{k}x{row} type {type} {dtype}"

CASES = (
    *_over(Tier.SMOKE, _SIZES, batch=4, k=64, row=32, type=2, dtype=[F32, F16]),
    *_over(Tier.SMOKE, _SIZES, batch=3, k=32, row=17, type=8, dtype=F32),
    *_over(Tier.FULL, _SIZES, batch=5, k=96, row=40, type=[2, 3, 6, 7, 8], dtype=[F32, BF16]),
    *_over(Tier.FULL, _SIZES, batch=[0, 1, 33], k=128, row=64, type=2, dtype=F32),
    *_over(Tier.FULL, _SIZES, batch=2, k=512, row=[127, 129], type=2, dtype=F16),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", batch=2, k=512, row=1, type=2, dtype=F16, values=["steps", "normal"]),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", batch=4, k=256, row=33, type=[2, 8], dtype=[F32, F16],
           values="near steps"),
    *_over(Tier.FULL, f"{_SIZES} {{layout}}", batch=3, k=64, row=9, type=[2, 8], dtype=F32, layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", batch=5, k=512, row=40, type=2, dtype=[F16, BF16], values="detour"),
    *_over(Tier.BENCH, _SIZES, batch=[8, 64], k=4096, row=4096, type=[2, 8], dtype=F32, values="normal"),
)  # fmt: skip

PROBLEM = ProblemDefinition(
    name="vllm::ggml_mul_mat_a8",
    entry="ggml_mul_mat_a8",
    signature="ggml_mul_mat_a8(W: Tensor, X: Tensor, quant_type: int, row: int) -> Tensor",
    summary="Matmul with GGML weights, activations quantised to 8 bits",
    category=Category.QUANTISED_GEMM,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=product_inputs,
    reference=product_reference,
    eager=product_eager,
    tolerance=ggml_tolerance,
    cost=product_cost,
    cannot_reject=CANNOT_REJECT,
)
