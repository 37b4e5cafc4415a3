"""Expert products with GGML weights: out[i, r] = sum_k X[i // top_k, k] * w[e, r, k], pair i in a block of expert e.

W: (E, row, K / 32 * block bytes), uint8, X: (tokens, K).  sorted_token_ids, int32, lists pairs i from 0 to tokens *
top_k - 1 in blocks; a block has as many entries as sorted_token_ids has for each of expert_ids, int32, and belongs to
the expert of its number there.  As moe_align_block_size makes them, entries of tokens * top_k or more are padding, and
entries at positions from num_tokens_post_padded[0] on are ignored.  Every pair is listed once.  vLLM quantises
activations to 8 bits first, 32 neighbours of a row at a time, with a step of 1/127 of the largest: a correct kernel may
omit that step; the reference omits it.  quant_type names the layout of a block of 32 values, little-endian: 8 (Q8_0: d
in float16, then 32 signed bytes), 2 (Q4_0: d, then 16 bytes with value j in the lower half of byte j and value j + 16
in its upper half), 3 (Q4_1: d, offset in float16, 16 bytes), 6 (Q5_0: d, 4 bytes whose bit j is the fifth bit of value
j, 16 bytes) or 7 (Q5_1: d, offset, 4 bytes, 16 bytes).  A value is d * (code - middle) + offset, with a middle of 8 for
Q4_0, 16 for Q5_0 and 0 otherwise, and an offset of 0 where there is none.  X, and the answer, are float32, float16 or
bfloat16; any strides.  Activations are finite; weights have finite scales.  The columns of W are a multiple of 32.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, F16, F32, Arguments, Layout, cases_over, integers, laid_out, torch
from problems.kit.inference.ggml import (
    CANNOT_REJECT,
    activation_tolerance,
    activations,
    decoded,
    drawn,
    quantised_activations,
    row_bytes,
    with_detour,
)
from problems.kit.inference.routing import aligned

_over = partial(cases_over, block=4, layout=Layout.CONTIGUOUS, values="steps")
_SIZES = "{tokens}x{top_k} of {experts} {k}x{row} type {type} {dtype}"

CASES = (
    *_over(Tier.SMOKE, _SIZES, tokens=4, top_k=2, experts=4, k=64, row=24, type=8, dtype=[F32, F16]),
    *_over(Tier.SMOKE, _SIZES, tokens=3, top_k=1, experts=2, k=32, row=17, type=2, dtype=F32),
    *_over(Tier.FULL, _SIZES, tokens=5, top_k=2, experts=3, k=96, row=32, type=[2, 3, 6, 7, 8], dtype=[F32, BF16]),
    *_over(Tier.FULL, _SIZES, tokens=[1, 17], top_k=4, experts=8, k=64, row=33, type=8, dtype=F32),
    *_over(Tier.FULL, _SIZES, tokens=6, top_k=2, experts=16, k=256, row=20, type=8, dtype=F16),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", tokens=6, top_k=2, experts=16, k=256, row=1, type=8, dtype=F16,
           values=["steps", "normal"]),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", tokens=4, top_k=2, experts=3, k=512, row=33, type=[2, 8],
           dtype=[F32, F16], values="near steps"),
    *_over(Tier.FULL, f"{_SIZES} blocks of {{block}}", tokens=9, top_k=2, experts=4, k=64, row=16, type=8, dtype=F32,
           block=[1, 8, 16]),
    *_over(Tier.FULL, f"{_SIZES} {{layout}}", tokens=3, top_k=2, experts=3, k=64, row=9, type=[2, 8], dtype=F32,
           layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_SIZES} {{values}}", tokens=5, top_k=2, experts=3, k=512, row=40, type=2, dtype=[F16, BF16],
           values="detour"),
    *_over(Tier.BENCH, _SIZES, tokens=[8, 128], top_k=2, experts=8, k=2048, row=2048, type=8, dtype=F32,
           values="normal"),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """X: (tokens, K), W, sorted_token_ids, expert_ids, num_tokens_post_padded: (1,), quant_type, row, top_k, tokens.

    The lists have the length of the worst case; entries after the end are plausible and are ignored.
    """
    tokens, top_k, experts = case.size("tokens"), case.size("top_k"), case.size("experts")
    k, row, kind, block = case.size("k"), case.size("row"), case.size("type"), case.size("block")
    x, w = activations(case, (tokens, k), rng), drawn((experts, row, k), kind, rng)
    if case.word("values") == "detour":
        w, x = with_detour(w, x)
    chosen = integers((tokens * top_k,), DType.INT32, rng, low=0, high=experts)
    listed, owners = aligned(chosen, experts, block)
    blocks = -(-(tokens * top_k + experts * (block - 1)) // block)
    behind = integers((blocks * block - len(listed),), DType.INT32, rng, low=0, high=tokens * top_k)
    entries = torch.cat((listed, behind)).int()
    owners = torch.cat((owners, owners.new_zeros(blocks - len(owners)))).int()
    tensors = (x, w, entries, owners, torch.tensor([len(listed)], dtype=torch.int32))
    return *(laid_out(tensor, case.word("layout")) for tensor in tensors), kind, row, top_k, tokens


def reference(
    x: torch.Tensor,
    w: torch.Tensor,
    sorted_token_ids: torch.Tensor,
    expert_ids: torch.Tensor,
    num_tokens_post_padded: torch.Tensor,
    quant_type: int,
    row: int,
    top_k: int,
    tokens: int,
) -> torch.Tensor:
    """(tokens * top_k, row) in float64."""
    pairs = _pairs(sorted_token_ids, expert_ids, int(num_tokens_post_padded), tokens * top_k)
    values, rows = decoded(w, quant_type, torch.float64), x.double()
    out = x.new_empty((tokens * top_k, row))
    for pair, expert in pairs:
        out[pair] = (rows[pair // top_k] @ values[expert].T).to(x.dtype)
    return out


def eager(
    x: torch.Tensor,
    w: torch.Tensor,
    sorted_token_ids: torch.Tensor,
    expert_ids: torch.Tensor,
    num_tokens_post_padded: torch.Tensor,
    quant_type: int,
    row: int,
    top_k: int,
    tokens: int,
) -> torch.Tensor:
    """Activations quantised as in kernels, products in float32."""
    pairs = _pairs(sorted_token_ids, expert_ids, int(num_tokens_post_padded), tokens * top_k)
    values, rows = decoded(w, quant_type, torch.float32), quantised_activations(x)
    out = x.new_empty((tokens * top_k, row))
    for pair, expert in pairs:
        out[pair] = (rows[pair // top_k] @ values[expert].T).to(x.dtype)
    return out


def tolerance(case: Case) -> Tolerance:
    """A product of activations that 8 bits hold; a weight, or the step and sum of a block, may be rounded to 16 bits.

    Near steps, up to an eighth of one beside them, rounding to 8 bits has a root mean square of 0.16 % of a typical
    output: three times the largest of 10,000 is allowed, twelve times that.  Normal activations lose up to half a step,
    0.7 % of a typical output, and seven times that is allowed.
    """
    outputs = case.size("tokens") * case.size("top_k") * case.size("row")
    return activation_tolerance(case, outputs=outputs)


def cost(case: Case) -> Cost:
    """One multiply-add for each weight of a pair; the weights of at most as many experts as there are pairs."""
    tokens, k, row = case.size("tokens"), case.size("k"), case.size("row")
    pairs = tokens * case.size("top_k")
    experts = min(case.size("experts"), pairs)
    return Cost(
        flops=2 * pairs * k * row,
        bytes_read=experts * row * row_bytes(case.size("type"), k) + tokens * k * case.dtype.bytes + 4 * pairs,
        bytes_written=pairs * row * case.dtype.bytes,
    )


def _pairs(listed: torch.Tensor, experts: torch.Tensor, count: int, pairs: int) -> list[tuple[int, int]]:
    """The pairs with their experts, without padding."""
    block = len(listed) // len(experts)
    owners = experts.repeat_interleave(block).tolist()[:count]
    return [(pair, owner) for pair, owner in zip(listed.tolist()[:count], owners, strict=True) if pair < pairs]


PROBLEM = ProblemDefinition(
    name="vllm::ggml_moe_a8",
    entry="ggml_moe_a8",
    signature=(
        "ggml_moe_a8(X: Tensor, W: Tensor, sorted_token_ids: Tensor, expert_ids: Tensor, "
        "num_tokens_post_padded: Tensor, quant_type: int, row: int, top_k: int, tokens: int) -> Tensor"
    ),
    summary="Expert-wise matmul with GGML weights and activations quantised to 8 bits",
    category=Category.QUANTISED_GEMM_MOE,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    cannot_reject=CANNOT_REJECT,
)
