"""A kernel that rounds its sums to 16 bits between blocks is rejected, where an honest one carries them in float32."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from engine.model import Case, DType
from problems.kit.inference.packing import EVEN_BEFORE_ODD, rows_by_group, unpack
from problems.rules.trial import Trial
from tests.operators import definition, described

BLOCKS = (64, 128, 256)
LONG_BLOCKS = (256, 1024, 2048)


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
    if name == "huber_loss":
        losses = torch.nn.functional.huber_loss(first, second.float(), reduction="none")
        total = summed_in_blocks(losses.flatten(), dtype, block)
        return total if given[2] == 2 else total.float() / losses.numel()
    right = second.float().mT if name == "linear" else second.float()
    bias = given[2].float() if name == "linear" else 0.0
    return summed_in_blocks(first.unsqueeze(-2) * right.mT.unsqueeze(-3), dtype, block).float() + bias


@pytest.mark.parametrize(
    ("name", "values", "blocks"),
    [
        ("sum", "detour", LONG_BLOCKS[:2]),
        ("mean", "detour", LONG_BLOCKS),
        ("cumsum", "detour", LONG_BLOCKS),
        ("huber_loss", "one large", LONG_BLOCKS),
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


@pytest.mark.parametrize("split", [2, 4])
def test_parts_of_awq_product_rounded_between_are_rejected(split: int) -> None:
    ((trial, case),) = cases_of("vllm::awq_gemm", "detour")
    x, words, scales, zeros = trial.given(case)[:4]
    q, z = (unpack(one, 4, order=EVEN_BEFORE_ODD) for one in (words, zeros))
    groups = rows_by_group(len(q), len(scales), x.device)
    terms = x.float().unsqueeze(1) * ((q - z[groups]).half() * scales[groups]).T.float()
    honest, wrong = (summed_in_blocks(terms, dtype, len(q) // split).half() for dtype in (torch.float32, torch.float16))
    assert trial.accepts(case, (honest,))
    assert not trial.accepts(case, (wrong,))


@pytest.mark.parametrize("dim", [-1, -2])
def test_pixel_gradients_rounded_between_rows_are_rejected(dim: int) -> None:
    for trial, case in cases_of("aten::upsample_nearest2d_backward", "detour"):
        grad, wanted = trial.given(case)[0], trial.expected(case)[0]
        pixels = grad.float().unfold(2, 20, 20).unfold(3, 20, 20).sum(dim)
        assert trial.accepts(case, (summed_in_blocks(pixels, torch.float32, 1).to(wanted.dtype),))
        assert not trial.accepts(case, (summed_in_blocks(pixels, wanted.dtype, 1),))
