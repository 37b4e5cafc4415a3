# kgtui: op=vllm::moe_align_block_size expect=wrong_value|out_of_bounds diagnosis=not_reached case="9x2 of 4 by 8"
"""Alignment whose ranks begin with 1: the first slot of every expert is padding."""

import torch
import triton
import triton.language as tl


@triton.jit
def expert_of(ids_ptr, map_ptr, pair, pairs, k, ids0, ids1, map0):
    """The expert of each pair, by the map where there is one; -1 behind the end."""
    inside = pair < pairs
    chosen = tl.load(ids_ptr + pair // k * ids0 + pair % k * ids1, mask=inside, other=0).to(tl.int64)
    if map_ptr is not None:
        chosen = tl.load(map_ptr + chosen * map0, mask=inside, other=-1).to(tl.int64)
    return tl.where(inside, chosen, -1)


@triton.jit
def count_kernel(ids_ptr, map_ptr, count_ptr, pairs, k, ids0, ids1, map0, BLOCK: tl.constexpr):
    expert = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.int32)
    for start in range(0, pairs, BLOCK):
        pair = start + tl.arange(0, BLOCK).to(tl.int64)
        total += (expert_of(ids_ptr, map_ptr, pair, pairs, k, ids0, ids1, map0) == expert).to(tl.int32)
    tl.store(count_ptr + expert, tl.sum(total, axis=0))


@triton.jit
def place_kernel(
    ids_ptr, map_ptr, count_ptr, sorted_ptr, owner_ptr, total_ptr, pairs, k, experts, block_size, ids0, ids1, map0,
    sorted0, owner0, EXPERTS: tl.constexpr, BLOCK: tl.constexpr,
):
    expert = tl.program_id(0)
    other = tl.arange(0, EXPERTS)
    counts = tl.load(count_ptr + other, mask=other < experts, other=0)
    padded = (counts + block_size - 1) // block_size * block_size
    first = tl.sum(tl.where(other < expert, padded, 0), axis=0).to(tl.int64)
    room = tl.sum(tl.where(other == expert, padded, 0), axis=0)
    if expert == 0:
        tl.store(total_ptr, tl.sum(padded, axis=0))
    placed = tl.zeros((), tl.int32)
    for start in range(0, pairs, BLOCK):
        pair = start + tl.arange(0, BLOCK).to(tl.int64)
        own = expert_of(ids_ptr, map_ptr, pair, pairs, k, ids0, ids1, map0) == expert
        rank = tl.cumsum(own.to(tl.int32), axis=0)
        tl.store(sorted_ptr + (first + placed + rank) * sorted0, pair.to(tl.int32), mask=own)
        placed += tl.sum(own.to(tl.int32), axis=0)
    for start in range(0, room, BLOCK):
        at = start + tl.arange(0, BLOCK)
        tl.store(sorted_ptr + (first + at) * sorted0, at * 0 + pairs, mask=(at >= placed) & (at < room))
        tl.store(owner_ptr + (first // block_size + at) * owner0, at * 0 + expert, mask=at < room // block_size)


def moe_align_block_size(
    topk_ids, num_experts, block_size, sorted_token_ids, experts_ids, num_tokens_post_pad, expert_map=None
):
    pairs, k = topk_ids.numel(), topk_ids.shape[1]
    counts = torch.empty(num_experts, dtype=torch.int32, device=topk_ids.device)
    ids0, ids1 = topk_ids.stride()
    map0 = 0 if expert_map is None else expert_map.stride(0)
    count_kernel[(num_experts,)](topk_ids, expert_map, counts, pairs, k, ids0, ids1, map0, BLOCK=256)
    place_kernel[(num_experts,)](
        topk_ids, expert_map, counts, sorted_token_ids, experts_ids, num_tokens_post_pad, pairs, k, num_experts,
        block_size, ids0, ids1, map0, sorted_token_ids.stride(0), experts_ids.stride(0),
        EXPERTS=triton.next_power_of_2(num_experts), BLOCK=256,
    )
