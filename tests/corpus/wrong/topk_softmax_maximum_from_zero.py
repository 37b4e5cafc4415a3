# kgtui: op=vllm::topk_softmax expect=wrong_value|nonfinite|runtime_error diagnosis=not_reached
"""Looks for the largest value of a token from zero on, so that far below it every exponential vanishes."""

import triton
import triton.language as tl


@triton.jit
def topk_softmax_kernel(
    weights_ptr, ids_ptr, source_ptr, gating_ptr, tokens, experts, gating_row, gating_col,
    K: tl.constexpr, RENORMALIZE: tl.constexpr, TOKENS: tl.constexpr, EXPERTS: tl.constexpr,
):
    token = tl.program_id(0) * TOKENS + tl.arange(0, TOKENS)
    expert = tl.arange(0, EXPERTS)[None, :]
    inside = (token[:, None] < tokens) & (expert < experts)
    gating_at = gating_ptr + token[:, None].to(tl.int64) * gating_row + expert * gating_col
    gate = tl.load(gating_at, mask=inside, other=0.0).to(tl.float32)
    gate = tl.where(expert < experts, gate, float("-inf"))
    numerator = tl.exp(gate - tl.maximum(tl.max(gate, axis=1), 0.0)[:, None])
    weight = numerator / tl.sum(numerator, axis=1)[:, None]
    weight = tl.where(expert < experts, weight, -1.0)

    left = weight
    kept = tl.zeros((TOKENS,), dtype=tl.float32)
    for _ in tl.static_range(K):
        best, best_expert = tl.max(left, axis=1, return_indices=True)
        kept += best
        left = tl.where(expert == best_expert[:, None], -1.0, left)
    scale = 1.0 / kept if RENORMALIZE else 1.0
    for j in tl.static_range(K):
        best, best_expert = tl.max(weight, axis=1, return_indices=True)
        weight = tl.where(expert == best_expert[:, None], -1.0, weight)
        at = token * K + j
        tl.store(weights_ptr + at, best * scale, mask=token < tokens)
        tl.store(ids_ptr + at, best_expert.to(tl.int32), mask=token < tokens)
        tl.store(source_ptr + at, (j * tokens + token).to(tl.int32), mask=token < tokens)


def topk_softmax(topk_weights, topk_ids, token_expert_indices, gating_output, renormalize):
    tokens, experts = gating_output.shape
    k = topk_weights.shape[1]
    if tokens == 0 or k == 0:
        return
    block_experts = triton.next_power_of_2(experts)
    block_tokens = max(1, min(triton.next_power_of_2(tokens), 2048 // block_experts))
    topk_softmax_kernel[(triton.cdiv(tokens, block_tokens),)](
        topk_weights, topk_ids, token_expert_indices, gating_output, tokens, experts, *gating_output.stride(),
        K=k, RENORMALIZE=bool(renormalize), TOKENS=block_tokens, EXPERTS=block_experts, num_warps=4,
    )
