"""Nibbles as sign and magnitude: n' = q - z if q >= z else 15 - q, for the 8 values of 4 bits of every word.

Without qzeros_or_none, z is 8: q from 8 to 15 becomes 0 to 7, and q from 7 down to 0 becomes 8 to 15, so that the
highest bit is the sign of q - 8 and the others its size, less one where it is negative.  With it, qweight is AWQ's (K,
N / 8) and qzeros_or_none (groups, N / 8): z is the nibble at the same place of the word of group k // (K / groups).
For q < z the answer is 15 - q for every z, so its lower three bits are z - 1 - q only for z = 8; nothing is wrapped or
saturated.

Words are int32, in any strides.  The answer is returned; with inplace it is qweight itself, else a new tensor, and
qweight keeps its values.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, DType, ProblemDefinition, Tier
from problems.kit import Arguments, Layout, cases_over, torch
from problems.kit.inference.arguments import NO_FLOATS, arranged, exact
from problems.kit.inference.packing import drawn_words, pack, unpack

_over = partial(cases_over, dtype=DType.INT32, groups=0, inplace=False, layout=Layout.CONTIGUOUS)

CASES = (
    *_over(Tier.SMOKE, "{shape}", shape=(8, 33)),
    *_over(Tier.SMOKE, "{shape} {groups} groups", shape=(16, 5), groups=2),
    *_over(Tier.SMOKE, "{shape} in place", shape=(4, 64), inplace=True),
    *_over(Tier.FULL, "{shape}", shape=[(0, 8), (1, 1), (1, 32), (7, 127), (7, 128), (7, 129), (32, 256)]),
    *_over(Tier.FULL, "{shape} {groups} groups in place {inplace}", shape=(64, 33), groups=[1, 4, 64],
           inplace=[False, True]),
    *_over(Tier.FULL, "{shape} {groups} groups in place {inplace} {layout}", shape=(12, 7), groups=[0, 3],
           inplace=[False, True], layout=Layout.IRREGULAR),
    *_over(Tier.BENCH, "{shape} {groups} groups", shape=(4096, 512), groups=[0, 32]),
)  # fmt: skip

_BITS, _MIDDLE, _LARGEST = 4, 8, 15


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """qweight, qzeros_or_none: (groups, columns of qweight) or None, inplace."""
    rows, columns = case.shape("shape")
    qweight, zeros = arranged(case, drawn_words((rows, columns), rng), drawn_words((case.size("groups"), columns), rng))
    return qweight, zeros if case.size("groups") else None, case.claim("inplace")


def reference(
    qweight: torch.Tensor, qzeros_or_none: torch.Tensor | None = None, inplace: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """The answer, and the final qweight."""
    values, zeros = unpack(qweight, _BITS), torch.tensor(_MIDDLE, device=qweight.device)
    if qzeros_or_none is not None:
        per_group = len(qweight) // len(qzeros_or_none)
        zeros = unpack(qzeros_or_none, _BITS).repeat_interleave(per_group, 0)
    answer = pack(torch.where(values >= zeros, values - zeros, _LARGEST - values), _BITS)
    return answer, answer if inplace else qweight


def eager(qweight: torch.Tensor, qzeros_or_none: torch.Tensor | None = None, inplace: bool = False) -> torch.Tensor:
    """The same steps."""
    answer, _ = reference(qweight, qzeros_or_none)
    return qweight.copy_(answer) if inplace else answer


def cost(case: Case) -> Cost:
    """No arithmetic is counted; every word is read and written once."""
    rows, columns = case.shape("shape")
    return Cost(
        flops=0,
        bytes_read=4 * columns * (rows + case.size("groups")),
        bytes_written=4 * rows * columns,
    )


PROBLEM = ProblemDefinition(
    name="vllm::marlin_int4_fp8_preprocess",
    entry="marlin_int4_fp8_preprocess",
    signature=(
        "marlin_int4_fp8_preprocess(qweight: Tensor, qzeros_or_none: Tensor | None = None, "
        "inplace: bool = False) -> Tensor"
    ),
    summary="Rewrite packed int4 nibbles so that they convert cheaply to FP8",
    category=Category.WEIGHT_REPACK,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    determinism=Determinism.EXACT,
    mutates=("qweight",),
    cannot_reject=NO_FLOATS,
)
