"""Pairs of each LoRA adapter sorted by expert: row a of the outputs = moe_align_block_size of the pairs of adapter a.

topk_ids: (T, k), int32, has the expert of pair t * k + j, token_lora_mapping: (T,), int32, the adapter of a token, -1
for none.  lora_ids: (max_loras,), int32, names the adapters in use, numbers from 0 to max_loras - 1, each once and in
any order, -1 for none; an adapter a with adapter_enabled[a] = 0, (max_loras,), int32, is left out.  For every other
adapter a, whatever its place in lora_ids, sorted_token_ids: (max_loras * max_num_tokens_padded,) has in row a the
numbers of its pairs, expert by expert, those of an expert in any order and followed by T * k up to a multiple of
block_size; experts_ids: (max_loras * max_num_m_blocks,) has in row a the expert of every block, and
num_tokens_post_pad[a] is the number of entries.  Entries after those may hold anything.  Rows of adapters that are not
in use or left out keep their values.  With expert_map: (num_experts,), int32, pairs count for expert_map[topk_ids], and
those of -1 are left out.  The outputs are int32, all tensors of any strides.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from engine.model import CalledCase, Case, Category, Cost, Determinism, DType, OutputMatch, ProblemDefinition, Tier
from problems.kit import Arguments, Layout, cases_over, integers, laid_out, torch
from problems.kit.inference.arguments import NO_FLOATS, exact
from problems.kit.inference.routing import aligned, block_bounds, out_of_place

_over = partial(cases_over, dtype=DType.INT32, mapped=False, used="all", layout=Layout.CONTIGUOUS)
_SIZES = "{tokens}x{k} of {experts} by {block} for {loras}"

CASES = (
    *_over(Tier.SMOKE, _SIZES, tokens=[9, 16], k=2, experts=4, block=4, loras=2),
    *_over(Tier.SMOKE, f"{_SIZES} {{used}} used", tokens=13, k=2, experts=3, block=4, loras=3, used="some"),
    *_over(Tier.FULL, _SIZES, tokens=[1, 31, 128], k=2, experts=8, block=[4, 16], loras=4),
    *_over(Tier.FULL, _SIZES, tokens=65, k=4, experts=[16, 65], block=8, loras=[1, 3]),
    *_over(Tier.FULL, f"{_SIZES} {{used}} used", tokens=40, k=2, experts=8, block=8, loras=5,
           used=["some", "disabled"]),
    *_over(Tier.FULL, f"{_SIZES} mapped", tokens=33, k=4, experts=16, block=8, loras=2, mapped=True),
    *_over(Tier.FULL, f"{_SIZES} mapped {{layout}}", tokens=11, k=2, experts=5, block=4, loras=3, mapped=True,
           layout=Layout.IRREGULAR),
    *_over(Tier.BENCH, _SIZES, tokens=[1024, 4096], k=4, experts=32, block=32, loras=8),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """topk_ids, token_lora_mapping, the sizes, three outputs, adapter_enabled, lora_ids, expert_map or None.

    "some" adapters are in use: the last is not, and one token in four has none; "disabled" leaves out adapter 1.
    """
    tokens, k, experts, block = case.size("tokens"), case.size("k"), case.size("experts"), case.size("block")
    loras, used = case.size("loras"), case.word("used")
    ids = integers((tokens, k), DType.INT32, rng, low=0, high=experts)
    owners = integers((tokens,), DType.INT32, rng, low=0, high=loras)
    enabled = torch.ones(loras, dtype=torch.int32)
    adapters = torch.randperm(loras, generator=rng).int()
    if used == "some":
        owners[(owners == loras - 1) | (torch.rand(tokens, generator=rng) < 1 / 4)] = -1
        adapters[adapters == loras - 1] = -1
    if used == "disabled":
        enabled[1] = 0
    blocks = -(-(tokens * k + experts * (block - 1)) // block)
    sizes = (loras * blocks * block, loras * blocks, loras)
    outputs = [integers((size,), DType.INT32, rng, low=0, high=99) for size in sizes]
    kept = torch.arange(experts) % 2 == 0
    numbered = torch.where(kept, torch.arange(experts) // 2, -1).int()
    tensors = (ids, owners, *outputs, enabled, adapters, numbered)
    ids, owners, *outputs, enabled, adapters, numbered = (laid_out(x, case.word("layout")) for x in tensors)
    return (
        ids, owners, experts, block, loras, blocks * block, blocks, *outputs, enabled, adapters,
        numbered if case.claim("mapped") else None,
    )  # fmt: skip


def reference(
    topk_ids: torch.Tensor,
    token_lora_mapping: torch.Tensor,
    num_experts: int,
    block_size: int,
    max_loras: int,
    max_num_tokens_padded: int,
    max_num_m_blocks: int,
    sorted_token_ids: torch.Tensor,
    experts_ids: torch.Tensor,
    num_tokens_post_pad: torch.Tensor,
    adapter_enabled: torch.Tensor,
    lora_ids: torch.Tensor,
    expert_map: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The three final outputs, adapter by adapter; entries after the end of a row keep their values."""
    entries, experts, totals = sorted_token_ids.clone(), experts_ids.clone(), num_tokens_post_pad.clone()
    chosen = topk_ids if expert_map is None else expert_map[topk_ids.long()]
    for adapter in in_use(lora_ids, adapter_enabled):
        own = chosen.masked_fill((token_lora_mapping != adapter).unsqueeze(1), -1)
        listed, owners = aligned(own, num_experts, block_size)
        first, block = adapter * max_num_tokens_padded, adapter * max_num_m_blocks
        entries[first : first + len(listed)] = listed.int()
        experts[block : block + len(owners)] = owners.int()
        totals[adapter] = len(listed)
    return entries, experts, totals


def eager(*arguments: Any) -> None:  # Any: the arguments of `reference`, in order
    """The same steps; there is no arithmetic that could use another precision."""
    for written, computed in zip(arguments[7:10], reference(*arguments), strict=True):
        written.copy_(computed)


def compare(called: CalledCase) -> tuple[OutputMatch, ...]:
    """The entries of each adapter and expert as a set; entries after the end of a row are not compared."""
    entries, experts, totals = called.expected
    padded, blocks = len(entries) // len(totals), len(experts) // len(totals)
    block = called.case.size("block")
    bounds, wrong_owner = [], called.outputs[1] != experts
    active = in_use(called.arguments[11], called.arguments[10])
    compared = torch.ones_like(wrong_owner)
    for adapter in range(len(totals)):
        used = int(totals[adapter]) // block if adapter in active else blocks
        row = slice(adapter * blocks, adapter * blocks + used)
        compared[adapter * blocks + used : (adapter + 1) * blocks] = False
        if adapter in active:
            bounds += [(adapter * padded + s, adapter * padded + e) for s, e in block_bounds(experts[row], block)]
        else:
            bounds += [(place, place + 1) for place in range(adapter * padded, (adapter + 1) * padded)]
    return (
        OutputMatch(wrong=out_of_place(called.outputs[0], entries, bounds)),
        OutputMatch(wrong=wrong_owner & compared),
        OutputMatch(wrong=called.outputs[2] != totals),
    )


def cost(case: Case) -> Cost:
    """No arithmetic is counted; each pair is read once, and at least half of them are written."""
    pairs = case.size("tokens") * case.size("k")
    return Cost(
        flops=0, bytes_read=4 * pairs + 4 * case.size("tokens") + 8 * case.size("loras"), bytes_written=2 * pairs + 4
    )


def in_use(lora_ids: object, adapter_enabled: object) -> list[int]:
    """The adapters that are in lora_ids and enabled."""
    assert isinstance(lora_ids, torch.Tensor) and isinstance(adapter_enabled, torch.Tensor)
    enabled = adapter_enabled.tolist()
    return [adapter for adapter in lora_ids.tolist() if adapter >= 0 and enabled[adapter]]


PROBLEM = ProblemDefinition(
    name="vllm::moe_lora_align_block_size",
    entry="moe_lora_align_block_size",
    signature=(
        "moe_lora_align_block_size(topk_ids: Tensor, token_lora_mapping: Tensor, num_experts: int, block_size: int, "
        "max_loras: int, max_num_tokens_padded: int, max_num_m_blocks: int, sorted_token_ids: Tensor, "
        "experts_ids: Tensor, num_tokens_post_pad: Tensor, adapter_enabled: Tensor, lora_ids: Tensor, "
        "expert_map: Tensor | None = None) -> None"
    ),
    summary="moe_align_block_size per LoRA adapter",
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
    determinism=Determinism.ORDER_FREE,
    compare=compare,
    cannot_reject=NO_FLOATS,
)
