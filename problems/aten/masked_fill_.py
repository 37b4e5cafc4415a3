"""Masked fill in place: self[i] = value where mask[i] is true, unchanged elsewhere.

Any rank, any strides of self and mask.  The mask is bool and broadcastable to self; the value is a number or a 0-d
tensor and is cast to the dtype of self, -inf and NaN included.  Returns self.  Overloads: .Scalar and .Tensor are
tested.
"""

from __future__ import annotations

import math
from functools import partial

from engine.model import Case, Category, Cost, Determinism, DType, ProblemDefinition, ReturnedMemory, Tier
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, cases_over, laid_out, torch, torch_dtype
from problems.kit.movement import EVERY_DTYPE, case_values, copied, count, exact, usual_number

_over = partial(
    cases_over, layout=Layout.CONTIGUOUS, mask_layout=Layout.CONTIGUOUS, values="mixed", value="number", percent=50
)
_VALUES = {"-inf": -math.inf, "nan": math.nan, "0": 0.0, "1e4": 1e4, "0.1": 0.1}
_NAME = "{shape} mask {mask} {dtype}"

CASES = (
    *_over(Tier.SMOKE, _NAME, shape=(7, 65), mask=(7, 65), dtype=[F32, BF16]),
    *_over(Tier.SMOKE, f"{_NAME} {{value}}", shape=(4, 9, 33), mask=(9, 1), dtype=F32, value="tensor"),
    *_over(Tier.FULL, _NAME, shape=[(), (1,)], mask=(), dtype=F32, percent=100),
    *_over(Tier.FULL, _NAME, shape=(0, 5), mask=(5,), dtype=F32),
    *_over(Tier.FULL, _NAME, shape=[(3, 127), (3, 128), (3, 129), (2, 4099)], mask=(1, 1), dtype=F32, percent=100),
    *_over(Tier.FULL, _NAME, shape=(31, 257), mask=[(31, 257), (31, 1), (257,)], dtype=FLOATS),
    *_over(Tier.FULL, f"{_NAME} {{percent}} %", shape=(13, 97), mask=(13, 97), dtype=F32, percent=[0, 3, 97, 100]),
    *_over(Tier.FULL, f"{_NAME} {{value}}", shape=(13, 97), mask=(13, 97), dtype=FLOATS, value=["-inf", "nan", "0"]),
    *_over(Tier.FULL, f"{_NAME} {{value}}", shape=(13, 97), mask=(97,), dtype=[F16, BF16], value="tensor"),
    *_over(Tier.FULL, f"{_NAME} {{value}}", shape=(13, 97), mask=(97,), dtype=DType.FLOAT64, value="0.1"),
    *_over(Tier.FULL, _NAME, shape=(9, 40), mask=(9, 40), dtype=EVERY_DTYPE),
    *_over(Tier.FULL, _NAME, shape=(3, 4, 5, 2, 7), mask=(5, 1, 7), dtype=F32),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", shape=(33, 65), mask=(33, 65), dtype=F32,
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.OFFSET, Layout.PADDED]),
    *_over(Tier.FULL, f"{_NAME} mask {{mask_layout}}", shape=(33, 65), mask=(33, 65), dtype=F32,
           mask_layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
    *_over(Tier.FULL, f"{_NAME} both {{layout}}", shape=(3, 7, 2, 3), mask=(7, 1, 3), dtype=F16,
           layout=Layout.IRREGULAR, mask_layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_NAME} {{values}}", shape=(7, 33), mask=(7, 33), dtype=FLOATS, values="special"),
    *_over(Tier.BENCH, f"{_NAME} {{value}}", shape=(32, 512, 2048), mask=(512, 2048), dtype=BF16, value="-inf"),
    *_over(Tier.BENCH, _NAME, shape=(4096, 4096), mask=(4096, 4096), dtype=F32),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, mask: broadcastable, true for `percent` of its elements, value: a number or a 0-d tensor."""
    x = case_values(case, rng)
    mask = torch.rand(case.shape("mask"), generator=rng) * 100 < case.size("percent")
    return x, laid_out(mask, case.word("mask_layout")), _value(case)


def _value(case: Case) -> torch.Tensor | complex:
    """The value of the case; "number" is `usual_number`, 7.5 - 2j for complex numbers; "tensor" is 11, 0-d."""
    word = case.word("value")
    if word == "tensor":
        return torch.tensor(11, dtype=torch_dtype(case.dtype))
    if case.dtype.is_complex:
        return 7.5 - 2j
    return _VALUES.get(word, usual_number(case.dtype))


def reference(x: torch.Tensor, mask: torch.Tensor, value: torch.Tensor | complex) -> tuple[torch.Tensor, torch.Tensor]:
    """self twice: the returned and the written tensor."""
    fill = torch.as_tensor(value, dtype=x.dtype, device=x.device)
    filled = torch.where(mask, fill, x)
    return filled, filled


def eager(x: torch.Tensor, mask: torch.Tensor, value: torch.Tensor | complex) -> torch.Tensor:
    """PyTorch's operator."""
    return x.masked_fill_(mask, value)


def cost(case: Case) -> Cost:
    """The mask is read; self need not be read, and elements are written where the mask is true."""
    share = case.size("percent") / 100
    written = count(case.shape("shape"))
    return copied(case, read=0, written=int(written * share), index_bytes=count(case.shape("mask")))


PROBLEM = ProblemDefinition(
    name="aten::masked_fill_",
    entry="masked_fill_",
    signature="masked_fill_(self: Tensor, mask: Tensor, value: Tensor | complex) -> Tensor",
    summary="In-place fill where mask is true",
    category=Category.INDEXING,
    second_oracle="PyTorch's masked_fill_, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    determinism=Determinism.EXACT,
    mutates=("self",),
    returned_memory=ReturnedMemory.WRITTEN,
)
