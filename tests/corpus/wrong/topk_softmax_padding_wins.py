# kgtui: op=vllm::topk_softmax expect=wrong_value diagnosis=reduction_identity case="17x7 top 1"
"""Experts that do not exist are loaded as 0 instead of -inf: where all others are below 0, one of them is chosen."""

import triton
import triton.language as tl


@triton.jit
def topk_kernel(
    weights_ptr, ids_ptr, source_ptr, gating_ptr, experts, gating_row, K: tl.constexpr, RENORMALIZE: tl.constexpr,
    EXPERTS: tl.constexpr,
):
    token = tl.program_id(0)
    expert = tl.arange(0, EXPERTS)
    gate = tl.load(gating_ptr + token * gating_row + expert, mask=expert < experts, other=0.0)
    numerator = tl.exp(gate - tl.max(gate, axis=0))
    weight = numerator / tl.sum(numerator, axis=0)

    left = weight
    kept = 0.0
    for _ in tl.static_range(K):
        best, best_expert = tl.max(left, axis=0, return_indices=True)
        kept += best
        left = tl.where(expert == best_expert, -1.0, left)
    scale = 1.0 / kept if RENORMALIZE else 1.0
    for j in tl.static_range(K):
        best, best_expert = tl.max(weight, axis=0, return_indices=True)
        weight = tl.where(expert == best_expert, -1.0, weight)
        tl.store(weights_ptr + token * K + j, best * scale)
        tl.store(ids_ptr + token * K + j, best_expert)
        tl.store(source_ptr + token * K + j, j * tl.num_programs(0) + token)


def topk_softmax(topk_weights, topk_ids, token_expert_indices, gating_output, renormalize):
    tokens, experts = gating_output.shape
    if tokens:
        topk_kernel[(tokens,)](
            topk_weights, topk_ids, token_expert_indices, gating_output, experts, gating_output.stride(0),
            K=topk_weights.shape[1], RENORMALIZE=bool(renormalize), EXPERTS=triton.next_power_of_2(experts),
        )
