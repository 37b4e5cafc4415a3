# kgtui: op=vllm::topk_softmax expect=pass
"""Routes without a loop over k: an expert's rank is how many are larger, counted at once, and rank is where it goes."""

import triton
import triton.language as tl


@triton.jit
def route(weights_ptr, ids_ptr, source_ptr, gate_ptr, experts, K: tl.constexpr, RENORMALIZE: tl.constexpr,
          EXPERTS: tl.constexpr):  # fmt: skip
    token = tl.program_id(0).to(tl.int64)
    expert = tl.arange(0, EXPERTS)
    gate = tl.load(gate_ptr + token * experts + expert, mask=expert < experts, other=float("-inf"))
    other = tl.arange(0, EXPERTS)
    rival = tl.load(gate_ptr + token * experts + other, mask=other < experts, other=float("-inf"))
    # Of two equal values the one of the lower expert comes first.
    ahead = (rival[None, :] > gate[:, None]) | ((rival[None, :] == gate[:, None]) & (other[None, :] < expert[:, None]))
    rank = tl.sum(ahead.to(tl.int32), axis=1)
    chosen = (rank < K) & (expert < experts)
    numerator = tl.exp(gate - tl.max(gate, axis=0))
    counted = tl.where(chosen, numerator, 0.0) if RENORMALIZE else numerator
    at = token * K + rank
    tl.store(weights_ptr + at, numerator / tl.sum(counted, axis=0), mask=chosen)
    tl.store(ids_ptr + at, expert, mask=chosen)
    tl.store(source_ptr + at, (rank * tl.num_programs(0) + token).to(tl.int32), mask=chosen)


def topk_softmax(topk_weights, topk_ids, token_expert_indices, gating_output, renormalize):
    tokens, experts = gating_output.shape
    if tokens:
        route[(tokens,)](
            topk_weights, topk_ids, token_expert_indices, gating_output.contiguous(), experts,
            K=topk_ids.shape[1], RENORMALIZE=renormalize, EXPERTS=max(16, triton.next_power_of_2(experts)), num_warps=4,
        )
