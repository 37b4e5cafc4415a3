"""Product of a few rows with GGML weights: out[b, r] = sum_k X[b, k] * w[r, k], w the values of W.

W: (row, K / 32 * block bytes), uint8, X: (batch, K), out: (batch, row); batch is 1, or a few. Activations are quantised
to 8 bits first, 32 neighbours of a row at a time, with a step of 1/127 of the largest: an honest kernel may leave that
out, and the reference does.  quant_type is a format of ggml_dequantize: 2, 3, 6, 7 or 8.  X, and the answer, are
float32, float16 or bfloat16; any strides.  Activations are finite; weights have finite scales.  The columns of W are a
multiple of 32.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, F16, F32, Arguments, Layout, cases_over, normal, torch
from problems.kit.inference.arguments import arranged
from problems.kit.inference.ggml import (
    CANNOT_REJECT,
    activation_tolerance,
    decoded,
    drawn,
    quantised_activations,
    row_bytes,
)

_over = partial(cases_over, layout=Layout.CONTIGUOUS)
_SIZES = "{batch}x{k}x{row} type {type} {dtype}"

CASES = (
    *_over(Tier.SMOKE, _SIZES, batch=1, k=64, row=32, type=2, dtype=[F32, F16]),
    *_over(Tier.SMOKE, _SIZES, batch=1, k=96, row=17, type=8, dtype=F32),
    *_over(Tier.FULL, _SIZES, batch=1, k=96, row=40, type=[2, 3, 6, 7, 8], dtype=[F32, BF16]),
    *_over(Tier.FULL, _SIZES, batch=[2, 5], k=128, row=64, type=2, dtype=F32),
    *_over(Tier.FULL, _SIZES, batch=1, k=[32, 2048], row=[1, 33], type=2, dtype=F16),
    *_over(Tier.FULL, f"{_SIZES} {{layout}}", batch=2, k=64, row=9, type=[2, 8], dtype=F32, layout=Layout.IRREGULAR),
    *_over(Tier.BENCH, _SIZES, batch=1, k=[4096, 8192], row=4096, type=[2, 8], dtype=F32),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """W: (row, bytes of K values), X: (batch, K), quant_type, row."""
    row, k, kind = case.size("row"), case.size("k"), case.size("type")
    tensors = arranged(case, drawn((row, k), kind, rng), normal((case.size("batch"), k), case.dtype, rng))
    return *tensors, kind, row


def reference(w: torch.Tensor, x: torch.Tensor, quant_type: int, row: int) -> torch.Tensor:
    """(batch, K) -> (batch, row) in float64."""
    return (x.double() @ decoded(w, quant_type, torch.float64).T).to(x.dtype)


def eager(w: torch.Tensor, x: torch.Tensor, quant_type: int, row: int) -> torch.Tensor:
    """Activations quantised as kernels do, a product in float32."""
    return (quantised_activations(x) @ decoded(w, quant_type, torch.float32).T).to(x.dtype)


def tolerance(case: Case) -> Tolerance:
    """That of activations of 8 bits."""
    return activation_tolerance(case, outputs=case.size("batch") * case.size("row"))


def cost(case: Case) -> Cost:
    """A product and a sum for each weight and row; every byte is read once."""
    batch, k, row = case.size("batch"), case.size("k"), case.size("row")
    return Cost(
        flops=2 * batch * k * row,
        bytes_read=row * row_bytes(case.size("type"), k) + batch * k * case.dtype.bytes,
        bytes_written=batch * row * case.dtype.bytes,
    )


PROBLEM = ProblemDefinition(
    name="vllm::ggml_mul_mat_vec_a8",
    entry="ggml_mul_mat_vec_a8",
    signature="ggml_mul_mat_vec_a8(W: Tensor, X: Tensor, quant_type: int, row: int) -> Tensor",
    summary="Matrix-vector form of ggml_mul_mat_a8",
    category=Category.QUANTISED_GEMM,
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    cannot_reject=CANNOT_REJECT,
)
