"""Tokens whose logit is -inf: their weight is 0, and 0 * inf is NaN; drawn inputs have finite values there."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from engine.model import Case
from problems.kit.inference.decode_attention import Attention, attention_of
from problems.vllm import paged_attention_v1
from tests.operators import definition

HEAD_SIZE, BLOCK_SIZE, GROUP = 8, 4, 8
SPECIAL = [case for case in paged_attention_v1.CASES if case.params["values"] == "special"]


def attention(keys: torch.Tensor, values: torch.Tensor, vert_stride: int = 0) -> Attention:
    """One head with a query of ones and one sequence; keys and values: (L, D), with blocks of one token if sparse."""
    length = len(keys)
    assert length <= BLOCK_SIZE
    key_cache = torch.zeros(1, 1, HEAD_SIZE // GROUP, BLOCK_SIZE, GROUP, dtype=torch.bfloat16)
    value_cache = torch.zeros(1, 1, HEAD_SIZE, BLOCK_SIZE, dtype=torch.bfloat16)
    key_cache[0, 0, 0, :length], value_cache[0, 0, :, :length] = keys, values.T
    return attention_of(
        torch.ones(1, 1, HEAD_SIZE, dtype=torch.bfloat16), key_cache, value_cache, 1, 1.0,
        torch.zeros(1, 1, dtype=torch.int32), torch.tensor([length], dtype=torch.int32), BLOCK_SIZE, length,
        None, "auto", torch.ones(1), torch.ones(1),
        blocksparse_local_blocks=1, blocksparse_vert_stride=vert_stride, blocksparse_block_size=1,
    )  # fmt: skip


def answer(keys: torch.Tensor, values: torch.Tensor, vert_stride: int = 0) -> torch.Tensor:
    """(D,): the reference in float64."""
    return next(attention(keys, values, vert_stride).answers(exact=True))[0]


def test_infinite_value_at_negative_infinite_logit_is_nan() -> None:
    keys, values = torch.zeros(3, HEAD_SIZE), torch.ones(3, HEAD_SIZE)
    keys[1, 0], values[1, 5] = -math.inf, math.inf
    attended = torch.nn.functional.scaled_dot_product_attention(
        torch.ones(1, 1, 1, HEAD_SIZE).double(), keys.double()[None, None], values.double()[None, None], scale=1.0
    )
    assert attended.flatten().isnan().tolist() == [False] * 5 + [True] + [False] * 2
    torch.testing.assert_close(answer(keys, values), attended.flatten(), equal_nan=True)


def test_values_of_tokens_not_attended_are_ignored() -> None:
    keys, values = torch.zeros(4, HEAD_SIZE), torch.ones(4, HEAD_SIZE)
    keys[0], values[0] = -math.inf, math.nan
    assert answer(keys, values, vert_stride=4).tolist() == [1.0] * HEAD_SIZE


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("case", SPECIAL, ids=lambda case: case.name)
def test_special_values_leave_no_choice_to_kernels(case: Case, seed: int) -> None:
    arguments: tuple[Any, ...] = definition("vllm::paged_attention_v1").make_inputs(
        case, torch.Generator().manual_seed(seed)
    )
    drawn = attention_of(*arguments[1:])
    for sequence in range(len(case.shape("lengths"))):
        logits, values = drawn.logits(sequence, exact=True)
        without_weight = logits == -math.inf
        maximal = logits.amax(dim=-1)
        skippable = without_weight & maximal.isfinite().unsqueeze(-1)
        assert bool(values[skippable].isfinite().all())
        assert not bool(without_weight.all(dim=-1).any())
