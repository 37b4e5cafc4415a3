"""Rows of packed weights in another order: q'[k, n] = q[q_perm[k], n], then even places before odd ones in 4-bit words.

q_weight: (K * bit / 32, N), int32, packs `bit` = 4 or 8 bits along K: place i of word [w, n] is row w * 32 / bit + i.
The answer replaces it.  A 4-bit word of the answer holds its rows 0, 2, 4, 6, 1, 3, 5, 7 at the places 0 to 7; an 8-bit
word holds them in their order.  q_perm: (K,), int32, holds every row once; an empty one keeps the order of the rows.
Both tensors in any strides.  The library's 2-bit and 3-bit forms are outside of the contract.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, DType, ProblemDefinition, Tier
from problems.kit import Arguments, Layout, cases_over, torch
from problems.kit.inference.arguments import NO_FLOATS, arranged, exact
from problems.kit.inference.packing import EVEN_BEFORE_ODD, drawn_words, pack, unpack

_over = partial(cases_over, dtype=DType.INT32, order="random", layout=Layout.CONTIGUOUS)
_SIZES = "{k}x{n} {bit} bit"

CASES = (
    *_over(Tier.SMOKE, _SIZES, k=64, n=24, bit=[4, 8]),
    *_over(Tier.SMOKE, f"{_SIZES} {{order}}", k=32, n=9, bit=4, order="no order"),
    *_over(Tier.FULL, _SIZES, k=[8, 40, 256], n=[1, 127, 128], bit=4),
    *_over(Tier.FULL, _SIZES, k=[4, 36, 256], n=129, bit=8),
    *_over(Tier.FULL, f"{_SIZES} {{order}}", k=64, n=33, bit=[4, 8], order=["no order", "reversed"]),
    *_over(Tier.FULL, f"{_SIZES} {{layout}}", k=48, n=11, bit=[4, 8], layout=Layout.IRREGULAR),
    *_over(Tier.BENCH, _SIZES, k=4096, n=4096, bit=[4, 8]),
)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """q_weight: (K * bit / 32, N), q_perm: (K,) or, "no order", (0,), bit."""
    k, bit = case.size("k"), case.size("bit")
    orders = {
        "random": torch.randperm(k, generator=rng),
        "reversed": torch.arange(k).flip(0),
        "no order": torch.arange(0),
    }
    words = drawn_words((k * bit // 32, case.size("n")), rng)
    return *arranged(case, words, orders[case.word("order")].int()), bit


def reference(q_weight: torch.Tensor, q_perm: torch.Tensor, bit: int) -> torch.Tensor:
    """The final q_weight: unpacked, in the other order, packed."""
    values = unpack(q_weight, bit, dim=0)
    values = values[q_perm.long()] if len(q_perm) else values
    return pack(values, bit, dim=0, order=EVEN_BEFORE_ODD if bit == 4 else None)


def eager(q_weight: torch.Tensor, q_perm: torch.Tensor, bit: int) -> None:
    """The same steps."""
    q_weight.copy_(reference(q_weight, q_perm, bit))


def cost(case: Case) -> Cost:
    """No arithmetic is counted; every word is read and written once."""
    k, n, bit = case.size("k"), case.size("n"), case.size("bit")
    listed = 0 if case.word("order") == "no order" else 4 * k
    return Cost(flops=0, bytes_read=k * n * bit // 8 + listed, bytes_written=k * n * bit // 8)


PROBLEM = ProblemDefinition(
    name="vllm::gptq_shuffle",
    entry="gptq_shuffle",
    signature="gptq_shuffle(q_weight: Tensor, q_perm: Tensor, bit: int) -> None",
    summary="Permute and re-shuffle GPTQ packed weights for the exllama kernel",
    category=Category.WEIGHT_REPACK,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    determinism=Determinism.EXACT,
    returns=0,
    mutates=("q_weight",),
    cannot_reject=NO_FLOATS,
)
