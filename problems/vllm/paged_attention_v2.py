"""Paged decode attention in parts of 512 tokens: out = sum_p exp_sum[p] * e^(max_logits[p] - m) * tmp_out[p] / total.

The arguments after tmp_out, and the answer in out, are those of paged_attention_v1.  The work tensors are outputs too:
with the logits l of partition p (tokens 512 p up to 512 (p + 1)) max_logits[s, h, p] = max l, float32, exp_sum[s, h, p]
= sum e^(l - max l), float32, and tmp_out[s, h, p] is the attention over the partition alone, in the dtype of out.
Partitions after the end of a sequence keep their values; m is the largest of max_logits over the others, and total =
sum_p exp_sum[p] * e^(max_logits[p] - m).  Logits are finite, so that the largest is the same by every maximum; NaN and
infinities of the values reach tmp_out and out.  In the block-sparse pattern every partition has a token that is
attended to.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from engine.model import Case, Category, Cost, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, F16, F32, Arguments, Layout, cases_over, laid_out, normal, rounded, torch
from problems.kit.inference.caches import AUTO, FP8
from problems.kit.inference.decode_attention import Attention, attention_of, cost_of, draw, weighted

_over = partial(
    cases_over, heads=2, kv_heads=1, head_size=32, block_size=16, alibi=False, cache=AUTO, vert_stride=0, step=0,
    values="mixed", layout=Layout.CONTIGUOUS,
)  # fmt: skip
_SIZES = "{lengths} tokens {heads}/{kv_heads}x{head_size}"

CASES = (
    *_over(Tier.SMOKE, f"{_SIZES} {{dtype}} {{cache}}", lengths=(5, 530), head_size=16, dtype=F16, cache=[AUTO, FP8]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", lengths=[(1,), (511, 512, 513), (15, 1100)], dtype=[F16, BF16]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", lengths=(33, 600), heads=8, kv_heads=[1, 2], head_size=40, dtype=F16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} blocks of {{block_size}}", lengths=(31, 520), block_size=[8, 32],
           dtype=[F32, BF16]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{cache}} alibi", lengths=(40, 700), heads=6, dtype=BF16, cache=[AUTO, FP8],
           alibi=True),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} vertical {{vert_stride}} step {{step}}", lengths=(550, 90), dtype=F16,
           vert_stride=3, step=[0, 1, -1]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{layout}}", lengths=(17, 540), dtype=F16, alibi=True,
           layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{values}}", lengths=(20, 9, 550, 3, 7), heads=4, dtype=[F16, BF16],
           values="special"),
    *_over(Tier.BENCH, f"{_SIZES} {{dtype}}", lengths=(8192,) * 4, heads=16, kv_heads=4, head_size=128,
           dtype=[F16, BF16]),
)  # fmt: skip

PARTITION = 512
_LOCAL_BLOCKS, _SPARSE_BLOCK, _TP_RANK = 2, 16, 1


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """As for paged_attention_v1, after out three work tensors: (S, Hq, P), (S, Hq, P), (S, Hq, P, D).

    "special" values have NaN and infinities, queries and keys do not.
    """
    drawn = draw(case, rng)
    query, key_cache = drawn.query, drawn.key_cache
    if case.word("values") == "special":
        query, key_cache = _moderate(query), _moderate(key_cache)
    sequences, heads, head_size = query.shape
    work = (sequences, heads, -(-max(case.shape("lengths")) // PARTITION))
    written = (
        normal((sequences, heads, head_size), case.dtype, rng), normal(work, F32, rng), normal(work, F32, rng),
        normal((*work, head_size), case.dtype, rng),
    )  # fmt: skip
    return (
        *(laid_out(tensor, case.word("layout")) for tensor in written), query, key_cache,
        drawn.value_cache, case.size("kv_heads"), 1 / math.sqrt(head_size), drawn.tables, drawn.lengths,
        case.size("block_size"), max(case.shape("lengths")), drawn.slopes, case.word("cache"), drawn.k_scale,
        drawn.v_scale, _TP_RANK, _LOCAL_BLOCKS, case.size("vert_stride"), _SPARSE_BLOCK, case.size("step"),
    )  # fmt: skip


def _moderate(x: torch.Tensor) -> torch.Tensor:
    """The values without NaN, infinities and large numbers, so that every logit is finite."""
    return x.nan_to_num(0.0, 0.0, 0.0).clamp(-8.0, 8.0)


def reference(
    out: torch.Tensor,
    exp_sum: torch.Tensor,
    max_logits: torch.Tensor,
    tmp_out: torch.Tensor,
    *arguments: Any,  # Any: the other arguments in order, as `attention_of` types them
) -> tuple[torch.Tensor, ...]:
    """The final out and work tensors, in float64."""
    written = (torch.empty_like(out), exp_sum.clone(), max_logits.clone(), tmp_out.clone())
    _fill(*written, attention=attention_of(*arguments), exact=True)
    return written


def eager(
    out: torch.Tensor,
    exp_sum: torch.Tensor,
    max_logits: torch.Tensor,
    tmp_out: torch.Tensor,
    *arguments: Any,  # Any: the other arguments in order, as `attention_of` types them
) -> None:
    """Sequence by sequence in float32."""
    _fill(out, exp_sum, max_logits, tmp_out, attention=attention_of(*arguments), exact=False)


def tolerance(case: Case) -> Tolerance:
    """Weights and partial results rounded to the dtype of the query, sums over the tokens, a last rounding."""
    longest = max(case.shape("lengths"))
    wide = rounded(case.dtype, roundings=4, terms=longest + case.size("head_size"))
    return Tolerance(relative=wide.relative, absolute=wide.absolute + 2 * case.dtype.epsilon)


def cost(case: Case) -> Cost:
    """As for paged_attention_v1, and each partial result is written once."""
    lengths = case.shape("lengths")
    flops, bytes_read = cost_of(case, lengths)
    partitions = sum(-(-length // PARTITION) for length in lengths)
    row_bytes = case.size("heads") * case.size("head_size") * case.dtype.bytes
    written = (len(lengths) + partitions) * row_bytes + 8 * partitions * case.size("heads")
    return Cost(flops=flops, bytes_read=bytes_read, bytes_written=written)


def _fill(
    out: torch.Tensor,
    exp_sum: torch.Tensor,
    max_logits: torch.Tensor,
    tmp_out: torch.Tensor,
    *,
    attention: Attention,
    exact: bool,
) -> None:
    for sequence in range(len(out)):
        logits, values = attention.logits(sequence, exact=exact)
        out[sequence] = weighted(torch.softmax(logits, dim=-1), values).to(out.dtype)
        for part, start in enumerate(range(0, logits.shape[1], PARTITION)):
            own = logits[:, start : start + PARTITION]
            largest = own.amax(dim=-1, keepdim=True)
            exponentials = (own - largest).exp()
            total = exponentials.sum(-1, keepdim=True)
            max_logits[sequence, :, part], exp_sum[sequence, :, part] = largest[:, 0], total[:, 0]
            answer = weighted(exponentials / total, values[:, start : start + PARTITION])
            tmp_out[sequence, :, part] = answer.to(out.dtype)


PROBLEM = ProblemDefinition(
    name="vllm::paged_attention_v2",
    entry="paged_attention_v2",
    signature=(
        "paged_attention_v2(out: Tensor, exp_sum: Tensor, max_logits: Tensor, tmp_out: Tensor, query: Tensor, "
        "key_cache: Tensor, value_cache: Tensor, num_kv_heads: int, scale: float, block_tables: Tensor, "
        "seq_lens: Tensor, block_size: int, max_seq_len: int, alibi_slopes: Tensor | None, kv_cache_dtype: str, "
        "k_scale: Tensor, v_scale: Tensor, tp_rank: int = 0, blocksparse_local_blocks: int = 0, "
        "blocksparse_vert_stride: int = 0, blocksparse_block_size: int = 64, "
        "blocksparse_head_sliding_step: int = 0) -> None"
    ),
    summary="Split-K form of paged attention",
    category=Category.ATTENTION,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    returns=0,
    mutates=("out", "exp_sum", "max_logits", "tmp_out"),
    written_only=("out",),
)
