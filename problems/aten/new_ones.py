"""Ones with the options of another tensor: y[i] = 1 in the shape `size`.

Any number of dimensions, any dtype; without a dtype the answer has that of self, and it is contiguous and on the device
of self.  The shape and content of self do not matter.  layout, device and pin_memory are left out.  Overloads: new_ones
is tested; .out computes the same.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, DType, ProblemDefinition, Tier
from problems.kit import BF16, F16, F32, Arguments, Layout, cases_over, result_dtype, torch, torch_dtype
from problems.kit.factories import CONSTANT, FILLS, SAME_FOR_ALL, filled, made
from problems.kit.movement import EVERY_DTYPE, case_values, exact

_over = partial(cases_over, shape=(2, 3), layout=Layout.CONTIGUOUS, values="mixed", result="same")
_NAME = "{size} {dtype}"

CASES = (
    *_over(Tier.SMOKE, _NAME, size=(7, 65), dtype=[F32, BF16]),
    *_over(Tier.FULL, _NAME, size=[(), (1,), (0,), (0, 5), (127,), (128,), (129,), (4099,)], dtype=F32),
    *_over(Tier.FULL, _NAME, size=[(31, 257), (3, 4, 5), (2, 3, 4, 2, 3)], dtype=F32),
    *_over(Tier.FULL, _NAME, size=(9, 40), dtype=EVERY_DTYPE),
    *_over(Tier.BENCH, _NAME, size=(4096, 4096), dtype=[F32, BF16]),
    *_over(Tier.FULL, f"{_NAME} to {{result}}", size=(9, 40), dtype=[F32, DType.BOOL],
           result=["float16", "int64", "bool", "complex64"]),
    *_over(Tier.FULL, f"{_NAME} of {{shape}}", size=(9, 40), shape=[(), (0,), (64, 64)], dtype=F32),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", size=(5, 65), shape=(3, 7, 2, 3), dtype=F16, layout=Layout.IRREGULAR),
    *_over(Tier.FULL, f"{_NAME} {{values}}", size=(7, 33), shape=(4, 9), dtype=F32, values="special"),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, size, dtype or None."""
    dtype = None if case.word("result") == "same" else torch_dtype(result_dtype(case))
    return case_values(case, rng), list(case.shape("size")), dtype


def reference(x: torch.Tensor, size: list[int], dtype: torch.dtype | None = None) -> torch.Tensor:
    """The shape `size`, one element repeated."""
    return filled(size, 1, dtype or x.dtype, x.device)


def eager(x: torch.Tensor, size: list[int], dtype: torch.dtype | None = None) -> torch.Tensor:
    """PyTorch's operator."""
    return x.new_ones(size, dtype=dtype)


def cost(case: Case) -> Cost:
    """Every element is written once; nothing of self is read."""
    return made(case, result_dtype(case))


PROBLEM = ProblemDefinition(
    name="aten::new_ones",
    entry="new_ones",
    signature="new_ones(self: Tensor, size: list[int], dtype: DType | None = None) -> Tensor",
    summary="Ones of a given size with the options of self",
    category=Category.FACTORY,
    second_oracle="PyTorch's new_ones, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    framework=FILLS,
    determinism=Determinism.EXACT,
    cannot_reject={**SAME_FOR_ALL, "ones": CONSTANT, "unchanged_input": CONSTANT},
)
