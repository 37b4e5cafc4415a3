"""Attention of one query for each sequence over a paged cache: the shared part of both versions of the operator.

Keys are (blocks, Hkv, D / x, B, x) with x elements of 16 bytes, values (blocks, Hkv, D, B).  The logit of token t of a
sequence of L tokens is scale * q . k[t] + slope[h] * (t - L + 1).  In the block-sparse pattern, which is active if its
vertical stride exceeds 1, the tokens form blocks of a separate size; block j is attended to if it is one of the last
`local_blocks`, or if (j + offset) % vert_stride is 0.  The offset is 1 + step * (tp_rank * Hq + h) for a step of 0 or
more, else 1 - step * (tp_rank * Hkv + kv_head).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.model import Case
from problems.kit.deferred import torch
from problems.kit.inference.caches import (
    AUTO,
    SPECIAL,
    blocks_of,
    cache_like,
    float_scale,
    loaded,
    loaded_eagerly,
    paged_table,
)
from problems.kit.layouts import laid_out
from problems.kit.values import normal, scattered

GROUP_BYTES = 16
K_SCALE, V_SCALE = 0.02, 0.01
_FAR_QUERY, _FAR_KEY = -64.0, 16.0  # for heads of 32 elements a term of -181, whose exponential vanishes


@dataclass(frozen=True, kw_only=True)
class Sparsity:
    """The block-sparse pattern, in the operator's parameters."""

    tp_rank: int
    local_blocks: int
    vert_stride: int
    block_size: int
    head_sliding_step: int

    def attended(self, length: int, *, head: int, heads: int, kv_head: int, kv_heads: int) -> torch.Tensor:
        """(length,), bool: true for tokens that a head attends to."""
        if self.vert_stride <= 1:
            return torch.ones(length, dtype=torch.bool)
        step = self.head_sliding_step
        offset = 1 + (
            step * (self.tp_rank * heads + head) if step >= 0 else -step * (self.tp_rank * kv_heads + kv_head)
        )
        block = torch.arange(length) // self.block_size
        is_local = block > (length - 1) // self.block_size - self.local_blocks
        return is_local | ((block + offset) % self.vert_stride == 0)


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """Inputs of both versions: query: (S, Hq, D), the caches, tables, lengths, slopes and scales."""

    query: torch.Tensor
    key_cache: torch.Tensor
    value_cache: torch.Tensor
    tables: torch.Tensor
    lengths: torch.Tensor
    slopes: torch.Tensor | None
    k_scale: torch.Tensor
    v_scale: torch.Tensor


def draw(case: Case, rng: torch.Generator) -> Drawn:
    """Inputs with the sizes of a case; an fp8 cache holds any codes except NaN.

    "special" queries and caches have NaN and infinities; see `_without_ambiguity` for where they may be. Logits "far
    below zero" have the same large negative term each.
    """
    lengths, heads, head_size = case.shape("lengths"), case.size("heads"), case.size("head_size")
    block_size, kv_heads = case.size("block_size"), case.size("kv_heads")
    blocks = sum(blocks_of(lengths, block_size)) + 2
    group = GROUP_BYTES // (1 if case.word("cache") != AUTO else case.dtype.bytes)
    query = normal((len(lengths), heads, head_size), case.dtype, rng)
    keys = cache_like((blocks, kv_heads, head_size // group, block_size, group), case, rng)
    values = cache_like((blocks, kv_heads, head_size, block_size), case, rng)
    if case.word("cache") != AUTO:
        keys, values = (codes.masked_fill(codes & 0x7F == 0x7F, 0x31) for codes in (keys, values))
    if case.word("values") == "special":
        query = scattered(query, rng, values=SPECIAL, each=1)
        keys, values = _without_ambiguity(keys, values)
    if case.word("values") == "far below zero":
        query[:, :, 0], keys[:, :, 0, :, 0] = _FAR_QUERY, _FAR_KEY
    slopes = torch.exp2(-torch.arange(1, heads + 1) / 2) if case.claim("alibi") else None
    scales = float_scale(K_SCALE), float_scale(V_SCALE)
    arranged = [
        laid_out(tensor, case.word("layout"))
        for tensor in (query, keys, values, paged_table(lengths, block_size, blocks, rng),
                       torch.tensor(lengths, dtype=torch.int32), *scales)
    ]  # fmt: skip
    slopes = laid_out(slopes, case.word("layout")) if slopes is not None else None
    query, keys, values, tables, counts, k_scale, v_scale = arranged
    return Drawn(
        query=query, key_cache=keys, value_cache=values, tables=tables, lengths=counts, slopes=slopes,
        k_scale=k_scale, v_scale=v_scale,
    )  # fmt: skip


def _without_ambiguity(keys: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The caches without logits of -inf on which correct kernels differ.

    A kernel may skip a token of weight 0 or multiply its value by 0, so values are finite beside an infinite key. A
    head whose logits are all -inf gets NaN or 0, so the keys of the first two tokens of a block have opposite signs:
    a query with an infinite element has a logit of +inf or NaN.
    """
    infinite = keys.isinf().any(dim=4).any(dim=2).unsqueeze(2)
    values = torch.where(infinite & ~values.isfinite(), torch.ones_like(values), values)
    keys[:, :, :, 1] = keys[:, :, :, 1].copysign(-keys[:, :, :, 0])
    return keys, values


@dataclass(frozen=True, kw_only=True)
class Attention:
    """One call: the inputs, the scale of the logits, the kind of cache and the block-sparse pattern."""

    drawn: Drawn
    scale: float
    kv_cache_dtype: str
    sparsity: Sparsity

    def logits(self, sequence: int, *, exact: bool) -> tuple[torch.Tensor, torch.Tensor]:
        """(Hq, L) logits, -inf where a head does not attend, and (Hq, L, D) values, 0 there.

        They are float64 if exact, else float32. An attended token may have a logit of -inf too: its weight is 0, and
        0 * inf is NaN.
        """
        given = self.drawn
        length, heads, kv_heads = int(given.lengths[sequence]), given.query.shape[1], given.key_cache.shape[1]
        keys, values = (
            tensor.repeat_interleave(heads // kv_heads, 0) for tensor in self._tokens(sequence, exact=exact)
        )
        query = given.query[sequence].to(keys.dtype)
        logits = torch.einsum("hd,hld->hl", query, keys) * self.scale
        if given.slopes is not None:
            distance = torch.arange(length, device=logits.device) - length + 1
            logits = logits + given.slopes.to(logits.dtype).unsqueeze(1) * distance
        attended = [
            self.sparsity.attended(
                length, head=head, heads=heads, kv_head=head // (heads // kv_heads), kv_heads=kv_heads
            )
            for head in range(heads)
        ]
        ignored = ~torch.stack(attended).to(logits.device)
        return logits.masked_fill(ignored, -math.inf), values.masked_fill(ignored.unsqueeze(-1), 0.0)

    def answers(self, *, exact: bool) -> Iterator[torch.Tensor]:
        """(H, D) of each sequence, H = Hq; zeros for an empty sequence."""
        for sequence in range(len(self.drawn.lengths)):
            logits, values = self.logits(sequence, exact=exact)
            yield weighted(torch.softmax(logits, dim=-1), values)

    def _tokens(self, sequence: int, *, exact: bool) -> tuple[torch.Tensor, torch.Tensor]:
        """Keys and values of one sequence, (Hkv, L, D) each."""
        given, read = self.drawn, loaded if exact else loaded_eagerly
        length, block_size = int(given.lengths[sequence]), given.value_cache.shape[-1]
        blocks = given.tables[sequence, : -(-length // block_size)].long()
        keys = read(given.key_cache[blocks], self.kv_cache_dtype, given.k_scale)
        values = read(given.value_cache[blocks], self.kv_cache_dtype, given.v_scale)
        keys = keys.permute(1, 0, 3, 2, 4).flatten(3).flatten(1, 2)[:, :length]
        values = values.permute(1, 0, 3, 2).flatten(1, 2)[:, :length]
        return (keys, values) if exact else (keys.float(), values.float())


def attention_of(
    query: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    num_kv_heads: int,
    scale: float,
    block_tables: torch.Tensor,
    seq_lens: torch.Tensor,
    block_size: int,
    max_seq_len: int,
    alibi_slopes: torch.Tensor | None,
    kv_cache_dtype: str,
    k_scale: torch.Tensor,
    v_scale: torch.Tensor,
    tp_rank: int = 0,
    blocksparse_local_blocks: int = 0,
    blocksparse_vert_stride: int = 0,
    blocksparse_block_size: int = 64,
    blocksparse_head_sliding_step: int = 0,
) -> Attention:
    """The call with the operator's arguments, from `query` on."""
    drawn = Drawn(
        query=query, key_cache=key_cache, value_cache=value_cache, tables=block_tables, lengths=seq_lens,
        slopes=alibi_slopes, k_scale=k_scale, v_scale=v_scale,
    )  # fmt: skip
    sparsity = Sparsity(
        tp_rank=tp_rank, local_blocks=blocksparse_local_blocks, vert_stride=blocksparse_vert_stride,
        block_size=blocksparse_block_size, head_sliding_step=blocksparse_head_sliding_step,
    )  # fmt: skip
    return Attention(drawn=drawn, scale=scale, kv_cache_dtype=kv_cache_dtype, sparsity=sparsity)


def weighted(weights: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """(H, L), (H, L, D) -> (H, D): the weighted sum of the values."""
    return torch.einsum("hl,hld->hd", weights, values)


def cost_of(case: Case, lengths: Sequence[int]) -> tuple[int, int]:
    """Operations, and bytes read: every key and value of the sequences once."""
    tokens, head_size = sum(lengths), case.size("head_size")
    cached = 1 if case.word("cache") != AUTO else case.dtype.bytes
    query_bytes = len(lengths) * case.size("heads") * head_size * case.dtype.bytes
    listed = sum(blocks_of(lengths, case.size("block_size"))) + len(lengths)
    read = 2 * tokens * case.size("kv_heads") * head_size * cached + query_bytes + 4 * listed
    return 4 * tokens * case.size("heads") * head_size, read
