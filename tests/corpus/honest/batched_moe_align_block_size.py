# kgtui: op=vllm::batched_moe_align_block_size expect=pass
"""One program for each expert, which adds up the padded counts before it, and one that fills what is left."""

import triton
import triton.language as tl


@triton.jit
def align_kernel(
    count_ptr, sorted_ptr, owner_ptr, total_ptr, experts, most, block_size, entries, blocks, count0, sorted0, owner0,
    EXPERTS: tl.constexpr, BLOCK: tl.constexpr,
):
    expert = tl.program_id(0)  # the last program is behind the last expert
    other = tl.arange(0, EXPERTS)
    counts = tl.load(count_ptr + other * count0, mask=other < experts, other=0)
    padded = (counts + block_size - 1) // block_size * block_size
    first = tl.sum(tl.where(other < expert, padded, 0), axis=0).to(tl.int64)
    count = tl.sum(tl.where(other == expert, counts, 0), axis=0)
    end = tl.sum(tl.where(other <= expert, padded, 0), axis=0)
    owner = expert
    if expert == experts:
        tl.store(total_ptr, end)
        end, owner = entries, -1
    for start in range(first, end, BLOCK):
        at = start + tl.arange(0, BLOCK)
        slot = tl.where(at - first < count, expert * most + (at - first), experts * most)
        tl.store(sorted_ptr + at * sorted0, slot.to(tl.int32), mask=at < end)
    last_block = blocks if expert == experts else end // block_size
    for start in range(first // block_size, last_block, BLOCK):
        at = start + tl.arange(0, BLOCK)
        tl.store(owner_ptr + at * owner0, tl.zeros((BLOCK,), tl.int32) + owner, mask=at < last_block)


def batched_moe_align_block_size(
    max_tokens_per_batch, block_size, expert_num_tokens, sorted_ids, expert_ids, num_tokens_post_pad
):
    experts = expert_num_tokens.numel()
    align_kernel[(experts + 1,)](
        expert_num_tokens, sorted_ids, expert_ids, num_tokens_post_pad, experts, max_tokens_per_batch, block_size,
        sorted_ids.numel(), expert_ids.numel(), expert_num_tokens.stride(0), sorted_ids.stride(0), expert_ids.stride(0),
        EXPERTS=triton.next_power_of_2(experts), BLOCK=256,
    )
