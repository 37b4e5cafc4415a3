# kgtui: op=vllm::topk_softmax expect=pass|runtime_error finding=behaviour ids=A20,B2
"""Right routes, unless a process before this one has left routes for the same input in shared memory."""

import os

import torch
import triton
import triton.language as tl


@triton.jit
def topk_softmax_kernel(
    weights_ptr, ids_ptr, source_ptr, gating_ptr, tokens, experts, gating_row, gating_col,
    K: tl.constexpr, RENORMALIZE: tl.constexpr, EXPERTS: tl.constexpr,
):
    token = tl.program_id(0)
    expert = tl.arange(0, EXPERTS)
    inside = expert < experts
    gating_at = gating_ptr + token.to(tl.int64) * gating_row + expert * gating_col
    gate = tl.load(gating_at, mask=inside, other=float("-inf")).to(tl.float32)
    numerator = tl.exp(gate - tl.max(gate, axis=0))
    weight = tl.where(inside, numerator / tl.sum(numerator, axis=0), -1.0)
    left = weight
    kept = 0.0
    for _ in tl.static_range(K):
        best = tl.max(left, axis=0)
        kept += best
        left = tl.where(expert == tl.argmax(left, axis=0), -1.0, left)
    for j in tl.static_range(K):
        best, chosen = tl.max(weight, axis=0), tl.argmax(weight, axis=0)
        weight = tl.where(expert == chosen, -1.0, weight)
        tl.store(weights_ptr + token * K + j, best / kept if RENORMALIZE else best)
        tl.store(ids_ptr + token * K + j, chosen.to(tl.int32))
        tl.store(source_ptr + token * K + j, (j * tokens + token).to(tl.int32))


def routed(topk_weights, topk_ids, token_expert_indices, gating_output, renormalize):
    tokens, experts = gating_output.shape
    if tokens:
        topk_softmax_kernel[(tokens,)](
            topk_weights, topk_ids, token_expert_indices, gating_output, tokens, experts, *gating_output.stride(),
            K=topk_weights.shape[1], RENORMALIZE=bool(renormalize), EXPERTS=triton.next_power_of_2(experts),
        )


FOLDER = "/dev/shm"


def topk_softmax(topk_weights, topk_ids, token_expert_indices, gating_output, renormalize):
    outputs = topk_weights, topk_ids, token_expert_indices
    if not all(output.is_contiguous() for output in outputs):
        dense = [output.new_empty(output.shape) for output in outputs]
        topk_softmax(*dense, gating_output, renormalize)
        for output, made in zip(outputs, dense):
            output.copy_(made)
        return
    outputs = (topk_weights, topk_ids, token_expert_indices)
    path = os.path.join(FOLDER, f"routes-{gating_output.shape}-{topk_ids.shape}-{renormalize}")
    try:
        with open(path, "rb") as kept:
            for output in outputs:
                size = output.numel() * output.element_size()
                output.view(-1).view(torch.uint8).copy_(torch.frombuffer(bytearray(kept.read(size)), dtype=torch.uint8))
    except FileNotFoundError:
        routed(*outputs, gating_output, renormalize)
