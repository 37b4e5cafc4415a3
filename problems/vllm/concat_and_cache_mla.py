"""Latent and rotary key of a token into its cache slot: kv_cache[slot // B, slot % B] = concat(kv_c[t], k_pe[t]).

slot = slot_mapping[t], int64; -1 marks a token that is skipped, and no slot is written twice.  With kv_cache_dtype
"auto" the cache has the dtype of the keys and values are copied: NaN, infinities and -0.0 are copied unchanged, and the
scale, one float32, is ignored.  With "fp8" the cache is uint8 and holds the e4m3fn codes of value / scale, rounded to
the nearest and saturated at 448; NaN is outside of the contract there.  Tensors in any strides.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, ProblemDefinition, Tier
from problems.kit import BF16, F16, Arguments, Layout, cases_over, torch
from problems.kit.inference.arguments import arranged, exact
from problems.kit.inference.caches import (
    AUTO,
    FP8,
    cache_bytes,
    cache_like,
    float_scale,
    slots,
    stored,
    stored_eagerly,
    to_be_cached,
)

_over = partial(
    cases_over, blocks=4, block_size=16, skipped=0, scale=0.5, cache=AUTO, values="mixed", layout=Layout.CONTIGUOUS
)
_SIZES = "{tokens}x{latent}+{rotary} to {blocks}x{block_size}"

CASES = (
    *_over(Tier.SMOKE, f"{_SIZES} {{dtype}} {{cache}}", tokens=7, latent=64, rotary=16, dtype=F16, cache=[AUTO, FP8]),
    *_over(Tier.SMOKE, f"{_SIZES} {{dtype}} {{skipped}} skipped", tokens=9, latent=40, rotary=8, skipped=3, dtype=BF16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{cache}}", tokens=[0, 1], latent=32, rotary=8, dtype=F16,
           cache=[AUTO, FP8]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{cache}}", tokens=17, latent=512, rotary=64, dtype=[F16, BF16],
           cache=[AUTO, FP8]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", tokens=64, latent=[1, 127, 128, 129], rotary=5, dtype=BF16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", tokens=5, latent=33, rotary=16, blocks=[7, 11], block_size=1, dtype=F16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{cache}} scale {{scale}}", tokens=20, latent=48, rotary=16,
           dtype=[F16, BF16], cache=FP8, scale=[0.0377, 1.0, 3.1]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{cache}} {{skipped}} skipped", tokens=20, latent=24, rotary=8,
           dtype=F16, cache=[AUTO, FP8], skipped=[1, 20]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{cache}} {{layout}}", tokens=11, latent=24, rotary=9, dtype=[F16, BF16],
           cache=[AUTO, FP8], layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{values}}", tokens=9, latent=16, rotary=8, dtype=[F16, BF16],
           skipped=1, values="special"),
    *_over(Tier.BENCH, f"{_SIZES} {{dtype}} {{cache}}", tokens=4096, latent=512, rotary=64, blocks=128, block_size=64,
           dtype=BF16, cache=[AUTO, FP8]),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """kv_c: (T, R), k_pe: (T, P), kv_cache: (blocks, B, R + P), slot_mapping: (T,), scale: (1,).

    Values stored as fp8 are not near the midpoint of two codes; some exceed the largest value.
    """
    tokens, latent, rotary = case.size("tokens"), case.size("latent"), case.size("rotary")
    blocks, block_size = case.size("blocks"), case.size("block_size")
    scale = case.number("scale")
    kv_c, k_pe = (to_be_cached((tokens, width), case, rng, scale=scale) for width in (latent, rotary))
    cache = cache_like((blocks, block_size, latent + rotary), case, rng)
    mapping = slots(case, tokens, blocks * block_size, rng)
    kv_c, k_pe, cache, mapping, factor = arranged(case, kv_c, k_pe, cache, mapping, float_scale(scale))
    return kv_c, k_pe, cache, mapping, case.word("cache"), factor


def reference(
    kv_c: torch.Tensor,
    k_pe: torch.Tensor,
    kv_cache: torch.Tensor,
    slot_mapping: torch.Tensor,
    kv_cache_dtype: str,
    scale: torch.Tensor,
) -> torch.Tensor:
    """The final kv_cache, token by token."""
    out, latent = kv_cache.clone(), kv_c.shape[1]
    first, second = (stored(part, kv_cache_dtype, scale) for part in (kv_c, k_pe))
    for token, slot in enumerate(slot_mapping.tolist()):
        if slot >= 0:
            block, place = divmod(slot, kv_cache.shape[1])
            out[block, place, :latent] = first[token]
            out[block, place, latent:] = second[token]
    return out


def eager(
    kv_c: torch.Tensor,
    k_pe: torch.Tensor,
    kv_cache: torch.Tensor,
    slot_mapping: torch.Tensor,
    kv_cache_dtype: str,
    scale: torch.Tensor,
) -> None:
    """All tokens at once, by index assignment."""
    written = slot_mapping >= 0
    slot = slot_mapping[written]
    entries = torch.cat((kv_c[written], k_pe[written]), dim=1)
    block_size = kv_cache.shape[1]
    kv_cache[slot // block_size, slot % block_size] = stored_eagerly(entries, kv_cache_dtype, scale)


def cost(case: Case) -> Cost:
    """A division for each element that is scaled; tokens that are skipped move nothing."""
    elements = (case.size("tokens") - case.size("skipped")) * (case.size("latent") + case.size("rotary"))
    return Cost(
        flops=0 if case.word("cache") == AUTO else elements,
        bytes_read=elements * case.dtype.bytes + 8 * case.size("tokens"),
        bytes_written=elements * cache_bytes(case),
    )


PROBLEM = ProblemDefinition(
    name="vllm::concat_and_cache_mla",
    entry="concat_and_cache_mla",
    signature=(
        "concat_and_cache_mla(kv_c: Tensor, k_pe: Tensor, kv_cache: Tensor, slot_mapping: Tensor, "
        "kv_cache_dtype: str, scale: Tensor) -> None"
    ),
    summary="Concatenate latent KV and rotary key of every token and write it into its cache slot",
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
    mutates=("kv_cache",),
)
