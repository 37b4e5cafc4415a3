"""Zeros like another tensor: y[i] = 0 in the shape of self.

Any rank, any strides, any dtype; without a dtype the answer has that of self.  Values are compared, not strides:
PyTorch keeps those of a dense self.  The content of self does not matter.  memory_format, layout and pin_memory are
left out.  Overloads: zeros_like is tested; .out computes the same.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, DType, ProblemDefinition, Tier
from problems.kit import BF16, F16, F32, Arguments, Layout, cases_over, result_dtype, torch, torch_dtype
from problems.kit.factories import CONSTANT, FILLS, SAME_FOR_ALL, filled, made
from problems.kit.movement import EVERY_DTYPE, case_values, exact

_over = partial(cases_over, layout=Layout.CONTIGUOUS, values="mixed", result="same")
_NAME = "{size} {dtype}"

CASES = (
    *_over(Tier.SMOKE, _NAME, size=(7, 65), dtype=[F32, BF16]),
    *_over(Tier.FULL, _NAME, size=[(), (1,), (0,), (0, 5), (127,), (128,), (129,), (4099,)], dtype=F32),
    *_over(Tier.FULL, _NAME, size=[(31, 257), (3, 4, 5), (2, 3, 4, 2, 3)], dtype=F32),
    *_over(Tier.FULL, _NAME, size=(9, 40), dtype=EVERY_DTYPE),
    *_over(Tier.BENCH, _NAME, size=(4096, 4096), dtype=[F32, BF16]),
    *_over(Tier.FULL, f"{_NAME} to {{result}}", size=(9, 40), dtype=[F32, DType.BOOL],
           result=["float16", "int64", "bool", "complex64"]),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", size=(33, 65), dtype=F32,
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", size=(3, 7, 2, 3), dtype=F16, layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_NAME} {{values}}", size=(7, 33), dtype=F32, values="special"),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `size`, dtype or None."""
    dtype = None if case.word("result") == "same" else torch_dtype(result_dtype(case))
    return case_values(case, rng, shape="size"), dtype


def reference(x: torch.Tensor, dtype: torch.dtype | None = None) -> torch.Tensor:
    """The shape of self, one element repeated."""
    return filled(list(x.shape), 0, dtype or x.dtype, x.device)


def eager(x: torch.Tensor, dtype: torch.dtype | None = None) -> torch.Tensor:
    """The library's own."""
    return torch.zeros_like(x, dtype=dtype)


def cost(case: Case) -> Cost:
    """Every element is written once; nothing of self is read."""
    return made(case, result_dtype(case))


PROBLEM = ProblemDefinition(
    name="aten::zeros_like",
    entry="zeros_like",
    signature="zeros_like(self: Tensor, dtype: DType | None = None) -> Tensor",
    summary="Zeros shaped like self",
    category=Category.FACTORY,
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    framework=FILLS,
    determinism=Determinism.EXACT,
    cannot_reject={**SAME_FOR_ALL, "zeros": CONSTANT},
)
