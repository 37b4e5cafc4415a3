# kgtui: op=vllm::moe_lora_align_block_size expect=pass
"""Pairs by adapter and expert: a program for each of both, first to count and then to place behind what is before."""

import torch
import triton
import triton.language as tl


@triton.jit
def owned(ids_ptr, token_ptr, map_ptr, pair, pairs, k, adapter, expert, ids0, ids1, token0, map0):
    """Which pairs belong to the expert, by the map where there is one, and their token to the adapter."""
    inside = pair < pairs
    chosen = tl.load(ids_ptr + pair // k * ids0 + pair % k * ids1, mask=inside, other=0)
    if map_ptr is not None:
        chosen = tl.load(map_ptr + chosen * map0, mask=inside, other=-1)
    return inside & (chosen == expert) & (tl.load(token_ptr + pair // k * token0, mask=inside, other=-1) == adapter)


@triton.jit
def count_kernel(
    ids_ptr, token_ptr, map_ptr, count_ptr, pairs, k, ids0, ids1, token0, map0, BLOCK: tl.constexpr,
):
    expert, adapter = tl.program_id(0), tl.program_id(1)
    total = tl.zeros((BLOCK,), tl.int32)
    for start in range(0, pairs, BLOCK):
        pair = start + tl.arange(0, BLOCK)
        own = owned(ids_ptr, token_ptr, map_ptr, pair, pairs, k, adapter, expert, ids0, ids1, token0, map0)
        total += own.to(tl.int32)
    tl.store(count_ptr + adapter * tl.num_programs(0) + expert, tl.sum(total, axis=0))


@triton.jit
def place_kernel(
    ids_ptr, token_ptr, map_ptr, count_ptr, lora_ptr, enabled_ptr, sorted_ptr, owner_ptr, total_ptr, pairs, k,
    block_size, row_entries, row_blocks, ids0, ids1, token0, map0, lora0, enabled0, sorted0, owner0, total0,
    EXPERTS: tl.constexpr, BLOCK: tl.constexpr,
):
    expert, experts = tl.program_id(0), tl.num_programs(0)
    adapter = tl.load(lora_ptr + tl.program_id(1) * lora0)
    if adapter >= 0:
        if tl.load(enabled_ptr + adapter * enabled0) != 0:
            other = tl.arange(0, EXPERTS)
            counts = tl.load(count_ptr + adapter * experts + other, mask=other < experts, other=0)
            padded = (counts + block_size - 1) // block_size * block_size
            before = tl.sum(tl.where(other < expert, padded, 0), axis=0)
            room = tl.sum(tl.where(other == expert, padded, 0), axis=0)
            if expert == 0:
                tl.store(total_ptr + adapter * total0, tl.sum(padded, axis=0))
            first = adapter * row_entries + before
            placed = tl.zeros((), tl.int32)
            for start in range(0, pairs, BLOCK):
                pair = start + tl.arange(0, BLOCK)
                own = owned(ids_ptr, token_ptr, map_ptr, pair, pairs, k, adapter, expert, ids0, ids1, token0, map0)
                rank = tl.cumsum(own.to(tl.int32), axis=0) - 1
                tl.store(sorted_ptr + (first + placed + rank) * sorted0, pair, mask=own)
                placed += tl.sum(own.to(tl.int32), axis=0)
            first_block = adapter * row_blocks + before // block_size
            for start in range(0, room, BLOCK):
                at = start + tl.arange(0, BLOCK)
                tl.store(sorted_ptr + (first + at) * sorted0, at * 0 + pairs, mask=(at >= placed) & (at < room))
                tl.store(owner_ptr + (first_block + at) * owner0, at * 0 + expert, mask=at < room // block_size)


def moe_lora_align_block_size(
    topk_ids, token_lora_mapping, num_experts, block_size, max_loras, max_num_tokens_padded, max_num_m_blocks,
    sorted_token_ids, experts_ids, num_tokens_post_pad, adapter_enabled, lora_ids, expert_map=None,
):
    counts = torch.empty((max_loras, num_experts), dtype=torch.int32, device=topk_ids.device)
    sizes = topk_ids.numel(), topk_ids.shape[1]
    strides = *topk_ids.stride(), token_lora_mapping.stride(0), 0 if expert_map is None else expert_map.stride(0)
    grid = (num_experts, max_loras)
    count_kernel[grid](topk_ids, token_lora_mapping, expert_map, counts, *sizes, *strides, BLOCK=256)
    place_kernel[grid](
        topk_ids, token_lora_mapping, expert_map, counts, lora_ids, adapter_enabled, sorted_token_ids, experts_ids,
        num_tokens_post_pad, *sizes, block_size, max_num_tokens_padded, max_num_m_blocks, *strides, lora_ids.stride(0),
        adapter_enabled.stride(0), sorted_token_ids.stride(0), experts_ids.stride(0), num_tokens_post_pad.stride(0),
        EXPERTS=triton.next_power_of_2(num_experts), BLOCK=256,
    )
