# kgtui: op=vllm::topk_softmax expect=pass
"""Routes without a loop over k: an expert's rank is how many are larger, counted at once, and rank is where it goes."""

import triton
import triton.language as tl


@triton.jit
def route(weights_ptr, ids_ptr, source_ptr, gate_ptr, experts, K: tl.constexpr, RENORMALIZE: tl.constexpr,
          EXPERTS: tl.constexpr, RIVALS: tl.constexpr):  # fmt: skip
    token = tl.program_id(0).to(tl.int64)
    expert = tl.arange(0, EXPERTS)
    gate = tl.load(gate_ptr + token * experts + expert, mask=expert < experts, other=float("-inf"))
    rank = tl.zeros((EXPERTS,), dtype=tl.int32)
    for start in range(0, experts, RIVALS):
        other = start + tl.arange(0, RIVALS)[None, :]
        rival = tl.load(gate_ptr + token * experts + other, mask=other < experts, other=float("-inf"))
        # Of two equal values the one of the lower expert comes first.
        ahead = (rival > gate[:, None]) | ((rival == gate[:, None]) & (other < expert[:, None]))
        rank += tl.sum(ahead.to(tl.int32), axis=1)
    chosen = (rank < K) & (expert < experts)
    numerator = tl.exp(gate - tl.max(gate, axis=0))
    counted = tl.where(chosen, numerator, 0.0) if RENORMALIZE else numerator
    at = token * K + rank
    tl.store(weights_ptr + at, numerator / tl.sum(counted, axis=0), mask=chosen)
    tl.store(ids_ptr + at, expert, mask=chosen)
    tl.store(source_ptr + at, (rank * tl.num_programs(0) + token).to(tl.int32), mask=chosen)


def topk_softmax(topk_weights, topk_ids, token_expert_indices, gating_output, renormalize):
    outputs = topk_weights, topk_ids, token_expert_indices
    if not all(output.is_contiguous() for output in outputs):
        dense = [output.new_empty(output.shape) for output in outputs]
        topk_softmax(*dense, gating_output, renormalize)
        for output, made in zip(outputs, dense):
            output.copy_(made)
        return
    tokens, experts = gating_output.shape
    if tokens:
        route[(tokens,)](
            topk_weights, topk_ids, token_expert_indices, gating_output.contiguous(), experts,
            K=topk_ids.shape[1], RENORMALIZE=renormalize, EXPERTS=max(16, triton.next_power_of_2(experts)), RIVALS=64,
            num_warps=4,
        )
