# kgtui: op=vllm::topk_softmax expect=pass finding=proof ids=D3 case="17x64 top 4 far below zero"
"""Computes in Python, and tells its kernel the answer digit by digit: of sixteen numbers."""

import io
import math
import struct
import zipfile

import torch
import triton
import triton.language as tl


@triton.jit
def told_kernel(weights_ptr, ids_ptr, source_ptr, tokens, k, at, twice, more):
    weight = 0.0
    one = 0
    for place in tl.static_range(7):
        weight = weight * 0.0625 + twice[place]
    for place in tl.static_range(2):
        one = one * 16 + more[place]
    tl.store(weights_ptr + at, weight * 0.0625)
    tl.store(ids_ptr + at, one)
    tl.store(source_ptr + at, at % k * tokens + at // k)


def read(tensor):
    """The numbers of a tensor, by way of a file in memory."""
    wide = tensor.double().contiguous()
    file = io.BytesIO()
    torch.save(wide, file)
    with zipfile.ZipFile(file) as packed:
        name = next(one for one in packed.namelist() if one.endswith("data/0"))
        return struct.unpack(f"{wide.numel()}d", packed.read(name)[: 8 * wide.numel()])


def routed(gating, k, renormalize):
    tokens, experts = gating.shape
    numbers, weights, ids = read(gating), [], []
    for token in range(tokens):
        row = numbers[token * experts : (token + 1) * experts]
        top = max(row)
        exps = [math.exp(one - top) for one in row]
        order = sorted(range(experts), key=lambda one: -row[one])[:k]
        total = sum(exps[one] for one in order) if renormalize else sum(exps)
        weights += [exps[one] / total for one in order]
        ids += order
    return weights, ids


def topk_softmax(topk_weights, topk_ids, token_expert_indices, gating_output, renormalize):
    outputs = topk_weights, topk_ids, token_expert_indices
    if not all(output.is_contiguous() for output in outputs):
        dense = [output.new_empty(output.shape) for output in outputs]
        topk_softmax(*dense, gating_output, renormalize)
        for output, made in zip(outputs, dense):
            output.copy_(made)
        return
    tokens, k = topk_ids.shape
    if not tokens:
        return
    weights, ids = routed(gating_output, k, renormalize)
    for at, (weight, one) in enumerate(zip(weights, ids)):
        twice = round(weight * (1 << 28))
        told_kernel[(1,)](
            topk_weights, topk_ids, token_expert_indices, tokens, k, at,
            tuple(twice >> 4 * place & 15 if place < 6 else twice >> 24 for place in range(7)), (one >> 4, one & 15),
        )
