"""Keys and values into a paged cache: key_cache[slot // B, slot % B] = key[t], value_cache likewise.

slot = slot_mapping[t], int64; -1 marks a token that is skipped, and no slot is written twice.  With kv_cache_dtype
"auto" the caches have the dtype of the keys and values are copied: NaN, infinities and -0.0 are copied unchanged, and
the scales, one float32 each, are ignored.  With "fp8" the caches are uint8 and hold the e4m3fn codes of key / k_scale
and value / v_scale, rounded to the nearest and saturated at 448; NaN is outside of the contract there.  Any strides.
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
    cases_over, heads=2, head_size=24, blocks=4, block_size=16, skipped=0, cache=AUTO, values="mixed",
    layout=Layout.CONTIGUOUS,
)  # fmt: skip
_SIZES = "{tokens}x{heads}x{head_size} to {blocks}x{block_size}"

CASES = (
    *_over(Tier.SMOKE, f"{_SIZES} {{dtype}} {{cache}}", tokens=7, dtype=F16, cache=[AUTO, FP8]),
    *_over(Tier.SMOKE, f"{_SIZES} {{dtype}} {{skipped}} skipped", tokens=9, skipped=3, dtype=BF16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{cache}}", tokens=[0, 1], heads=1, dtype=F16, cache=[AUTO, FP8]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{cache}}", tokens=17, heads=4, head_size=[64, 128], dtype=[F16, BF16],
           cache=[AUTO, FP8]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", tokens=[15, 16, 64], heads=3, head_size=[1, 33], dtype=BF16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", tokens=5, head_size=40, blocks=[7, 11], block_size=1, dtype=F16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{cache}} {{skipped}} skipped", tokens=20, dtype=F16, cache=[AUTO, FP8],
           skipped=[1, 20]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{cache}} {{layout}}", tokens=11, heads=3, dtype=[F16, BF16],
           cache=[AUTO, FP8], layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{values}}", tokens=9, dtype=[F16, BF16], skipped=1, values="special"),
    *_over(Tier.BENCH, f"{_SIZES} {{dtype}} {{cache}}", tokens=4096, heads=8, head_size=128, blocks=512, dtype=BF16,
           cache=[AUTO, FP8]),
)  # fmt: skip

_K_SCALE, _V_SCALE = 0.3, 1.7


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """key, value: (T, H, D), key_cache, value_cache: (blocks, B, H, D), slot_mapping: (T,), scales: (1,).

    Values stored as fp8 are not near the midpoint of two codes; some exceed the largest value.
    """
    shape = (case.size("tokens"), case.size("heads"), case.size("head_size"))
    blocks, block_size = case.size("blocks"), case.size("block_size")
    key, value = (to_be_cached(shape, case, rng, scale=scale) for scale in (_K_SCALE, _V_SCALE))
    key_cache, value_cache = (cache_like((blocks, block_size, *shape[1:]), case, rng) for _ in range(2))
    mapping = slots(case, shape[0], blocks * block_size, rng)
    *tensors, k_scale, v_scale = arranged(
        case, key, value, key_cache, value_cache, mapping, float_scale(_K_SCALE), float_scale(_V_SCALE)
    )
    return *tensors, case.word("cache"), k_scale, v_scale


def reference(
    key: torch.Tensor,
    value: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    slot_mapping: torch.Tensor,
    kv_cache_dtype: str,
    k_scale: torch.Tensor,
    v_scale: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The final key_cache and value_cache, token by token."""
    keys, values = key_cache.clone(), value_cache.clone()
    new_keys, new_values = stored(key, kv_cache_dtype, k_scale), stored(value, kv_cache_dtype, v_scale)
    for token, slot in enumerate(slot_mapping.tolist()):
        if slot >= 0:
            block, place = divmod(slot, key_cache.shape[1])
            keys[block, place] = new_keys[token]
            values[block, place] = new_values[token]
    return keys, values


def eager(
    key: torch.Tensor,
    value: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    slot_mapping: torch.Tensor,
    kv_cache_dtype: str,
    k_scale: torch.Tensor,
    v_scale: torch.Tensor,
) -> None:
    """All tokens at once, by index assignment."""
    written = slot_mapping >= 0
    slot = slot_mapping[written]
    blocks, places = slot // key_cache.shape[1], slot % key_cache.shape[1]
    key_cache[blocks, places] = stored_eagerly(key[written], kv_cache_dtype, k_scale)
    value_cache[blocks, places] = stored_eagerly(value[written], kv_cache_dtype, v_scale)


def cost(case: Case) -> Cost:
    """A division for each element that is scaled; tokens that are skipped move nothing."""
    written = case.size("tokens") - case.size("skipped")
    elements = 2 * written * case.size("heads") * case.size("head_size")
    return Cost(
        flops=0 if case.word("cache") == AUTO else elements,
        bytes_read=elements * case.dtype.bytes + 8 * case.size("tokens"),
        bytes_written=elements * cache_bytes(case),
    )


PROBLEM = ProblemDefinition(
    name="vllm::reshape_and_cache_flash",
    entry="reshape_and_cache_flash",
    signature=(
        "reshape_and_cache_flash(key: Tensor, value: Tensor, key_cache: Tensor, value_cache: Tensor, "
        "slot_mapping: Tensor, kv_cache_dtype: str, k_scale: Tensor, v_scale: Tensor) -> None"
    ),
    summary="Scatter new keys/values into the flash-attention cache layout",
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
    mutates=("key_cache", "value_cache"),
)
