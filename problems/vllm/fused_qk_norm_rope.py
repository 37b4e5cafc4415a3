"""Norm and rotation of query and key heads: qkv[t, h] = rotate(x / sqrt(mean(x ** 2) + eps) * w, t) for x = qkv[t, h].

qkv: (T, (Hq + Hk + Hv) * D) holds the heads of the queries, keys and values of a token side by side; w is q_weight for
the first, k_weight for the second, (D,) each; value heads do not change.  The rotation turns the first R =
cos_sin_cache.shape[1] elements of a head by the row position_ids[t] of the table, R / 2 cosines before R / 2 sines: (x,
y) becomes (x * cos - y * sin, y * cos + x * sin) for the pairs (i, i + R / 2) if is_neox, else (2i, 2i + 1).

float16 or bfloat16 throughout, positions int64 (or int32), all tensors of any strides; squares that overflow float32
are outside of the contract.  NaN makes its head NaN; an infinity makes its own pair (itself from element R on) NaN and
the rest of the head 0.  Subnormal values may be flushed to zero.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import (
    BF16,
    F16,
    Arguments,
    Layout,
    Special,
    cases_over,
    integers,
    mixed,
    normal,
    scattered,
    torch,
    torch_dtype,
)
from problems.kit.inference.arguments import arranged

_over = partial(
    cases_over, heads=(2, 1, 1), head_dim=64, rotary=64, positions=97, is_neox=True, eps=1e-6, magnitude=1.0,
    values="mixed", layout=Layout.CONTIGUOUS,
)  # fmt: skip
_SIZES = "{tokens} of {heads}x{head_dim}"
_SPECIAL = [Special.NAN, Special.INF, Special.NEGATIVE_INF, Special.NEGATIVE_ZERO, Special.SUBNORMAL]

CASES = (
    *_over(Tier.SMOKE, f"{_SIZES} {{dtype}} neox {{is_neox}}", tokens=5, dtype=F16, is_neox=[True, False]),
    *_over(Tier.SMOKE, f"{_SIZES} {{dtype}}", tokens=3, heads=(3, 2, 2), dtype=BF16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", tokens=[0, 1], heads=(1, 1, 1), dtype=F16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} neox {{is_neox}}", tokens=7, heads=(4, 4, 4), head_dim=128, rotary=128,
           dtype=[F16, BF16], is_neox=[True, False]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} neox {{is_neox}}", tokens=31, heads=(8, 2, 2), dtype=BF16,
           is_neox=[True, False]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} first {{rotary}} neox {{is_neox}}", tokens=9, head_dim=128, rotary=32,
           dtype=F16, is_neox=[True, False]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} epsilon {{eps}}", tokens=5, dtype=[F16, BF16], eps=[1e-5, 0.5],
           magnitude=0.01),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{layout}} neox {{is_neox}}", tokens=5, dtype=[F16, BF16],
           layout=Layout.IRREGULAR, is_neox=[True, False]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{values}}", tokens=9, heads=(3, 2, 1), dtype=[F16, BF16],
           values="special"),
    *_over(Tier.BENCH, f"{_SIZES} {{dtype}}", tokens=4096, heads=[(16, 16, 16), (32, 8, 8)], head_dim=128, rotary=128,
           positions=8192, dtype=BF16),
)  # fmt: skip

_BASE = 10000.0


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """qkv: (T, H * D), the sizes, q_weight, k_weight: (D,), cos_sin_cache: (P, R), position_ids: (T,).

    "special" projections have NaN and infinities.
    """
    tokens, head_dim, heads = case.size("tokens"), case.size("head_dim"), case.shape("heads")
    qkv = mixed((tokens, sum(heads) * head_dim), case.dtype, rng) * case.number("magnitude")
    if case.word("values") == "special":
        qkv = scattered(qkv, rng, values=_SPECIAL)
    weights = [normal((head_dim,), case.dtype, rng) for _ in range(2)]
    positions = integers((tokens,), DType.INT64, rng, low=0, high=case.size("positions"))
    positions[-1:] = case.size("positions") - 1
    qkv, q_weight, k_weight, table, positions = arranged(case, qkv, *weights, _table(case, rng), positions)
    return (
        qkv, *heads, head_dim, case.number("eps"), q_weight, k_weight, table, case.claim("is_neox"), positions,
    )  # fmt: skip


def reference(
    qkv: torch.Tensor,
    num_heads_q: int,
    num_heads_k: int,
    num_heads_v: int,
    head_dim: int,
    eps: float,
    q_weight: torch.Tensor,
    k_weight: torch.Tensor,
    cos_sin_cache: torch.Tensor,
    is_neox: bool,
    position_ids: torch.Tensor,
) -> torch.Tensor:
    """The final qkv, in float64 up to one rounding."""
    heads = qkv.reshape(len(qkv), num_heads_q + num_heads_k + num_heads_v, head_dim)
    weights = torch.cat((q_weight.expand(num_heads_q, -1), k_weight.expand(num_heads_k, -1))).double()
    turned = heads[:, : len(weights)].double()
    normed = turned * torch.rsqrt(turned.square().mean(-1, keepdim=True) + eps) * weights
    _turn(normed, cos_sin_cache.double()[position_ids], is_neox)
    return torch.cat((normed.to(qkv.dtype), heads[:, len(weights) :]), dim=1).reshape(qkv.shape)


def eager(
    qkv: torch.Tensor,
    num_heads_q: int,
    num_heads_k: int,
    num_heads_v: int,
    head_dim: int,
    eps: float,
    q_weight: torch.Tensor,
    k_weight: torch.Tensor,
    cos_sin_cache: torch.Tensor,
    is_neox: bool,
    position_ids: torch.Tensor,
) -> None:
    """Norm and rotation in float32, the queries and then the keys."""
    table, start = cos_sin_cache.float()[position_ids], 0
    for count, weight in ((num_heads_q, q_weight), (num_heads_k, k_weight)):
        own = qkv[:, start : start + count * head_dim]
        heads = own.reshape(len(qkv), count, head_dim).float()
        heads = heads * torch.rsqrt(heads.square().mean(-1, keepdim=True) + eps) * weight.float()
        _turn(heads, table, is_neox)
        own.copy_(heads.reshape(own.shape))
        start += count * head_dim


def tolerance(case: Case) -> Tolerance:
    """A norm and two products of it, each possibly rounded; the products may cancel."""
    epsilon = case.dtype.epsilon
    return Tolerance(relative=4 * epsilon, absolute=12 * epsilon)


def cost(case: Case) -> Cost:
    """Four operations per element for the norm, three for the rotation; value heads are not read."""
    tokens, (queries, keys, _), head_dim = case.size("tokens"), case.shape("heads"), case.size("head_dim")
    elements, rotary = tokens * (queries + keys) * head_dim, case.size("rotary")
    rows = min(tokens, case.size("positions"))
    return Cost(
        flops=4 * elements + 3 * tokens * (queries + keys) * rotary,
        bytes_read=(elements + 2 * head_dim + rows * rotary) * case.dtype.bytes + 8 * tokens,
        bytes_written=elements * case.dtype.bytes,
    )


def _table(case: Case, rng: torch.Generator) -> torch.Tensor:
    """(P, R): cosines, then sines, of R / 2 frequencies with random angles at position 0."""
    rotary = case.size("rotary")
    frequencies = _BASE ** (-torch.arange(0, rotary, 2, dtype=torch.float64) / rotary)
    first = torch.rand(frequencies.shape, generator=rng, dtype=torch.float64) * 2 * torch.pi
    angles = torch.arange(case.size("positions"), dtype=torch.float64)[:, None] * frequencies + first
    return torch.cat((angles.cos(), angles.sin()), dim=-1).to(torch_dtype(case.dtype))


def _turn(heads: torch.Tensor, table: torch.Tensor, is_neox: bool) -> None:
    """Rotate heads: (T, H, D) in place by table: (T, R)."""
    rotary = table.shape[-1]
    cos, sin = table[:, None, : rotary // 2], table[:, None, rotary // 2 :]
    first = slice(0, rotary // 2) if is_neox else slice(0, rotary, 2)
    second = slice(rotary // 2, rotary) if is_neox else slice(1, rotary, 2)
    x, y = heads[..., first].clone(), heads[..., second].clone()
    heads[..., first], heads[..., second] = x * cos - y * sin, y * cos + x * sin


PROBLEM = ProblemDefinition(
    name="vllm::fused_qk_norm_rope",
    entry="fused_qk_norm_rope",
    signature=(
        "fused_qk_norm_rope(qkv: Tensor, num_heads_q: int, num_heads_k: int, num_heads_v: int, head_dim: int, "
        "eps: float, q_weight: Tensor, k_weight: Tensor, cos_sin_cache: Tensor, is_neox: bool, "
        "position_ids: Tensor) -> None"
    ),
    summary="Per-head RMS norm of Q and K followed by rotary embedding, V untouched",
    category=Category.NORMALISATION,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    returns=0,
    mutates=("qkv",),
)
