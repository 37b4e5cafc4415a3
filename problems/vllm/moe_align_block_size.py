"""Pairs sorted by expert: sorted_token_ids = numbers of the pairs of expert 0, padded to whole blocks, then of 1, ...

topk_ids: (T, k), int32 or int64, has the expert of pair t * k + j.  Every expert's pairs, in any order, are followed by
the number T * k up to a multiple of block_size; an expert without pairs has no block.  experts_ids[b] is the expert of
block b, and num_tokens_post_pad[0] the number of entries in all blocks; entries of sorted_token_ids and experts_ids
after those may hold anything.  With expert_map: (num_experts,), int32, pairs count for expert_map[topk_ids], and those
of -1 are left out.  sorted_token_ids, experts_ids and num_tokens_post_pad are int32 and overwritten; the first two are
large enough.  All tensors of any strides.
"""

from __future__ import annotations

from functools import partial

from engine.model import CalledCase, Case, Category, Cost, Determinism, DType, OutputMatch, ProblemDefinition, Tier
from problems.kit import Arguments, Layout, cases_over, integers, laid_out, torch
from problems.kit.inference.arguments import NO_FLOATS, exact
from problems.kit.inference.routing import aligned, block_bounds, out_of_place

_over = partial(cases_over, dtype=DType.INT32, mapped=False, values="any", layout=Layout.CONTIGUOUS)
_SIZES = "{tokens}x{k} of {experts} by {block}"

CASES = (
    *_over(Tier.SMOKE, _SIZES, tokens=[9, 17], k=2, experts=4, block=8),
    *_over(Tier.SMOKE, f"{_SIZES} mapped", tokens=13, k=2, experts=6, block=4, mapped=True),
    *_over(Tier.FULL, _SIZES, tokens=[1, 31, 128], k=[1, 4], experts=8, block=16),
    *_over(Tier.FULL, _SIZES, tokens=65, k=10, experts=[16, 64, 129], block=[1, 32]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", tokens=33, k=2, experts=8, block=64, dtype=DType.INT64),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", tokens=40, k=2, experts=8, block=16, values=["one expert", "the last"]),
    *_over(Tier.FULL, f"{_SIZES} mapped", tokens=65, k=4, experts=16, block=8, mapped=True),
    *_over(Tier.FULL, f"{_SIZES} mapped {{layout}}", tokens=11, k=2, experts=5, block=4, mapped=True,
           layout=Layout.IRREGULAR),
    *_over(Tier.FULL, _SIZES, tokens=11, k=1, experts=1, block=8),
    *_over(Tier.FULL, _SIZES, tokens=1025, k=2, experts=4, block=16),
    *_over(Tier.BENCH, _SIZES, tokens=[4096, 16384], k=4, experts=64, block=64),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """topk_ids: (T, k), num_experts, block_size, the three outputs, expert_map: (num_experts,) or None.

    The outputs have the size of the worst case. A map keeps about half of the experts and renumbers them.
    """
    tokens, k, experts, block = case.size("tokens"), case.size("k"), case.size("experts"), case.size("block")
    ids = integers((tokens, k), case.dtype, rng, low=0, high=experts)
    if case.word("values") != "any":
        ids[:-1] = experts - 1 if case.word("values") == "the last" else ids[0, 0]
    blocks = -(-(tokens * k + experts * (block - 1)) // block)
    outputs = [integers((size,), DType.INT32, rng, low=0, high=99) for size in (blocks * block, blocks, 1)]
    kept = torch.rand(experts, generator=rng) < 1 / 2
    kept[ids.view(-1)[0]] = True
    new = torch.randperm(experts, generator=rng).argsort()
    numbered = torch.where(kept, (kept & (new[:, None] > new)).sum(1), -1).int()
    ids, *outputs, numbered = (laid_out(tensor, case.word("layout")) for tensor in (ids, *outputs, numbered))
    return ids, experts, block, *outputs, numbered if case.claim("mapped") else None


def reference(
    topk_ids: torch.Tensor,
    num_experts: int,
    block_size: int,
    sorted_token_ids: torch.Tensor,
    experts_ids: torch.Tensor,
    num_tokens_post_pad: torch.Tensor,
    expert_map: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The three final outputs, expert by expert; T * k and -1 after the end."""
    chosen = topk_ids if expert_map is None else expert_map[topk_ids.long()]
    listed, owners = aligned(chosen, num_experts, block_size)
    entries, experts = torch.full_like(sorted_token_ids, chosen.numel()), torch.full_like(experts_ids, -1)
    entries[: len(listed)], experts[: len(owners)] = listed.int(), owners.int()
    return entries, experts, torch.full_like(num_tokens_post_pad, len(listed))


def eager(
    topk_ids: torch.Tensor,
    num_experts: int,
    block_size: int,
    sorted_token_ids: torch.Tensor,
    experts_ids: torch.Tensor,
    num_tokens_post_pad: torch.Tensor,
    expert_map: torch.Tensor | None = None,
) -> None:
    """A stable sort, and counts of the pairs of each expert."""
    chosen = (topk_ids if expert_map is None else expert_map[topk_ids.long()]).flatten().long()
    order = torch.sort(chosen, stable=True).indices
    order = order[chosen[order] >= 0]
    counts = torch.bincount(chosen[order], minlength=num_experts)
    padded = (counts + block_size - 1) // block_size * block_size
    ends, places = padded.cumsum(0), torch.arange(len(order), device=chosen.device)
    shifts = ends - padded - (counts.cumsum(0) - counts)
    total = int(ends[-1])
    sorted_token_ids[:total] = chosen.numel()
    sorted_token_ids[places + shifts[chosen[order]]] = order.int()
    owners = torch.repeat_interleave(torch.arange(num_experts, device=chosen.device), padded // block_size)
    experts_ids[: len(owners)] = owners.int()
    num_tokens_post_pad.fill_(total)


def compare(called: CalledCase) -> tuple[OutputMatch, ...]:
    """The entries of each expert as a set; entries after the end are not compared."""
    entries, experts, total = called.expected
    block, count = called.case.size("block"), int(total)
    owners = experts[: count // block]
    wrong_owner = called.outputs[1] != experts
    wrong_owner[len(owners) :] = False
    return (
        OutputMatch(wrong=out_of_place(called.outputs[0], entries, block_bounds(owners, block))),
        OutputMatch(wrong=wrong_owner),
        OutputMatch(wrong=called.outputs[2] != total),
    )


def cost(case: Case) -> Cost:
    """No arithmetic is counted; each pair is read once; half count as written, since a map may omit the rest."""
    pairs, block = case.size("tokens") * case.size("k"), case.size("block")
    return Cost(flops=0, bytes_read=pairs * case.dtype.bytes, bytes_written=4 * (pairs // 2 + pairs // 2 // block + 1))


PROBLEM = ProblemDefinition(
    name="vllm::moe_align_block_size",
    entry="moe_align_block_size",
    signature=(
        "moe_align_block_size(topk_ids: Tensor, num_experts: int, block_size: int, sorted_token_ids: Tensor, "
        "experts_ids: Tensor, num_tokens_post_pad: Tensor, expert_map: Tensor | None = None) -> None"
    ),
    summary="Sort (token,k) pairs by expert, pad every expert to whole blocks",
    category=Category.MOE_ROUTING,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    returns=0,
    mutates=("sorted_token_ids", "experts_ids", "num_tokens_post_pad"),
    written_only=("sorted_token_ids", "experts_ids", "num_tokens_post_pad"),
    determinism=Determinism.ORDER_FREE,
    compare=compare,
    cannot_reject=NO_FLOATS,
)
