"""Experts by groups: (weights, ids) = the topk experts of largest s + bias inside of the topk_group best groups.

s = scores, or 1 / (1 + e^-scores) for scoring_func 1.  The E experts of a token are num_expert_group groups of
neighbours; a group is as good as the sum of its two largest s + bias.  ids: (T, topk), int32, largest s + bias first;
weights: (T, topk), float32, are their s without the bias, divided by their sum if renormalize, times
routed_scaling_factor.  Of equal groups or experts the lower number comes first.

scores: (T, E) of float16, bfloat16 or float32, bias: (E,), float32; any strides.  A group has at least two experts, the
chosen groups at least topk.  Outside of the contract are NaN and infinities, and sums that differ by less than 1e-5
without being equal.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, cases_over, normal, rounded, torch, torch_dtype
from problems.kit.inference.arguments import arranged
from problems.kit.inference.steps import settled_rows

_over = partial(
    cases_over, groups=4, topk_group=2, topk=2, renormalize=False, factor=1.0, scoring=1, values="apart",
    layout=Layout.CONTIGUOUS,
)  # fmt: skip
_SIZES = "{tokens}x{experts} {groups} groups {topk_group} chosen top {topk} {dtype}"

CASES = (
    *_over(Tier.SMOKE, f"{_SIZES} renormalize {{renormalize}}", tokens=7, experts=32, dtype=F16,
           renormalize=[False, True]),
    *_over(Tier.SMOKE, f"{_SIZES} scoring {{scoring}}", tokens=5, experts=16, groups=2, topk_group=1, dtype=F32,
           scoring=0),
    *_over(Tier.FULL, f"{_SIZES} scoring {{scoring}}", tokens=17, experts=64, groups=[1, 2], topk_group=1, topk=[1, 4],
           dtype=FLOATS, scoring=[0, 1]),
    *_over(Tier.FULL, f"{_SIZES} factor {{factor}}", tokens=9, experts=256, groups=8, topk_group=4, topk=8,
           dtype=[F16, BF16], renormalize=True, factor=2.5),
    *_over(Tier.FULL, _SIZES, tokens=[0, 1, 33], experts=24, groups=3, topk_group=[2, 3], dtype=F32),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", tokens=9, experts=32, topk=6, dtype=[F32, BF16], values="ties",
           renormalize=True),
    *_over(Tier.FULL, f"{_SIZES} {{layout}}", tokens=7, experts=16, dtype=[F32, F16], layout=Layout.IRREGULAR),
    *_over(Tier.BENCH, _SIZES, tokens=[1024, 8192], experts=256, groups=8, topk_group=4, topk=8, dtype=BF16),
)  # fmt: skip

_LEAST_DIFFERENCE = 1e-5


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """scores: (T, E), the sizes and choices, bias: (E,), scoring_func.

    Sums whose order matters are not near each other; "ties" are small whole numbers without a bias.
    """
    tokens, experts = case.size("tokens"), case.size("experts")
    choices = (case.size("groups"), case.size("topk_group"), case.size("topk"))
    scoring, bias = case.size("scoring"), normal((experts,), F32, rng) * 0.1
    if case.word("values") == "ties":
        scores, bias = torch.randint(-1, 2, (tokens, experts), generator=rng), torch.zeros(experts)
        scores = scores.to(torch_dtype(case.dtype))
    else:
        scores = settled_rows(
            tokens,
            lambda count: normal((count, experts), case.dtype, rng),
            lambda drawn: _are_apart(drawn, bias, scoring, choices),
        )
    scores, bias = arranged(case, scores, bias)
    return scores, *choices, case.claim("renormalize"), case.number("factor"), bias, scoring


def reference(
    scores: torch.Tensor,
    num_expert_group: int,
    topk_group: int,
    topk: int,
    renormalize: bool,
    routed_scaling_factor: float,
    bias: torch.Tensor,
    scoring_func: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """(T, topk) weights and ids, in float64."""
    s = _scored(scores.double(), scoring_func)
    return _routed(s, bias, (num_expert_group, topk_group, topk), renormalize, routed_scaling_factor)


def eager(
    scores: torch.Tensor,
    num_expert_group: int,
    topk_group: int,
    topk: int,
    renormalize: bool,
    routed_scaling_factor: float,
    bias: torch.Tensor,
    scoring_func: int,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same in float32."""
    s = _scored(scores.float(), scoring_func)
    return _routed(s, bias, (num_expert_group, topk_group, topk), renormalize, routed_scaling_factor)


def tolerance(case: Case) -> Tolerance:
    """A sigmoid, a sum and a quotient in float32; far too small to accept a wrong id."""
    return rounded(F32, roundings=2, terms=case.size("topk"))


def cost(case: Case) -> Cost:
    """Six operations per score."""
    tokens, experts, topk = case.size("tokens"), case.size("experts"), case.size("topk")
    return Cost(
        flops=6 * tokens * experts,
        bytes_read=tokens * experts * case.dtype.bytes + 4 * experts,
        bytes_written=8 * tokens * topk,
    )


def _scored(scores: torch.Tensor, scoring: int) -> torch.Tensor:
    return torch.sigmoid(scores) if scoring == 1 else scores


def _ranked(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Values and indices in descending order; equal values in ascending order of index."""
    ordered = torch.sort(values, dim=-1, descending=True, stable=True)
    return ordered.values, ordered.indices


def _masked(biased: torch.Tensor, choices: tuple[int, int, int]) -> tuple[torch.Tensor, torch.Tensor]:
    """`biased` with -inf for experts of groups that are not chosen, and the values of the groups, descending."""
    groups, chosen, _ = choices
    parts = biased.reshape(len(biased), groups, biased.shape[1] // groups)
    values, order = _ranked(parts.topk(2, dim=-1).values.sum(-1))
    keeps = torch.zeros_like(values, dtype=torch.bool).scatter_(1, order[:, :chosen], True)
    return parts.masked_fill(~keeps.unsqueeze(-1), -torch.inf).reshape(biased.shape), values


def _routed(
    s: torch.Tensor, bias: torch.Tensor, choices: tuple[int, int, int], renormalize: bool, factor: float
) -> tuple[torch.Tensor, torch.Tensor]:
    masked, _ = _masked(s + bias.to(s.dtype), choices)
    ids = _ranked(masked)[1][:, : choices[2]]
    weights = s.gather(1, ids)
    weights = weights / weights.sum(-1, keepdim=True) if renormalize else weights
    return (weights * factor).float(), ids.int()


def _are_apart(scores: torch.Tensor, bias: torch.Tensor, scoring: int, choices: tuple[int, int, int]) -> torch.Tensor:
    """(T,): whether all sums that determine the experts of a token are far enough apart."""
    _, chosen, topk = choices
    masked, groups = _masked(_scored(scores.double(), scoring) + bias.double(), choices)
    groups = torch.cat((groups, groups.new_full((len(groups), 1), -torch.inf)), dim=1)
    best = _ranked(masked)[0][:, : topk + 1]
    between_groups = groups[:, chosen - 1] - groups[:, chosen]
    return (between_groups > _LEAST_DIFFERENCE) & ((best[:, :-1] - best[:, 1:]) > _LEAST_DIFFERENCE).all(1)


PROBLEM = ProblemDefinition(
    name="vllm::grouped_topk",
    entry="grouped_topk",
    signature=(
        "grouped_topk(scores: Tensor, num_expert_group: int, topk_group: int, topk: int, renormalize: bool, "
        "routed_scaling_factor: float, bias: Tensor, scoring_func: int) -> tuple[Tensor, Tensor]"
    ),
    summary="DeepSeek-style expert selection: groups by their best biased scores, then top-k experts inside them",
    category=Category.MOE_ROUTING,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    returns=2,
    cannot_reject={
        "nan_dropped": "NaN scores are outside of the contract",
        "infinities_clamped": "infinite scores are outside of the contract",
    },
)
