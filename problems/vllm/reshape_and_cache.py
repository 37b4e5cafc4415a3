"""Scatter into a paged cache: value_cache[slot // B, h, d, slot % B] = value[t, h, d] with slot = slot_mapping[t].

Keys likewise, in groups of x = 8 neighbours, 16 bytes: key_cache[slot // B, h, d // x, slot % B, d % x] = key[t, h, d].
All tensors may have any strides, the caches too; the slots are int32 or int64, -1 for a skipped token, and none is
written twice.  A copy: NaN, infinities, -0.0 and subnormal values are copied unchanged.  Caches of another dtype than
the keys, and other words than "auto", are outside of the contract.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import (
    BF16,
    EXACT,
    F16,
    Arguments,
    Layout,
    cases_over,
    distinct,
    laid_out,
    mixed,
    scattered,
    torch,
    torch_dtype,
)

_over = partial(
    cases_over, heads=2, head_size=64, blocks=4, block_size=16, skipped=0, layout=Layout.CONTIGUOUS, slots="any",
    other_layout=Layout.CONTIGUOUS, slot_dtype="int64", values="mixed",
)  # fmt: skip
_VALUES_PADDED = "only values padded"
_SIZES = "{tokens}x{heads}x{head_size} to {blocks}x{block_size}"

CASES = (
    *_over(Tier.SMOKE, f"{_SIZES} {{dtype}}", tokens=7, dtype=[F16, BF16]),
    *_over(Tier.SMOKE, f"{_SIZES} {{dtype}} {{skipped}} skipped", tokens=9, heads=1, skipped=3, dtype=BF16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", tokens=[0, 1], heads=1, dtype=F16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", tokens=4, heads=8, blocks=4, dtype=[F16, BF16]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", tokens=[15, 16, 17], dtype=F16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", tokens=63, heads=1, head_size=[8, 72, 128], dtype=[F16, BF16]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", tokens=24, heads=3, blocks=[1, 5], block_size=32, dtype=BF16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", tokens=5, heads=3, blocks=11, block_size=1, dtype=BF16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", tokens=5, heads=9, head_size=128, blocks=2, block_size=8, dtype=BF16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} every slot", tokens=64, heads=2, dtype=F16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{skipped}} skipped", tokens=20, skipped=[1, 20], dtype=[F16, BF16]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{slots}}", tokens=15, dtype=BF16, slots="a row by its ends"),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{layout}}", tokens=13, dtype=[F16, BF16], layout=Layout.PADDED),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{layout}}", tokens=11, dtype=F16, layout=_VALUES_PADDED),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{slot_dtype}} all {{layout}}", tokens=9, heads=3, head_size=24, skipped=1,
           dtype=BF16, layout=Layout.IRREGULAR, other_layout=Layout.IRREGULAR, slot_dtype="int32"),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{values}}", tokens=9, heads=1, head_size=8, skipped=2, blocks=2,
           dtype=[F16, BF16], values="special"),
    *_over(Tier.BENCH, f"{_SIZES} {{dtype}}", tokens=128, heads=8, head_size=64, blocks=64, dtype=F16),
    *_over(Tier.BENCH, f"{_SIZES} {{dtype}}", tokens=256, heads=16, head_size=128, blocks=64, dtype=[F16, BF16]),
)  # fmt: skip

_GROUP_BYTES = 16


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """key, value: (T, H, D), key_cache: (blocks, H, D/x, B, x), value_cache: (blocks, H, D, B), slot_mapping: (T,).

    No slot is written twice; `skipped` tokens have the slot -1 and are not written.  In "padded" key and value are
    slices of wider projections, in "only values padded" only value is; in "a row by its ends" all slots except the
    first and the last are in random order. "special" keys, values and caches hold NaN and extremes.  The scales, one
    element each, are ignored with "auto".
    """
    tokens, heads, head_size = case.size("tokens"), case.size("heads"), case.size("head_size")
    blocks, block_size = case.size("blocks"), case.size("block_size")
    group = _GROUP_BYTES // case.dtype.bytes
    layouts = case.word("layout"), case.word("layout")
    if case.word("layout") == _VALUES_PADDED:
        layouts = Layout.CONTIGUOUS, Layout.PADDED
    shapes = [
        (tokens, heads, head_size),
        (tokens, heads, head_size),
        (blocks, heads, head_size // group, block_size, group),
        (blocks, heads, head_size, block_size),
    ]
    moved = [mixed(shape, case.dtype, rng) for shape in shapes]
    if case.word("values") == "special":
        moved = [scattered(tensor, rng, each=3) for tensor in moved]
    other = case.word("other_layout")
    key, value, key_cache, value_cache = map(laid_out, moved, (*layouts, other, other))
    slots = distinct(tokens, blocks * block_size, rng)
    if case.word("slots") == "a row by its ends":
        slots = torch.cat((torch.tensor([0]), 1 + distinct(tokens - 2, tokens - 2, rng), torch.tensor([tokens - 1])))
    slots[distinct(case.size("skipped"), tokens, rng)] = -1
    slots = laid_out(slots.to(torch_dtype(DType(case.word("slot_dtype")))), other)
    k_scale, v_scale = (laid_out(torch.rand(1, generator=rng) + 0.5, other) for _ in range(2))
    return key, value, key_cache, value_cache, slots, "auto", k_scale, v_scale


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
    block_size, group = key_cache.shape[3:]
    for token, slot in enumerate(slot_mapping.tolist()):
        if slot >= 0:
            block, place = divmod(slot, block_size)
            keys[block, :, :, place, :] = key[token].reshape(*keys.shape[1:3], group)
            values[block, :, :, place] = value[token]
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
    block_size, group = key_cache.shape[3:]
    written = slot_mapping >= 0
    slots = slot_mapping[written]
    blocks, places = slots // block_size, slots % block_size
    key_cache[blocks, :, :, places, :] = key[written].reshape(-1, *key_cache.shape[1:3], group)
    value_cache[blocks, :, :, places] = value[written]


def tolerance(case: Case) -> Tolerance:
    """A copy."""
    return EXACT


def cost(case: Case) -> Cost:
    """No arithmetic; each token that is not skipped moves a key and a value."""
    written = case.size("tokens") - case.size("skipped")
    moved_bytes = 2 * written * case.size("heads") * case.size("head_size") * case.dtype.bytes
    slot_bytes = case.size("tokens") * DType(case.word("slot_dtype")).bytes
    return Cost(flops=0, bytes_read=moved_bytes + slot_bytes, bytes_written=moved_bytes)


PROBLEM = ProblemDefinition(
    name="vllm::reshape_and_cache",
    entry="reshape_and_cache",
    signature=(
        "reshape_and_cache(key: Tensor, value: Tensor, key_cache: Tensor, value_cache: Tensor, slot_mapping: Tensor, "
        "kv_cache_dtype: str, k_scale: Tensor, v_scale: Tensor) -> None"
    ),
    summary="Scatter new keys/values into the paged cache (interleaved key layout)",
    category=Category.KV_CACHE,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    determinism=Determinism.EXACT,
    returns=0,
    mutates=("key_cache", "value_cache"),
)
