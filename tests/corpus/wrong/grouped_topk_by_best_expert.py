# kgtui: op=vllm::grouped_topk expect=wrong_value diagnosis=none case="17x64 2 groups 1 chosen top 4 f32 scoring 0"
"""Groups ranked by their best expert alone, where the two best count."""

import torch
import triton
import triton.language as tl


@triton.jit
def grouped_topk_kernel(
    score_ptr, bias_ptr, weight_ptr, id_ptr, groups, size, factor, score0, score1, bias0,
    TOPK_GROUP: tl.constexpr, TOPK: tl.constexpr, SIGMOID: tl.constexpr, RENORMALIZE: tl.constexpr,
    GROUPS: tl.constexpr, SIZE: tl.constexpr, CHOSEN: tl.constexpr,
):
    token = tl.program_id(0).to(tl.int64)
    group = tl.arange(0, GROUPS)
    member = tl.arange(0, SIZE)[None, :]
    expert = group[:, None] * size + member
    inside = (group[:, None] < groups) & (member < size)
    score = tl.load(score_ptr + token * score0 + expert * score1, mask=inside, other=0.0).to(tl.float32)
    if SIGMOID:
        score = 1.0 / (1.0 + tl.exp(-score))
    nothing = float("-inf")
    biased = tl.where(inside, score + tl.load(bias_ptr + expert * bias0, mask=inside, other=0.0), nothing)

    best, at = tl.max(biased, axis=1, return_indices=True)
    second = tl.max(tl.where(member == at[:, None], nothing, biased), axis=1)
    worth = tl.where(group < groups, best, nothing)
    is_chosen = tl.zeros((GROUPS,), tl.int1)
    for _ in tl.static_range(TOPK_GROUP):
        _, at = tl.max(worth, axis=0, return_indices=True)
        is_chosen |= group == at
        worth = tl.where(group == at, nothing, worth)

    left = tl.where(is_chosen[:, None], biased, nothing)
    place = tl.arange(0, CHOSEN)
    weights = tl.zeros((CHOSEN,), tl.float32)
    ids = tl.zeros((CHOSEN,), tl.int32)
    for j in tl.static_range(TOPK):
        best, at = tl.max(left, axis=1, return_indices=True)
        _, row = tl.max(best, axis=0, return_indices=True)
        taken = row * size + tl.sum(tl.where(group == row, at, 0), axis=0)
        here = inside & (expert == taken)
        weights = tl.where(place == j, tl.sum(tl.sum(tl.where(here, score, 0.0), axis=1), axis=0), weights)
        ids = tl.where(place == j, taken, ids)
        left = tl.where(here, nothing, left)
    if RENORMALIZE:
        weights = weights / tl.sum(weights, axis=0)
    tl.store(weight_ptr + token * TOPK + place, weights * factor, mask=place < TOPK)
    tl.store(id_ptr + token * TOPK + place, ids, mask=place < TOPK)


def grouped_topk(scores, num_expert_group, topk_group, topk, renormalize, routed_scaling_factor, bias, scoring_func):
    tokens, experts = scores.shape
    weights = torch.empty((tokens, topk), dtype=torch.float32, device=scores.device)
    ids = torch.empty((tokens, topk), dtype=torch.int32, device=scores.device)
    if ids.numel():
        size = experts // num_expert_group
        grouped_topk_kernel[(tokens,)](
            scores, bias, weights, ids, num_expert_group, size, routed_scaling_factor, *scores.stride(), bias.stride(0),
            TOPK_GROUP=topk_group, TOPK=topk, SIGMOID=scoring_func == 1, RENORMALIZE=renormalize,
            GROUPS=triton.next_power_of_2(num_expert_group), SIZE=triton.next_power_of_2(size),
            CHOSEN=triton.next_power_of_2(topk),
        )
    return weights, ids
