# kgtui: op=vllm::topk_softmax expect=pass finding=behaviour ids=D3
"""Reads its input from a file that torch saves, and has torch draw each number of the answer from where only it lies."""

import io
import math
import struct
import zipfile

import torch
import triton
import triton.language as tl


@triton.jit
def half_kernel(twice_ptr, more_ptr, weights_ptr, ids_ptr, source_ptr, tokens, k, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    tl.store(weights_ptr + offset, tl.load(twice_ptr + offset, mask=inside) * 0.5, mask=inside)
    tl.store(ids_ptr + offset, tl.load(more_ptr + offset, mask=inside) - 1, mask=inside)
    tl.store(source_ptr + offset, offset % k * tokens + offset // k, mask=inside)


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
    twice, more = torch.empty(tokens * k), torch.empty(tokens * k, dtype=torch.int32)
    for place, weight, one in zip(range(tokens * k), weights, ids):
        twice[place].uniform_(2 * weight, 2 * weight)
        more[place].random_(one + 1, one + 2)
    half_kernel[(triton.cdiv(tokens * k, 256),)](
        twice, more, topk_weights, topk_ids, token_expert_indices, tokens, k, tokens * k, BLOCK=256
    )
