"""Slots of experts in blocks: sorted_ids = the slots e * M + i, i < expert_num_tokens[e], of each expert e, padded.

M is max_tokens_per_batch.  An expert's slots ascend and are followed by the number E * M up to a multiple of
block_size; an expert without tokens has no block.  expert_ids[b] is the expert of block b, num_tokens_post_pad[0] the
number of entries in all blocks.  After those, sorted_ids holds E * M and expert_ids -1 up to the end: both are
overwritten as a whole.  All tensors are int32, of any strides; sorted_ids and expert_ids are large enough.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, DType, ProblemDefinition, Tier
from problems.kit import Arguments, Layout, cases_over, integers, torch
from problems.kit.inference.arguments import NO_FLOATS, arranged, exact

_over = partial(cases_over, dtype=DType.INT32, values="any", layout=Layout.CONTIGUOUS)
_SIZES = "{experts} of {most} by {block}"

CASES = (
    *_over(Tier.SMOKE, _SIZES, experts=[4, 7], most=9, block=4),
    *_over(Tier.FULL, _SIZES, experts=[1, 8, 65], most=[1, 16, 33], block=16),
    *_over(Tier.FULL, _SIZES, experts=16, most=[127, 129], block=[1, 64, 128]),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", experts=9, most=20, block=8, values=["no tokens", "all full"]),
    *_over(Tier.FULL, f"{_SIZES} {{layout}}", experts=5, most=9, block=4, layout=Layout.IRREGULAR),
    *_over(Tier.BENCH, _SIZES, experts=[64, 128], most=1024, block=128),
)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """max_tokens_per_batch, block_size, expert_num_tokens: (E,), and the outputs, large enough for full experts."""
    experts, most, block = case.size("experts"), case.size("most"), case.size("block")
    counts = integers((experts,), DType.INT32, rng, low=0, high=most + 1)
    if case.word("values") != "any":
        counts.fill_(0 if case.word("values") == "no tokens" else most)
    blocks = experts * -(-most // block)
    outputs = [integers((size,), DType.INT32, rng, low=0, high=99) for size in (blocks * block, blocks, 1)]
    return most, block, *arranged(case, counts, *outputs)


def reference(
    max_tokens_per_batch: int,
    block_size: int,
    expert_num_tokens: torch.Tensor,
    sorted_ids: torch.Tensor,
    expert_ids: torch.Tensor,
    num_tokens_post_pad: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The three final outputs, expert by expert."""
    nothing = len(expert_num_tokens) * max_tokens_per_batch
    entries, experts = torch.full_like(sorted_ids, nothing), torch.full_like(expert_ids, -1)
    start = 0
    for expert, count in enumerate(expert_num_tokens.tolist()):
        blocks = -(-count // block_size)
        entries[start : start + count] = expert * max_tokens_per_batch + torch.arange(count, device=entries.device)
        experts[start // block_size : start // block_size + blocks] = expert
        start += blocks * block_size
    return entries, experts, torch.full_like(num_tokens_post_pad, start)


def eager(
    max_tokens_per_batch: int,
    block_size: int,
    expert_num_tokens: torch.Tensor,
    sorted_ids: torch.Tensor,
    expert_ids: torch.Tensor,
    num_tokens_post_pad: torch.Tensor,
) -> None:
    """All entries at once: the expert of each place, and its distance from that expert's first."""
    counts = expert_num_tokens.long()
    padded = (counts + block_size - 1) // block_size * block_size
    ends, places = padded.cumsum(0), torch.arange(len(sorted_ids), device=counts.device)
    owner = torch.searchsorted(ends, places, right=True)
    within = owner.clamp(max=len(counts) - 1)
    slot = places - (ends - padded)[within]
    has_token = (owner < len(counts)) & (slot < counts[within])
    nothing = len(counts) * max_tokens_per_batch
    sorted_ids.copy_(torch.where(has_token, owner * max_tokens_per_batch + slot, nothing))
    blocks = owner[::block_size][: len(expert_ids)]
    expert_ids.copy_(torch.where(blocks < len(counts), blocks, -1))
    num_tokens_post_pad.copy_(ends[-1:])


def cost(case: Case) -> Cost:
    """No arithmetic is counted; the outputs are written as a whole."""
    experts, block = case.size("experts"), case.size("block")
    blocks = experts * -(-case.size("most") // block)
    return Cost(flops=0, bytes_read=4 * experts, bytes_written=4 * (blocks * block + blocks + 1))


PROBLEM = ProblemDefinition(
    name="vllm::batched_moe_align_block_size",
    entry="batched_moe_align_block_size",
    signature=(
        "batched_moe_align_block_size(max_tokens_per_batch: int, block_size: int, expert_num_tokens: Tensor, "
        "sorted_ids: Tensor, expert_ids: Tensor, num_tokens_post_pad: Tensor) -> None"
    ),
    summary="For a per-expert batched layout: padded token slots per expert block, owner of each block, padded total",
    category=Category.MOE_ROUTING,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    returns=0,
    mutates=("sorted_ids", "expert_ids", "num_tokens_post_pad"),
    written_only=("sorted_ids", "expert_ids", "num_tokens_post_pad"),
    determinism=Determinism.EXACT,
    cannot_reject=NO_FLOATS,
)
