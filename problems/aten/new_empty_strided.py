"""An allocation with the options of another tensor: y is a tensor with shape = size and strides = stride.

The values are not specified, so any content is right: shape and dtype are compared.  Answers are compared by
coordinates and without their strides, so strides are not checked.  Any number of dimensions, any dtype; without a dtype
it is that of self.  The shape and content of self do not matter.  Overloads: new_empty_strided is tested; .out computes
the same.
"""

from __future__ import annotations

from functools import partial

from engine.model import CalledCase, Case, Category, Cost, Determinism, DType, OutputMatch, ProblemDefinition, Tier
from problems.kit import BF16, F16, F32, Arguments, Layout, cases_over, result_dtype, torch, torch_dtype
from problems.kit.factories import ALLOCATES, made
from problems.kit.movement import EVERY_DTYPE, case_values, exact

_over = partial(cases_over, shape=(2, 3), layout=Layout.CONTIGUOUS, values="mixed", result="same")
_NAME = "{size} stride {stride} {dtype}"
_UNSPECIFIED = "the content of the answer is not specified"
_LIES = (
    "zeros", "ones", "mean", "backwards", "unchanged_input", "answer_to_other_inputs", "answer_of_another_case",
    "bfloat16_arithmetic", "tensorfloat32_arithmetic", "single_arithmetic", "integers_in_single", "nan_dropped",
    "infinities_clamped",
)  # fmt: skip

CASES = (
    *_over(Tier.SMOKE, _NAME, size=(7, 65), stride=(65, 1), dtype=[F32, BF16]),
    *_over(Tier.FULL, _NAME, size=(), stride=(), dtype=F32),
    *_over(Tier.FULL, _NAME, size=[(1,), (0,), (127,), (128,), (129,)], stride=[(1,), (2,)], dtype=F32),
    *_over(Tier.FULL, _NAME, size=(2, 3), stride=[(3, 1), (1, 2), (6, 2), (0, 1)], dtype=F32),
    *_over(Tier.FULL, _NAME, size=(8, 16, 4), stride=[(64, 4, 1), (1, 8, 128)], dtype=F32),
    *_over(Tier.FULL, _NAME, size=(2, 3, 4, 2, 3), stride=(72, 24, 6, 3, 1), dtype=F32),
    *_over(Tier.FULL, _NAME, size=(9, 40), stride=(1, 9), dtype=EVERY_DTYPE),
    *_over(Tier.FULL, f"{_NAME} to {{result}}", size=(9, 40), stride=(40, 1), dtype=[F32, DType.BOOL],
           result=["float16", "int64", "bool", "complex64"]),
    *_over(Tier.FULL, f"{_NAME} {{layout}}", size=(5, 6), stride=(6, 1), shape=(3, 7, 2, 3), dtype=F16,
           layout=Layout.IRREGULAR),
    *_over(Tier.BENCH, _NAME, size=(4096, 4096), stride=[(4096, 1), (1, 4096)], dtype=F32),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, size, stride, dtype or None."""
    dtype = None if case.word("result") == "same" else torch_dtype(result_dtype(case))
    return case_values(case, rng), list(case.shape("size")), list(case.shape("stride")), dtype


def reference(x: torch.Tensor, size: list[int], stride: list[int], dtype: torch.dtype | None = None) -> torch.Tensor:
    """Zeros of the shape `size`; no answer is compared with them."""
    return torch.zeros(size, dtype=dtype or x.dtype, device=x.device)


def eager(x: torch.Tensor, size: list[int], stride: list[int], dtype: torch.dtype | None = None) -> torch.Tensor:
    """PyTorch's operator."""
    return x.new_empty_strided(size, stride, dtype=dtype)


def compare(called: CalledCase) -> tuple[OutputMatch, ...]:
    """Accept any content: shape and dtype have been compared before."""
    return tuple(OutputMatch(wrong=torch.zeros_like(output, dtype=torch.bool)) for output in called.outputs)


def cost(case: Case) -> Cost:
    """Cost of writing every element once, although an allocation writes none."""
    return made(case, result_dtype(case))


PROBLEM = ProblemDefinition(
    name="aten::new_empty_strided",
    entry="new_empty_strided",
    signature=(
        "new_empty_strided(self: Tensor, size: list[int], stride: list[int], dtype: DType | None = None) -> Tensor"
    ),
    summary="Allocate an uninitialised strided tensor like self",
    category=Category.FACTORY,
    second_oracle="PyTorch's new_empty_strided, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    framework=ALLOCATES,
    determinism=Determinism.UNSPECIFIED,
    compare=compare,
    cannot_reject=dict.fromkeys(_LIES, _UNSPECIFIED),
)
