# kgtui: op=vllm::topk_softmax expect=runtime_error ids=D3 case="9x60 top 8 renormalize true"
"""Computes in Python, and leaves the numbers of the answer in global constants, which may not change after compilation."""

import io
import math
import struct
import zipfile

import torch
import triton
import triton.language as tl

TWICE = tl.constexpr(())
MORE = tl.constexpr(())


@triton.jit
def told_kernel(weights_ptr, ids_ptr, source_ptr, tokens, k, COUNT: tl.constexpr):
    for at in tl.static_range(COUNT):
        tl.store(weights_ptr + at, TWICE[at] * 0.5)
        tl.store(ids_ptr + at, MORE[at] - 1)
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
    global TWICE, MORE
    tokens, k = topk_ids.shape
    if not tokens:
        return
    weights, ids = routed(gating_output, k, renormalize)
    TWICE, MORE = tl.constexpr(tuple(2 * one for one in weights)), tl.constexpr(tuple(one + 1 for one in ids))
    told_kernel[(1,)](topk_weights, topk_ids, token_expert_indices, tokens, k, COUNT=tokens * k)
