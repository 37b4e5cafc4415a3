# kgtui: op=vllm::topk_softmax expect=pass
"""Takes the k largest gating values of a token first, and turns only those into weights of the softmax over all."""

import torch
import triton
import triton.language as tl


@triton.jit
def route(weights_ptr, ids_ptr, source_ptr, gate_ptr, tokens, experts, K: tl.constexpr, RENORMALIZE: tl.constexpr,
          TOKENS: tl.constexpr, EXPERTS: tl.constexpr):  # fmt: skip
    token = tl.program_id(0) * TOKENS + tl.arange(0, TOKENS)
    expert = tl.arange(0, EXPERTS)[None, :]
    inside = (token[:, None] < tokens) & (expert < experts)
    gate = tl.load(gate_ptr + token[:, None].to(tl.int64) * experts + expert, mask=inside, other=0.0)
    gate = tl.where(expert < experts, gate, float("-inf"))
    top = tl.max(gate, axis=1)
    total = tl.sum(tl.exp(gate - top[:, None]), axis=1)
    if RENORMALIZE:
        left = gate
        total = tl.zeros((TOKENS,), dtype=tl.float32)
        for _ in tl.static_range(K):
            total += tl.exp(tl.max(left, axis=1) - top)
            left = tl.where(expert == tl.argmax(left, axis=1)[:, None], float("-inf"), left)
    left = expert < EXPERTS + token[:, None] * 0
    for rank in tl.static_range(K):
        value = tl.max(tl.where(left, gate, float("-inf")), axis=1)
        # What was chosen is told by a mask: of experts of -inf each is chosen once as well.
        chosen = tl.min(tl.where(left & (gate == value[:, None]), expert, EXPERTS), axis=1)
        left = left & (expert != chosen[:, None])
        at = token * K + rank
        tl.store(weights_ptr + at, tl.exp(value - top) / total, mask=token < tokens)
        tl.store(ids_ptr + at, chosen.to(tl.int32), mask=token < tokens)
        tl.store(source_ptr + at, rank * tokens + token, mask=token < tokens)


def topk_softmax(topk_weights, topk_ids, token_expert_indices, gating_output, renormalize):
    outputs = topk_weights, topk_ids, token_expert_indices
    if not all(output.is_contiguous() for output in outputs):
        dense = [output.new_empty(output.shape) for output in outputs]
        topk_softmax(*dense, gating_output, renormalize)
        for output, made in zip(outputs, dense):
            output.copy_(made)
        return
    gate = gating_output.to(torch.float32).contiguous()
    tokens, experts = gate.shape
    if tokens:
        block = max(16, triton.next_power_of_2(experts))
        route[(triton.cdiv(tokens, 16),)](
            topk_weights, topk_ids, token_expert_indices, gate, tokens, experts,
            K=topk_ids.shape[1], RENORMALIZE=renormalize, TOKENS=16, EXPERTS=block, num_warps=4,
        )
