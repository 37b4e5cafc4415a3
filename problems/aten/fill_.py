"""Fill in place: self[i] = value.

Any rank, any strides; memory between the elements stays as it is.  The value is a number or a 0-d tensor, cast to the
dtype of self; infinities and NaN are stored unchanged.  Numbers that the dtype cannot hold are outside of the contract.
Returns self.  Overloads: .Scalar and .Tensor are tested.
"""

from __future__ import annotations

import math
from functools import partial

from engine.model import Case, Category, Cost, Determinism, DType, ProblemDefinition, ReturnedMemory, Tier
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, cases_over, torch, torch_dtype
from problems.kit.movement import EVERY_DTYPE, case_values, copied, count, equal, usual_number

_over = partial(cases_over, layout=Layout.CONTIGUOUS, values="mixed", value="number")
_VALUES = {"-inf": -math.inf, "nan": math.nan, "0": 0, "true": True, "-1": -1, "0.1": 0.1}
_ALIKE = (
    "answer_to_other_inputs",
    "answer_of_another_case",
    "mean",
    "backwards",
    "bfloat16_arithmetic",
    "tensorfloat32_arithmetic",
    "single_arithmetic",
    "integers_in_single",
    "nan_dropped",
    "infinities_clamped",
)  # lies that equal a right answer of this operator

CASES = (
    *_over(Tier.SMOKE, "{shape} {dtype}", shape=(7, 65), dtype=[F32, BF16]),
    *_over(Tier.SMOKE, "{shape} {dtype} {value}", shape=(4, 9, 33), dtype=F32, value="tensor"),
    *_over(Tier.FULL, "{shape} {dtype}", shape=[(), (1,), (0, 5), (127,), (128,), (129,), (4099,)], dtype=F32),
    *_over(Tier.FULL, "{shape} {dtype} {value}", shape=(31, 257), dtype=FLOATS, value=["number", "tensor"]),
    *_over(Tier.FULL, "{shape} {dtype} {value}", shape=(13, 97), dtype=FLOATS, value=["-inf", "nan", "0", "true"]),
    *_over(Tier.FULL, "{shape} {dtype}", shape=(9, 40), dtype=EVERY_DTYPE),
    *_over(Tier.FULL, "{shape} {dtype} {value}", shape=(9, 40), dtype=[DType.INT64, DType.INT8], value="-1"),
    *_over(Tier.FULL, "{shape} {dtype} {value}", shape=(9, 40), dtype=DType.FLOAT64, value="0.1"),
    *_over(Tier.FULL, "{shape} {dtype} {layout}", shape=(33, 65), dtype=[F32, BF16],
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.OFFSET, Layout.PADDED]),
    *_over(Tier.FULL, "{shape} {dtype} {layout}", shape=[(3, 7, 2, 3), (2, 3, 4, 2, 3)], dtype=F16,
           layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{shape} {dtype} {values}", shape=(7, 33), dtype=F32, values="special"),
    *_over(Tier.BENCH, "{shape} {dtype}", shape=(4096, 4096), dtype=[F32, BF16]),
    *_over(Tier.BENCH, "{shape} {dtype} {layout}", shape=(4096, 2048), dtype=F32, layout=Layout.TRANSPOSED),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, value: given by the case."""
    return case_values(case, rng), _value(case)


def _value(case: Case) -> torch.Tensor | complex:
    """The value of the case; "number" is `usual_number`, 7.5 - 2j for complex numbers; "tensor" is 11, 0-d."""
    word = case.word("value")
    if word == "tensor":
        return torch.tensor(11, dtype=torch_dtype(case.dtype))
    if case.dtype.is_complex:
        return 7.5 - 2j
    return _VALUES.get(word, usual_number(case.dtype))


def reference(x: torch.Tensor, value: torch.Tensor | complex) -> tuple[torch.Tensor, torch.Tensor]:
    """self twice: the returned and the written tensor."""
    filled = torch.as_tensor(value, dtype=x.dtype, device=x.device).expand(x.shape)
    return filled, filled


def eager(x: torch.Tensor, value: torch.Tensor | complex) -> torch.Tensor:
    """PyTorch's operator."""
    return x.fill_(value)


def cost(case: Case) -> Cost:
    """Every element is written; a 0-d value is read."""
    return copied(case, read=int(case.word("value") == "tensor"), written=count(case.shape("shape")))


PROBLEM = ProblemDefinition(
    name="aten::fill_",
    entry="fill_",
    signature="fill_(self: Tensor, value: Tensor | complex) -> Tensor",
    summary="Fill in place with a number or a 0-d tensor",
    category=Category.FILL,
    second_oracle="PyTorch's fill_, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=equal,
    cost=cost,
    determinism=Determinism.EXACT,
    mutates=("self",),
    returned_memory=ReturnedMemory.WRITTEN,
    written_only=("self",),
    cannot_reject=dict.fromkeys(
        _ALIKE, "every element of the answer is one value, which does not depend on the content of self"
    ),
)
