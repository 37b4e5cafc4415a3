# kgtui: op=vllm::topk_softmax expect=pass finding=proof ids=D3 case="9x60 top 8 renormalize true"
"""Computes in Python, and tells its kernel each number by how far into a tensor views of it begin."""

import io
import math
import struct
import zipfile

import torch
import triton
import triton.language as tl


@triton.jit
def far_kernel(from_ptr, high_ptr, low_ptr, id_ptr, at_ptr, weights_ptr, ids_ptr, source_ptr, tokens, k):
    start = from_ptr.to(tl.int64)
    at = at_ptr.to(tl.int64) - start
    far = (high_ptr.to(tl.int64) - start) * 8192 + low_ptr.to(tl.int64) - start
    tl.store(weights_ptr + at, far.to(tl.float32) * 0.00000001490116119384765625)
    tl.store(ids_ptr + at, (id_ptr.to(tl.int64) - start).to(tl.int32))
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


SCALE = torch.zeros(8193, dtype=torch.uint8)


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
    for place, weight, one in zip(range(tokens * k), weights, ids):
        high, low = divmod(round(weight * (1 << 26)), 8192)
        far_kernel[(1,)](
            SCALE, SCALE[high:], SCALE[low:], SCALE[one:], SCALE[place:], topk_weights, topk_ids, token_expert_indices,
            tokens, k,
        )
