"""Expert routing: topk_weights, topk_ids = the k largest of softmax(gating_output), token by token, largest first.

If renormalize, the k weights of a token are divided by their sum.  token_expert_indices[t, j] = j * T + t numbers the
pairs rank by rank.  Of experts of equal weight the lower one comes first, experts of -inf, which weigh 0, included; 0.0
equals -0.0.

Gating values and weights are float32, token_expert_indices is int32, topk_ids int32 or int64; other dtypes are outside
of the contract.  All four tensors may have any strides.  From 1 to 4,096 experts, from 1 expert to all of them for a
token.  Outside of the contract are NaN and inf, rows of -inf only, whose softmax is NaN, and different gating values
whose weights are the same in float32.  Subnormal weights may be flushed to zero.
"""

from __future__ import annotations

import math
from functools import partial

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import F32, Arguments, Layout, cases_over, integers, laid_out, rounded, torch, torch_dtype

_over = partial(
    cases_over,
    dtype=F32,
    renormalize=False,
    values="mixed",
    layout=Layout.CONTIGUOUS,
    other_layout=Layout.CONTIGUOUS,
    index="int32",
)
_SIZES = "{tokens}x{experts} top {k}"

CASES = (
    *_over(Tier.SMOKE, f"{_SIZES} renormalize {{renormalize}}", tokens=7, experts=16, k=2, renormalize=[False, True]),
    *_over(Tier.SMOKE, _SIZES, tokens=5, experts=64, k=4),
    *_over(Tier.FULL, _SIZES, tokens=[0, 1], experts=8, k=1),
    *_over(Tier.FULL, f"{_SIZES} renormalize {{renormalize}}", tokens=32, experts=[8, 64], k=[1, 4],
           renormalize=[False, True]),
    *_over(Tier.FULL, _SIZES, tokens=[31, 33], experts=16, k=2),
    *_over(Tier.FULL, _SIZES, tokens=17, experts=[1, 7, 60, 65, 129], k=1),
    *_over(Tier.FULL, f"{_SIZES} renormalize {{renormalize}}", tokens=9, experts=60, k=[4, 8], renormalize=True),
    *_over(Tier.FULL, f"{_SIZES} all", tokens=9, experts=8, k=8, renormalize=True),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", tokens=17, experts=64, k=4, values=["large", "half masked"],
           renormalize=True),
    *_over(Tier.FULL, f"{_SIZES} not renormalized {{values}}", tokens=17, experts=64, k=4,
           values=["large", "half masked"]),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", tokens=17, experts=64, k=4, values="far below zero"),
    *_over(Tier.FULL, f"{_SIZES} {{index}} all {{layout}}", tokens=7, experts=16, k=2, layout=Layout.IRREGULAR,
           other_layout=Layout.IRREGULAR, index="int64", renormalize=True),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", tokens=9, experts=60, k=8, values="ties", renormalize=True),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", tokens=5, experts=64, k=4, values="few finite", renormalize=True),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", tokens=5, experts=65, k=1, values="near the largest"),
    *_over(Tier.FULL, _SIZES, tokens=3, experts=300, k=9, renormalize=True),
    *_over(Tier.FULL, _SIZES, tokens=1, experts=1100, k=2),
    *_over(Tier.BENCH, _SIZES, tokens=[128, 1024], experts=16, k=2),
    *_over(Tier.BENCH, f"{_SIZES} renormalize {{renormalize}}", tokens=4096, experts=64, k=4,
           renormalize=[False, True]),
)  # fmt: skip

_LARGE = 1000.0
_NEAR_LARGEST, _OF_THEM = 0.45, 8  # differences of such values do not overflow


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """topk_weights, topk_ids, token_expert_indices: (T, k), overwritten; gating_output: (T, E).

    The values of a token are equal, or so far apart that no correct rounding changes their order.  "large" is about
    1000, "far below zero" about -1000, "half masked" has -inf for experts that are never among the k, "few finite" for
    all except 1 to k - 1 experts.  "ties" are small whole numbers, zeros of both signs, and a row of one value. In
    "near the largest" several experts have equal values near the largest number, some near the lowest.
    """
    tokens, experts, k, values = case.size("tokens"), case.size("experts"), case.size("k"), case.word("values")
    ranks = torch.argsort(torch.rand((tokens, experts), generator=rng), dim=-1)
    steps = torch.rand((tokens, 1), generator=rng) * 0.4 + 0.1
    gating = (ranks + torch.rand((tokens, experts), generator=rng) * 0.5 - experts / 2) * steps
    if values == "large":
        gating = gating + _LARGE
    if values == "far below zero":
        gating = gating - _LARGE
    if values == "half masked":
        gating = gating.masked_fill(ranks < experts // 2, -math.inf)
    if values == "few finite":
        gating = gating.masked_fill(ranks < experts - 1 - torch.arange(tokens).unsqueeze(1) % (k - 1), -math.inf)
    if values == "ties":
        gating = _tied((tokens, experts), rng)
    if values == "near the largest":
        extreme = _NEAR_LARGEST * torch.finfo(gating.dtype).max
        gating = gating.masked_fill(ranks < _OF_THEM, -extreme).masked_fill(ranks >= experts - _OF_THEM, extreme)
    weights = torch.randn((tokens, k), generator=rng)
    ids, indices = (torch.randint(0, experts, (tokens, k), generator=rng, dtype=torch.int32) for _ in range(2))
    written = (weights, ids.to(torch_dtype(DType(case.word("index")))), indices)
    other = case.word("other_layout")
    weights, ids, indices = (laid_out(tensor, other) for tensor in written)
    return weights, ids, indices, laid_out(gating, case.word("layout")), case.claim("renormalize")


def reference(
    topk_weights: torch.Tensor,
    topk_ids: torch.Tensor,
    token_expert_indices: torch.Tensor,
    gating_output: torch.Tensor,
    renormalize: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The final weights, ids and indices; the softmax in float64."""
    return _routed(gating_output.double(), topk_ids, renormalize)


def eager(
    topk_weights: torch.Tensor,
    topk_ids: torch.Tensor,
    token_expert_indices: torch.Tensor,
    gating_output: torch.Tensor,
    renormalize: bool,
) -> None:
    """The same in the dtype of the gating values."""
    routed = _routed(gating_output, topk_ids, renormalize)
    for written, computed in zip((topk_weights, topk_ids, token_expert_indices), routed, strict=True):
        written.copy_(computed)


def tolerance(case: Case) -> Tolerance:
    """A softmax over the experts; far too small to accept a wrong id or index."""
    return rounded(F32, terms=case.size("experts"))


def cost(case: Case) -> Cost:
    """Five operations per gating value, as in a softmax."""
    tokens, experts, k = case.size("tokens"), case.size("experts"), case.size("k")
    return Cost(
        flops=5 * tokens * experts,
        bytes_read=tokens * experts * F32.bytes,
        bytes_written=tokens * k * (F32.bytes + DType(case.word("index")).bytes + DType.INT32.bytes),
    )


def _tied(shape: tuple[int, int], rng: torch.Generator) -> torch.Tensor:
    """Whole numbers from -2 to 0, about half of the zeros negative; the first row repeats a single value."""
    numbers = integers(shape, F32, rng, low=-2, high=1)
    signs = integers(shape, F32, rng, low=0, high=2) * 2 - 1
    gating = torch.where(numbers == 0, numbers * signs, numbers)
    gating[0] = torch.randn((), generator=rng)
    return gating


def _routed(
    gating: torch.Tensor, topk_ids: torch.Tensor, renormalize: bool
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """gating: (T, E) -> (T, k) float32, the dtype of topk_ids, int32.  torch.topk is not stable for equal values."""
    k = topk_ids.shape[-1]
    weights, ids = torch.sort(torch.softmax(gating, -1), dim=-1, descending=True, stable=True)
    weights, ids = weights[:, :k], ids[:, :k]
    if renormalize:
        weights = weights / weights.sum(-1, keepdim=True)
    tokens = len(gating)
    ranks = torch.arange(k, device=gating.device)
    indices = ranks[None, :] * tokens + torch.arange(tokens, device=gating.device)[:, None]
    return weights.float(), ids.to(topk_ids.dtype), indices.int()


PROBLEM = ProblemDefinition(
    name="vllm::topk_softmax",
    entry="topk_softmax",
    signature=(
        "topk_softmax(topk_weights: Tensor, topk_ids: Tensor, token_expert_indices: Tensor, gating_output: Tensor, "
        "renormalize: bool) -> None"
    ),
    summary="Softmax over experts, top-k weights and ids",
    category=Category.MOE_ROUTING,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    returns=0,
    mutates=("topk_weights", "topk_ids", "token_expert_indices"),
    written_only=("topk_weights", "topk_ids", "token_expert_indices"),
    cannot_reject={
        "nan_dropped": "NaN is outside of the contract",
        "infinities_clamped": "inf is outside of the contract, and -inf weighs 0 as the least finite value does",
    },
)
