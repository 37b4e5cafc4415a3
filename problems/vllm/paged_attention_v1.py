"""Decode attention over a paged cache: out[s, h] = sum_t softmax_t(scale * query . k[t] + slope * (t - L + 1)) * v[t].

One query for each sequence, over its L = seq_lens[s] >= 1 tokens; token t is in the block block_tables[s, t // B] of
the caches, key_cache: (blocks, Hkv, D / x, B, x) with x elements of 16 bytes, value_cache: (blocks, Hkv, D, B).  Query
head h reads head h // (Hq / Hkv).  Without slopes they are 0.  With blocksparse_vert_stride > 1 a head attends to the
last blocksparse_local_blocks blocks of blocksparse_block_size tokens, and to block j where (j + offset) is a multiple
of the stride; offset = 1 + step * (tp_rank * Hq + h) for a step blocksparse_head_sliding_step >= 0, else 1 - step *
(tp_rank * Hkv + h // (Hq / Hkv)).

Query and out are float32, float16 or bfloat16; the caches have that dtype ("auto") or are e4m3fn codes as uint8 ("fp8")
that are multiplied by k_scale and v_scale, one float32 each.  D is a multiple of x.  Any strides.  NaN and infinities
follow IEEE arithmetic: they reach the heads that attend to them.  A token whose logit is -inf has the weight 0; it may
be skipped or its value multiplied by 0, so that value is finite, and no head has logits of -inf alone.  Cache content
after the end of a sequence is ignored.  Subnormal values may be flushed to zero.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from engine.model import Case, Category, Cost, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, F16, F32, Arguments, Layout, cases_over, laid_out, normal, rounded, torch
from problems.kit.inference.caches import AUTO, FP8
from problems.kit.inference.decode_attention import attention_of, cost_of, draw

_over = partial(
    cases_over, heads=4, kv_heads=2, head_size=32, block_size=16, alibi=False, cache=AUTO, vert_stride=0, step=0,
    values="mixed", layout=Layout.CONTIGUOUS,
)  # fmt: skip
_SIZES = "{lengths} tokens {heads}/{kv_heads}x{head_size}"

CASES = (
    *_over(Tier.SMOKE, f"{_SIZES} {{dtype}} {{cache}}", lengths=(5, 33), dtype=F16, cache=[AUTO, FP8]),
    *_over(Tier.SMOKE, f"{_SIZES} {{dtype}} alibi", lengths=(20, 1), dtype=BF16, alibi=True),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", lengths=[(1,), (15, 16, 17), (127, 128, 129)], dtype=[F16, BF16]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", lengths=(33, 7), heads=8, kv_heads=[1, 2, 8], head_size=[64, 80],
           dtype=F16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} blocks of {{block_size}}", lengths=(31, 65), block_size=[8, 32], dtype=BF16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", lengths=(600, 513), heads=2, kv_heads=1, dtype=[F32, F16]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{cache}} alibi", lengths=(40, 100), heads=6, dtype=BF16, cache=[AUTO, FP8],
           alibi=True),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} vertical {{vert_stride}} step {{step}}", lengths=(150, 96), heads=4,
           dtype=F16, vert_stride=[3, 4], step=[0, 1, -1]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{cache}} {{layout}}", lengths=(17, 35), dtype=F16, cache=[AUTO, FP8],
           alibi=True, layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{values}}", lengths=(20, 9, 50), dtype=[F16, BF16], values="special"),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{values}}", lengths=(20, 9, 50), dtype=F16, values="far below zero"),
    *_over(Tier.BENCH, f"{_SIZES} {{dtype}}", lengths=(1024,) * 16, heads=16, kv_heads=4, head_size=128,
           dtype=[F16, BF16]),
    *_over(Tier.BENCH, f"{_SIZES} {{dtype}} {{cache}}", lengths=(2048,) * 8, heads=8, kv_heads=8, head_size=64,
           dtype=F16, cache=FP8),
)  # fmt: skip

_LOCAL_BLOCKS, _SPARSE_BLOCK, _TP_RANK = 2, 16, 1


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """out: (S, Hq, D), overwritten, query: (S, Hq, D), the caches, block_tables: (S, n), seq_lens: (S,), and the rest.

    Blocks that belong to no sequence, and places after the end of one, hold plausible values; "special" queries and
    caches have NaN and infinities, but no value of a token whose key is infinite. "far below
    zero" the logits are about -180.
    """
    drawn = draw(case, rng)
    out = laid_out(normal(tuple(drawn.query.shape), case.dtype, rng), case.word("layout"))
    return (
        out, drawn.query, drawn.key_cache, drawn.value_cache, case.size("kv_heads"),
        1 / math.sqrt(case.size("head_size")), drawn.tables, drawn.lengths, case.size("block_size"),
        max(case.shape("lengths")), drawn.slopes, case.word("cache"), drawn.k_scale, drawn.v_scale,
        _TP_RANK, _LOCAL_BLOCKS, case.size("vert_stride"), _SPARSE_BLOCK, case.size("step"),
    )  # fmt: skip


def reference(
    out: torch.Tensor,
    *arguments: Any,  # Any: the other arguments in order, as `attention_of` types them
) -> torch.Tensor:
    """The final out, sequence by sequence in float64."""
    return torch.stack(tuple(attention_of(*arguments).answers(exact=True))).to(out.dtype)


def eager(
    out: torch.Tensor,
    *arguments: Any,  # Any: the other arguments in order, as `attention_of` types them
) -> None:
    """Sequence by sequence in float32."""
    for sequence, answer in enumerate(attention_of(*arguments).answers(exact=False)):
        out[sequence] = answer


def tolerance(case: Case) -> Tolerance:
    """Weights rounded to the dtype of the query before their product, a sum over the tokens, a last rounding."""
    longest = max(case.shape("lengths"))
    wide = rounded(case.dtype, roundings=3, terms=longest + case.size("head_size"))
    return Tolerance(relative=wide.relative, absolute=wide.absolute + 2 * case.dtype.epsilon)


def cost(case: Case) -> Cost:
    """Four operations for each token, query head and element; every key and value is read once."""
    lengths = case.shape("lengths")
    flops, bytes_read = cost_of(case, lengths)
    written = len(lengths) * case.size("heads") * case.size("head_size") * case.dtype.bytes
    return Cost(flops=flops, bytes_read=bytes_read, bytes_written=written)


PROBLEM = ProblemDefinition(
    name="vllm::paged_attention_v1",
    entry="paged_attention_v1",
    signature=(
        "paged_attention_v1(out: Tensor, query: Tensor, key_cache: Tensor, value_cache: Tensor, num_kv_heads: int, "
        "scale: float, block_tables: Tensor, seq_lens: Tensor, block_size: int, max_seq_len: int, "
        "alibi_slopes: Tensor | None, kv_cache_dtype: str, k_scale: Tensor, v_scale: Tensor, tp_rank: int = 0, "
        "blocksparse_local_blocks: int = 0, blocksparse_vert_stride: int = 0, blocksparse_block_size: int = 64, "
        "blocksparse_head_sliding_step: int = 0) -> None"
    ),
    summary="Decode attention of one query per sequence over a paged KV cache",
    category=Category.ATTENTION,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    returns=0,
    mutates=("out",),
    written_only=("out",),
)
