"""Selective state-space scan: h = exp(d * A) * h + d * u[t] * B[:, t]; y[t] = sum(C[:, t] * h) + D * u[t].

Channel by channel, with d = delta[c, t] + delta_bias[c], and d = log(1 + e^d) if delta_softplus; B and C are those of
the group c // (channels / groups).  The tokens query_start_loc[s] up to query_start_loc[s + 1] are sequence s, which
has at least one.  It begins with h = ssm_states[cache_indices[s], c] if has_initial_state[s], else with 0, and leaves
its last h there; a sequence whose index is pad_slot_id is skipped, and states of no sequence keep their values.  The
answer is written to z_ as y * z_ / (1 + e^-z_) where z_ is not None, and then delta keeps its values; else y is written
to delta.

u, delta, B, C and z_ are float16 or bfloat16, A, D_, delta_bias_ and ssm_states float32; any strides.  Sums are carried
in float32 or better.  block_size and the last three arguments, for states kept at block boundaries, are ignored here;
they are 1024 and None.  NaN and infinities follow IEEE arithmetic, in their channel from their token on. Subnormal
values may be flushed to zero.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from engine.model import Case, Category, Cost, ProblemDefinition, Tier, Tolerance
from problems.kit import (
    BF16,
    F16,
    F32,
    Arguments,
    Layout,
    Special,
    cases_over,
    distinct,
    laid_out,
    normal,
    rounded,
    scattered,
    torch,
)

_over = partial(
    cases_over, channels=16, states=8, groups=1, softplus=True, options="D z bias", initial=True, skipped=False,
    values="normal", layout=Layout.CONTIGUOUS,
)  # fmt: skip
_SIZES = "{lengths} by {channels}x{states}"

CASES = (
    *_over(Tier.SMOKE, f"{_SIZES} {{dtype}}", lengths=(3, 5), dtype=[F16, BF16]),
    *_over(Tier.SMOKE, f"{_SIZES} {{dtype}} without {{options}}", lengths=(4,), dtype=F16, options="", initial=False,
           softplus=False),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", lengths=[(1,), (7, 3, 12, 1), (16, 32)], dtype=[F16, BF16]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} softplus {{softplus}} with {{options}}", lengths=(9, 4), dtype=BF16,
           softplus=[True, False], options=["D", "D z", "D bias", "z bias"]),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} groups {{groups}}", lengths=(11, 20), channels=64, states=16, groups=[2, 4],
           dtype=F16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} from 0", lengths=(5, 17), channels=33, states=[1, 5], dtype=F16,
           initial=False),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", lengths=(5, 17), channels=33, states=5, dtype=F16),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} some skipped", lengths=(6, 3, 9), dtype=[F16, BF16], skipped=True),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{layout}}", lengths=(6, 3), dtype=[F16, BF16], layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{layout}} with {{options}}", lengths=(2, 7), dtype=F16, options="D",
           layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{values}}", lengths=(6, 10), dtype=[F16, BF16], values="special"),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}} {{values}}", lengths=(6, 10), dtype=BF16, values="large steps"),
    *_over(Tier.FULL, f"{_SIZES} {{dtype}}", lengths=(257,), channels=4, dtype=BF16),
    *_over(Tier.BENCH, f"{_SIZES} {{dtype}}", lengths=(1024, 512, 512), channels=4096, states=16, dtype=[F16, BF16]),
)  # fmt: skip

_PAD, _BLOCK, _SPARE_STATES = -1, 1024, 2
_LARGE_STEP = 100.0  # its exponential overflows float32
_SPECIAL = [Special.NAN, Special.INF, Special.NEGATIVE_ZERO]


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """u, delta: (C, L), A: (C, N), B, C: (G, N, L), D_, delta_bias_: (C,), z_: (C, L), ssm_states: (slots, C, N).

    Steps are about 0.2 and A is negative, as in models; one "large" step in four is above 100.  "special" inputs u have
    NaN and infinities.  The first sequence has the last slot, so that reading past its states is reading past the
    memory.
    """
    lengths, channels, states = case.shape("lengths"), case.size("channels"), case.size("states")
    options, tokens = case.word("options").split(), sum(lengths)
    u, z = (normal((channels, tokens), case.dtype, rng) for _ in range(2))
    if case.word("values") == "special":
        u = scattered(u, rng, values=_SPECIAL, each=1)
    delta = normal((channels, tokens), case.dtype, rng).abs() * 0.2
    if case.word("values") == "large steps":
        delta = torch.where(torch.rand(delta.shape, generator=rng) < 1 / 4, delta + _LARGE_STEP, delta)
    a = -torch.rand((channels, states), generator=rng) - 0.1
    b, c = (normal((case.size("groups"), states, tokens), case.dtype, rng) for _ in range(2))
    d, bias = normal((channels,), F32, rng), torch.rand(channels, generator=rng) * 0.2
    starts = torch.tensor([0, *lengths]).cumsum(0).int()
    count = len(lengths) + _SPARE_STATES
    slots = distinct(len(lengths), count, rng).int()
    slots[slots == count - 1], slots[0] = slots[0].item(), count - 1
    if case.claim("skipped"):
        slots[1] = _PAD
    initial = torch.arange(len(lengths)) % 2 == 0 if case.claim("initial") else torch.zeros(len(lengths)) != 0
    memory = normal((count, channels, states), F32, rng)
    u, delta, a, b, c, d, z, bias, starts, slots, initial, memory = (
        laid_out(x, case.word("layout")) for x in (u, delta, a, b, c, d, z, bias, starts, slots, initial, memory)
    )
    return (
        u, delta, a, b, c, d if "D" in options else None, z if "z" in options else None,
        bias if "bias" in options else None, case.claim("softplus"), starts, slots, initial, memory,
        _PAD, _BLOCK, None, None, None,
    )  # fmt: skip


def reference(
    u: torch.Tensor,
    delta: torch.Tensor,
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor,
    d: torch.Tensor | None,
    z: torch.Tensor | None,
    *others: Any,  # Any: the other arguments in order, as `_scan` types them
) -> tuple[torch.Tensor, ...]:
    """The final delta, z_ where there is one, and ssm_states; in float64."""
    written = (delta.clone(), None if z is None else z.clone())
    memory = _scan(u, *written, (a, b, c, d), *others, dtype=torch.float64)
    return tuple(tensor for tensor in (*written, memory) if tensor is not None)


def eager(
    u: torch.Tensor,
    delta: torch.Tensor,
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor,
    d: torch.Tensor | None,
    z: torch.Tensor | None,
    *others: Any,  # Any: the other arguments in order, as `_scan` types them
) -> None:
    """Token by token in float32."""
    others[5].copy_(_scan(u, delta, z, (a, b, c, d), *others, dtype=torch.float32))


def tolerance(case: Case) -> Tolerance:
    """A recurrence in float32 with factors below 1, sums over the states, and two roundings."""
    return rounded(case.dtype, roundings=2, terms=case.size("states") + max(case.shape("lengths")))


def cost(case: Case) -> Cost:
    """Eight operations for each state of a channel at a token that is not skipped."""
    lengths, channels, states = case.shape("lengths"), case.size("channels"), case.size("states")
    tokens = sum(lengths) - (lengths[1] if case.claim("skipped") else 0)
    sequences = len(lengths) - case.claim("skipped")
    moved = channels + channels + 2 * case.size("groups") * states + (channels if "z" in case.word("options") else 0)
    return Cost(
        flops=8 * tokens * channels * states,
        bytes_read=tokens * moved * case.dtype.bytes + 4 * channels * states,
        bytes_written=tokens * channels * case.dtype.bytes + 4 * sequences * channels * states,
    )


def _scan(
    u: torch.Tensor,
    delta: torch.Tensor,
    z: torch.Tensor | None,
    matrices: tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor | None],
    bias: torch.Tensor | None,
    softplus: bool,
    starts: torch.Tensor,
    slots: torch.Tensor,
    has_initial: torch.Tensor,
    memory: torch.Tensor,
    pad: int,
    *_unused: object,
    dtype: torch.dtype,
) -> torch.Tensor:
    """Write the answer to z or delta, and return the final states; computed in `dtype`."""
    a, b, c, d = (None if matrix is None else matrix.to(dtype) for matrix in matrices)
    assert a is not None and b is not None and c is not None
    per_group = len(u) // len(b)
    b, c = (matrix.repeat_interleave(per_group, 0) for matrix in (b, c))
    # Copies, since delta and z are written below: gradients need what was read.
    steps, gates = delta.to(dtype, copy=True), None if z is None else z.to(dtype, copy=True)
    steps = steps if bias is None else steps + bias.to(dtype).unsqueeze(1)
    steps = torch.nn.functional.softplus(steps) if softplus else steps
    final, x = memory.clone(), u.to(dtype)
    bounds = starts.tolist()
    for slot, start, end, continues in zip(slots.tolist(), bounds, bounds[1:], has_initial.tolist(), strict=False):
        if slot == pad:
            continue
        h = memory[slot].to(dtype) if continues else torch.zeros_like(a)
        for token in range(start, end):
            step = steps[:, token, None]
            h = torch.exp(step * a) * h + step * b[:, :, token] * x[:, token, None]
            y = (c[:, :, token] * h).sum(-1) + (0 if d is None else d * x[:, token])
            if z is None or gates is None:
                delta[:, token] = y.to(delta.dtype)
            else:
                z[:, token] = (y * torch.nn.functional.silu(gates[:, token])).to(z.dtype)
        final[slot] = h.to(final.dtype)
    return final


PROBLEM = ProblemDefinition(
    name="vllm::selective_scan_fwd",
    entry="selective_scan_fwd",
    signature=(
        "selective_scan_fwd(u: Tensor, delta: Tensor, A: Tensor, B: Tensor, C: Tensor, D_: Tensor | None, "
        "z_: Tensor | None, delta_bias_: Tensor | None, delta_softplus: bool, query_start_loc: Tensor, "
        "cache_indices: Tensor, has_initial_state: Tensor, ssm_states: Tensor, pad_slot_id: int = -1, "
        "block_size: int = 1024, block_idx_first_scheduled_token: Tensor | None = None, "
        "block_idx_last_scheduled_token: Tensor | None = None, initial_state_idx: Tensor | None = None) -> None"
    ),
    summary="Mamba selective state-space scan over variable-length sequences",
    category=Category.SCAN,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    returns=0,
    mutates=("delta", "z_", "ssm_states"),
)
