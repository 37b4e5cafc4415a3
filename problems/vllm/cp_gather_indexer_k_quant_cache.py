"""Quantised indexer keys out of a paged cache: dst_k[i], dst_scale[i] = the bytes and scales of the token of row i.

Row i is token t of sequence s, i = cu_seq_lens[s] + t, in the block block_table[s, t // B] at the place t % B.
kv_cache: (blocks, B, D + 4 D / Q), uint8, has in each block first the D bytes of each of its B tokens, then the D / Q
float32 scales of each: token p begins at byte p * D, its scales at byte B * D + p * 4 D / Q of the block.  dst_k:
(tokens, D), uint8; dst_scale: (tokens, D / Q), float32.  Both are copies of bytes: NaN scales are copied unchanged.
Sequences may be empty.

All tensors are of any strides, block_table and cu_seq_lens are int32; byte n of a block is the element [n // W, n % W]
of it, W = D + 4 D / Q.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, DType, ProblemDefinition, Tier
from problems.kit import F32, Arguments, Layout, cases_over, integers, normal, torch
from problems.kit.inference.arguments import arranged, exact
from problems.kit.inference.caches import blocks_of, gathered_rows, paged_table, rows_eagerly, starts_of

_over = partial(cases_over, dtype=DType.UINT8, block_size=16, width=128, group=128, layout=Layout.CONTIGUOUS)
_SIZES = "{lengths} tokens of {width}/{group} by {block_size}"

CASES = (
    *_over(Tier.SMOKE, _SIZES, lengths=[(5, 17), (20, 3)], width=32, group=16),
    *_over(Tier.FULL, _SIZES, lengths=[(1,), (0, 3), (16, 0, 16), (15, 17, 1, 31)], group=[32, 128]),
    *_over(Tier.FULL, _SIZES, lengths=(31, 2), width=64, group=64, block_size=[1, 7, 64]),
    *_over(Tier.FULL, f"{_SIZES} {{layout}}", lengths=[(11, 20), (3,)], width=32, group=8, layout=Layout.IRREGULAR),
    *_over(Tier.BENCH, _SIZES, lengths=[(2048, 1000, 4096, 300), (8192,) * 8], block_size=64),
)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """kv_cache, dst_k, dst_scale, overwritten, block_table, cu_seq_lens; any bytes, so some scales are NaN."""
    lengths, block_size = case.shape("lengths"), case.size("block_size")
    width, scales = case.size("width"), case.size("width") // case.size("group")
    blocks = sum(blocks_of(lengths, block_size)) + 2
    cache = integers((blocks, block_size, width + 4 * scales), DType.UINT8, rng, low=0, high=256)
    dst_k = integers((sum(lengths), width), DType.UINT8, rng, low=0, high=256)
    dst_scale = normal((sum(lengths), scales), F32, rng)
    return arranged(case, cache, dst_k, dst_scale, paged_table(lengths, block_size, blocks, rng), starts_of(lengths))


def reference(
    kv_cache: torch.Tensor,
    dst_k: torch.Tensor,
    dst_scale: torch.Tensor,
    block_table: torch.Tensor,
    cu_seq_lens: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The final dst_k and dst_scale, token by token."""
    block_size, width, scale_bytes = kv_cache.shape[1], dst_k.shape[1], 4 * dst_scale.shape[1]
    lengths = cu_seq_lens.diff().tolist()
    blocks = kv_cache.flatten(1)
    keys, scales = dst_k.clone(), torch.zeros(len(dst_k), scale_bytes, dtype=torch.uint8, device=dst_k.device)
    places = gathered_rows(block_table, lengths, [0] * len(lengths), block_size)
    for row, (block, place) in enumerate(places.tolist()):
        keys[row] = blocks[block, place * width :][:width]
        scales[row] = blocks[block, block_size * width + place * scale_bytes :][:scale_bytes]
    return keys, scales.view(torch.float32)


def eager(
    kv_cache: torch.Tensor,
    dst_k: torch.Tensor,
    dst_scale: torch.Tensor,
    block_table: torch.Tensor,
    cu_seq_lens: torch.Tensor,
) -> None:
    """All tokens at once, by indexing of two views of the blocks."""
    block_size, width = kv_cache.shape[1], dst_k.shape[1]
    blocks = kv_cache.flatten(1)
    rows = rows_eagerly(block_table, cu_seq_lens, None, block_size)
    dst_k.copy_(blocks[:, : block_size * width].reshape(len(blocks), block_size, width)[rows])
    tail = blocks[:, block_size * width :].reshape(len(blocks), block_size, -1)
    dst_scale.copy_(tail[rows].contiguous().view(torch.float32))


def cost(case: Case) -> Cost:
    """No arithmetic; one entry of the table for each block that is read."""
    lengths, width = case.shape("lengths"), case.size("width")
    moved_bytes = sum(lengths) * (width + 4 * (width // case.size("group")))
    listed = sum(blocks_of(lengths, case.size("block_size"))) + len(lengths) + 1
    return Cost(flops=0, bytes_read=moved_bytes + 4 * listed, bytes_written=moved_bytes)


PROBLEM = ProblemDefinition(
    name="vllm::cp_gather_indexer_k_quant_cache",
    entry="cp_gather_indexer_k_quant_cache",
    signature=(
        "cp_gather_indexer_k_quant_cache(kv_cache: Tensor, dst_k: Tensor, dst_scale: Tensor, block_table: Tensor, "
        "cu_seq_lens: Tensor) -> None"
    ),
    summary="Gather quantised indexer keys and their scales from the paged cache",
    category=Category.KV_CACHE,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    determinism=Determinism.EXACT,
    returns=0,
    mutates=("dst_k", "dst_scale"),
    written_only=("dst_k", "dst_scale"),
    cannot_reject={
        "nan_dropped": "scales are read as bytes",
        "infinities_clamped": "scales are read as bytes",
    },
)
