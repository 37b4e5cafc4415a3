"""Rotary embedding: (x, y) = (x*cos(p) - y*sin(p), y*cos(p) + x*sin(p)) for each pair of a head at position p.

query: (T, H, D) and key: (T, K, D), or None, are updated in place; cos(p) and sin(p) are in the row p = positions[t] of
cos_sin_cache: (P, R), R / 2 cosines before R / 2 sines.  Only the first R elements of a head turn: the pairs are
(i, i + R / 2) if is_neox, else (2i, 2i + 1).  head_size is D.  Any strides; positions are int32 or int64.  All floats
have one dtype.  NaN and infinities follow IEEE arithmetic: what is not finite reaches both elements of its pair and no
other.  Subnormal values may be flushed to zero.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import (
    BF16,
    F16,
    F32,
    FLOATS,
    Arguments,
    Layout,
    Special,
    cancelling,
    cases_over,
    integers,
    laid_out,
    normal,
    scattered,
    torch,
    torch_dtype,
)

_over = partial(
    cases_over,
    positions=497,
    key_heads=1,
    head_size=64,
    rotary=64,
    is_neox=True,
    layout=Layout.CONTIGUOUS,
    other_layout=Layout.CONTIGUOUS,
    position="int64",
    values="normal",
)
_SPECIAL = [Special.NAN, Special.INF, Special.NEGATIVE_INF, Special.NEGATIVE_ZERO, Special.SUBNORMAL]
_SIZES = "{tokens}x{heads}x{head_size}"

CASES = (
    *_over(Tier.SMOKE, f"{_SIZES} {{dtype}}", tokens=7, heads=2, dtype=[F32, BF16]),
    *_over(Tier.SMOKE, f"{_SIZES} {{dtype}} interleaved", tokens=5, heads=2, dtype=F32, is_neox=False),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", tokens=[0, 1], heads=1, head_size=32, rotary=32, positions=32, dtype=F32),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} neox {{is_neox}}", tokens=31, heads=4, key_heads=4, head_size=32, rotary=32,
           dtype=FLOATS, is_neox=[True, False]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} neox {{is_neox}}", tokens=11, heads=16, key_heads=2, dtype=FLOATS,
           is_neox=[True, False]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} no key neox {{is_neox}}", tokens=13, heads=4, key_heads=0, dtype=[F32, F16],
           is_neox=[True, False]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} first {{rotary}} neox {{is_neox}}", tokens=9, heads=4, rotary=32,
           dtype=[F32, BF16], is_neox=[True, False]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} first {{rotary}} neox {{is_neox}}", tokens=9, heads=3, head_size=80,
           rotary=[40, 80], dtype=F32, is_neox=[True, False]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{layout}}", tokens=9, heads=4, key_heads=2, dtype=[F32, BF16],
           layout=Layout.PADDED),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{layout}} interleaved", tokens=9, heads=4, key_heads=2, dtype=F32,
           layout=Layout.PADDED, is_neox=False),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{position}} neox {{is_neox}} all {{layout}}", tokens=7, heads=3,
           key_heads=2, head_size=24, rotary=16, dtype=BF16, layout=Layout.IRREGULAR, other_layout=Layout.IRREGULAR,
           position="int32", is_neox=[True, False]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{values}}", tokens=7, heads=3, key_heads=2, head_size=16, rotary=16,
           dtype=FLOATS, values="special"),
    *_over(Tier.BENCH, f"{_SIZES} {{dtype}}", tokens=1024, positions=4096, heads=16, key_heads=16, dtype=[F32, BF16]),
    *_over(Tier.BENCH, f"{_SIZES} {{dtype}} interleaved", tokens=1024, positions=4096, heads=16, key_heads=16,
           dtype=BF16, is_neox=False),
    *_over(Tier.BENCH, f"{_SIZES} {{dtype}}", tokens=5333, positions=8192, heads=16, key_heads=4, dtype=BF16),
)  # fmt: skip

_BASE = 10000.0


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """positions: (T,), query: (T, H, D), key: (T, K, D) or None, cos_sin_cache: (P, R), cosines before sines.

    The last token is at the last position.  Only the first R elements of a head are rotated.  In "padded" query and key
    are slices of wider projections. Every frequency starts at a random angle, so a kernel that computes the table
    instead of reading it is wrong.  "special" query and key have NaN and infinities, and so has the last row of the
    table.
    """
    tokens, head_size, key_heads = case.size("tokens"), case.size("head_size"), case.size("key_heads")
    positions = integers((tokens,), DType.INT64, rng, low=0, high=case.size("positions"))
    positions[-1:] = case.size("positions") - 1
    turned = [normal((tokens, heads, head_size), case.dtype, rng) for heads in (case.size("heads"), key_heads) if heads]
    table = _cos_sin_cache(case, rng)
    if case.word("values") == "special":
        turned = [scattered(x, rng, values=_SPECIAL) for x in turned]
        table[-1, 0], table[-1, -1] = torch.nan, torch.inf
    other = case.word("other_layout")
    query, *keys = (laid_out(x, case.word("layout")) for x in turned)
    key = keys[0] if keys else None
    positions = positions.to(torch_dtype(DType(case.word("position"))))
    return laid_out(positions, other), query, key, head_size, laid_out(table, other), case.claim("is_neox")


def reference(
    positions: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor | None,
    head_size: int,
    cos_sin_cache: torch.Tensor,
    is_neox: bool,
) -> tuple[torch.Tensor, ...]:
    """The final query and, where there is one, key; computed in float64."""
    table = cos_sin_cache.double()[positions]
    return tuple(_turned(x.double(), table, is_neox).to(x.dtype) for x in (query, key) if x is not None)


def eager(
    positions: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor | None,
    head_size: int,
    cos_sin_cache: torch.Tensor,
    is_neox: bool,
) -> None:
    """Computed in the dtype of the query."""
    table = cos_sin_cache[positions]
    for x in (query, key):
        if x is not None:
            x.copy_(_turned(x, table, is_neox))


def tolerance(case: Case) -> Tolerance:
    """Two products that may each be rounded before they cancel."""
    return cancelling(case.dtype)


def cost(case: Case) -> Cost:
    """Three operations per rotated element; table rows shared by several tokens are read once."""
    tokens, rotary = case.size("tokens"), case.size("rotary")
    heads = case.size("heads") + case.size("key_heads")
    rows = min(tokens, case.size("positions"))
    turned_bytes = tokens * heads * rotary * case.dtype.bytes
    return Cost(
        flops=3 * tokens * heads * rotary,
        bytes_read=turned_bytes + rows * rotary * case.dtype.bytes + tokens * DType(case.word("position")).bytes,
        bytes_written=turned_bytes,
    )


def _cos_sin_cache(case: Case, rng: torch.Generator) -> torch.Tensor:
    """(P, R): the cosines of the R/2 frequencies, then their sines, at every position."""
    rotary = case.size("rotary")
    frequencies = _BASE ** (-torch.arange(0, rotary, 2, dtype=torch.float64) / rotary)
    beginnings = torch.rand(frequencies.shape, generator=rng, dtype=torch.float64) * 2 * torch.pi
    angles = torch.arange(case.size("positions"), dtype=torch.float64)[:, None] * frequencies + beginnings
    return torch.cat((angles.cos(), angles.sin()), dim=-1).to(torch_dtype(case.dtype))


def _turned(heads: torch.Tensor, table: torch.Tensor, is_neox: bool) -> torch.Tensor:
    """heads: (T, H, D), table: (T, R); a pair is (i, i + R/2) in the neox style, (2i, 2i + 1) in the other."""
    rotary = table.shape[-1]
    cos, sin = table[:, None, : rotary // 2], table[:, None, rotary // 2 :]
    first = slice(0, rotary // 2) if is_neox else slice(0, rotary, 2)
    second = slice(rotary // 2, rotary) if is_neox else slice(1, rotary, 2)
    x, y = heads[..., first], heads[..., second]
    turned = heads.clone()
    turned[..., first] = x * cos - y * sin
    turned[..., second] = y * cos + x * sin
    return turned


PROBLEM = ProblemDefinition(
    name="vllm::rotary_embedding",
    entry="rotary_embedding",
    signature=(
        "rotary_embedding(positions: Tensor, query: Tensor, key: Tensor | None, head_size: int, "
        "cos_sin_cache: Tensor, is_neox: bool) -> None"
    ),
    summary="Rotary position embedding",
    category=Category.POSITIONAL,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    returns=0,
    mutates=("query", "key"),
)
