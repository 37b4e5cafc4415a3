"""A kernel that rounds its sums to 16 bits between blocks is rejected, where an honest one carries them in float32."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch.overrides import TorchFunctionMode

from engine.model import Case, DType
from problems.kit.blas import matrix_of, operand_of
from problems.rules.trial import Trial
from tests.operators import definition, described

BLOCKS = (64, 128, 256)
LONG_BLOCKS = (256, 1024, 2048)
LOSSES = {
    "huber_loss": lambda x, target, *_: torch.nn.functional.huber_loss(x, target.float(), reduction="none"),
    "soft_margin_loss": lambda x, target, *_: torch.log1p((-x * target.float()).exp()),
    "margin_ranking_loss": lambda x, other, target, *_: (-target.float() * (x - other.float())).relu(),
    "binary_cross_entropy_with_logits": lambda x, target, *_: torch.nn.functional.binary_cross_entropy_with_logits(
        x, target.float(), reduction="none"
    ),
}


def cases_of(name: str, values: str) -> Iterator[tuple[Trial, Case]]:
    trial = Trial(definition(name), described(name))
    for case in trial.cases:
        if case.params.get("values") == values and case.dtype in (DType.FLOAT16, DType.BFLOAT16):
            yield trial, case


def summed_in_blocks(terms: torch.Tensor, dtype: torch.dtype, block: int) -> torch.Tensor:
    """(..., K) -> (...): float32 inside of a block, rounded to `dtype` after each."""
    total = torch.zeros(terms.shape[:-1], dtype=dtype)
    for part in terms.float().split(block, dim=-1):
        total = (total.float() + part.sum(-1)).to(dtype)
    return total


def answers(name: str, case: Case, trial: Trial, dtype: torch.dtype, block: int) -> torch.Tensor:
    """The operator's answer with sums that are rounded to `dtype` between blocks."""
    given = trial.given(case)
    first, second = given[0].float(), given[1]
    if name == "cumsum":
        parts, carry = [], torch.zeros(len(first), 1)
        for part in first.split(block, dim=-1):
            parts.append(carry + part.cumsum(-1))
            carry = parts[-1][:, -1:].to(dtype).float()
        return torch.cat(parts, dim=-1)
    if name in ("sum", "mean"):
        total = summed_in_blocks(first, dtype, block)
        return total if name == "sum" else total.float() / first.shape[-1]
    if name in LOSSES:
        losses = LOSSES[name](first, *given[1:])
        total = summed_in_blocks(losses.flatten(), dtype, block)
        return total if case.size("reduction") == 2 else total.float() / losses.numel()
    right = second.float().mT if name == "linear" else second.float()
    bias = given[2].float() if name == "linear" else 0.0
    return summed_in_blocks(first.unsqueeze(-2) * right.mT.unsqueeze(-3), dtype, block).float() + bias


@pytest.mark.parametrize(
    ("name", "values", "blocks"),
    [
        ("sum", "detour", LONG_BLOCKS[:2]),
        ("mean", "detour", LONG_BLOCKS),
        ("cumsum", "detour", LONG_BLOCKS),
        *((name, "one large", LONG_BLOCKS) for name in LOSSES),
        *((name, "detour", BLOCKS) for name in ("mm", "bmm", "matmul", "linear")),
    ],
)
def test_sums_rounded_between_blocks_are_rejected(name: str, values: str, blocks: tuple[int, ...]) -> None:
    tried = 0
    for trial, case in cases_of(f"aten::{name}", values):
        wanted, own = trial.expected(case)[0], torch.float16 if case.dtype is DType.FLOAT16 else torch.bfloat16
        for block in blocks:
            if case.params.get("shape") == (2, 200):
                continue  # a row of one block
            honest = answers(name, case, trial, torch.float32, block)
            wrong = answers(name, case, trial, own, block)
            assert trial.accepts(case, (honest.to(wanted.dtype),))
            assert not trial.accepts(case, (wrong.to(wanted.dtype),))
            tried += 1
    assert tried >= 2 * len(blocks)


class RoundedBetweenBlocks(TorchFunctionMode):
    """Products whose sums over K, times `scale`, are rounded to `dtype` after each block of K."""

    def __init__(self, dtype: torch.dtype, block: int, scale: float) -> None:
        self._dtype, self._block, self._scale = dtype, block, scale

    def __torch_function__(self, called, types, given=(), named=None):  # type: ignore[no-untyped-def]
        if called is not torch.Tensor.matmul and called is not torch.Tensor.__matmul__:
            return called(*given, **(named or {}))
        left, right = (one.float() for one in given)
        total = torch.zeros((), dtype=self._dtype)
        for part, rows in zip(left.split(self._block, -1), right.split(self._block, -2), strict=True):
            total = (total.float() + (self._scale * part).matmul(rows)).to(self._dtype)
        return total.float() / self._scale


@pytest.mark.parametrize(
    ("name", "scale"),
    [
        *((name, 1.0) for name in ("awq_gemm", "gptq_gemm", "gptq_marlin_gemm", "gptq_marlin_24_gemm")),
        *((name, 1.0) for name in ("allspark_w8a16_gemm", "ggml_mul_mat_a8", "ggml_mul_mat_vec_a8")),
        *((name, 1.0) for name in ("ggml_moe_a8", "ggml_moe_a8_vec")),
        *((name, 1e-4) for name in ("cutlass_scaled_mm", "cutlass_scaled_mm_azp")),
    ],
)
def test_quantised_products_rounded_between_blocks_are_rejected(name: str, scale: float) -> None:
    tried = 0
    for trial, case in cases_of(f"vllm::{name}", "detour"):
        wanted, own = trial.expected(case)[0], torch.float16 if case.dtype is DType.FLOAT16 else torch.bfloat16
        for block in BLOCKS:
            verdicts = []
            for dtype in (torch.float32, own):
                with RoundedBetweenBlocks(dtype, block, scale):
                    answer = trial.eager_on(trial.copies(case))[0]
                verdicts.append(trial.accepts(case, (answer.to(wanted.dtype),)))
            assert verdicts == [True, False]
            tried += 1
    assert tried >= len(BLOCKS)


@pytest.mark.parametrize("dim", [-1, -2])
def test_pixel_gradients_rounded_between_rows_are_rejected(dim: int) -> None:
    for trial, case in cases_of("aten::upsample_nearest2d_backward", "detour"):
        grad, wanted = trial.given(case)[0], trial.expected(case)[0]
        pixels = grad.float().unfold(2, 20, 20).unfold(3, 20, 20).sum(dim)
        assert trial.accepts(case, (summed_in_blocks(pixels, torch.float32, 1).to(wanted.dtype),))
        assert not trial.accepts(case, (summed_in_blocks(pixels, wanted.dtype, 1),))


@pytest.mark.parametrize("carried", [torch.float32, torch.float16])
def test_hgemm_rejects_half_sums_but_no_half_epilogue(carried: torch.dtype) -> None:
    (trial, case), *others = cases_of("cublas::cublasHgemmStridedBatched", "detour")
    _, _, m, n, k, _, a, lda, stride_a, b, ldb, stride_b, *_ = trial.given(case)
    left = operand_of(a, lda, m, k, "T", batch=2, stride=stride_a).unsqueeze(-2)
    right = operand_of(b, ldb, k, n, "N", batch=2, stride=stride_b).mT.unsqueeze(-3)
    assert others == []
    for block in BLOCKS:
        answer = trial.copies(case)[13]
        matrix_of(answer, m, m, n, batch=2, stride=m * n).copy_(summed_in_blocks(left * right, carried, block).half())
        assert trial.accepts(case, (answer, answer)) is (carried is torch.float32)
