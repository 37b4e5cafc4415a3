"""Shared parts of tensor factories: dtypes and devices as arguments, constant results, the cost.

The entry gets the device as text, "cpu" or "cuda": no other argument determines the device of the result. A candidate
may use the framework's allocation, and for a factory that fills also the framework's fills.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Cost, DType, FrameworkWork, Tier
from problems.kit.cases import BF16, F16, F32, Arguments, cases_over, result_dtype
from problems.kit.deferred import torch
from problems.kit.layouts import Layout
from problems.kit.movement import case_values, count
from problems.kit.values import torch_dtype

ALLOCATES = (FrameworkWork.ALLOCATION, FrameworkWork.METADATA)
"""The framework may allocate the result, whose content is not specified."""
FILLS = (*ALLOCATES, FrameworkWork.COPIES)
"""The framework may allocate and fill the result."""
CONSTANT = "the answer is one constant, which depends on no input"
SAME_FOR_ALL = dict.fromkeys(
    ("mean", "backwards", "answer_to_other_inputs", "answer_of_another_case", "bfloat16_arithmetic",
     "tensorfloat32_arithmetic", "single_arithmetic", "integers_in_single", "nan_dropped", "infinities_clamped"),
    CONSTANT,
)  # fmt: skip
"""Lies (`problems.rules.lies`) that equal a constant result and therefore cannot be rejected."""


def device_of(rng: torch.Generator) -> str:
    """The device on which inputs are made, as text: "cpu" or "cuda"."""
    return rng.device.type


def given_dtype(case: Case) -> torch.dtype | None:
    """The argument `dtype`: the dtype of the case, or None if the parameter `given` is false."""
    return torch_dtype(case.dtype) if case.claim("given") else None


def filled(size: list[int], value: complex, dtype: torch.dtype, device: str | torch.device) -> torch.Tensor:
    """A tensor of one value, cast to the dtype by the rules for elements."""
    wide = torch.complex128 if isinstance(value, complex) else torch.float64 if isinstance(value, float) else None
    return torch.tensor(value, dtype=wide, device=device).to(dtype).expand(size).contiguous()


def made(case: Case, dtype: DType, *, size: str = "size") -> Cost:
    """Cost of a factory: nothing is read; every element is written once."""
    return Cost(flops=0, bytes_read=0, bytes_written=count(case.shape(size)) * dtype.bytes)


def like_cases(*, dtype: list[DType]) -> tuple[Case, ...]:
    """The cases of an operator that fills a tensor shaped like another, over `dtype`."""
    over = partial(cases_over, layout=Layout.CONTIGUOUS, values="mixed", result="same")
    name = "{size} {dtype}"
    return (
        *over(Tier.SMOKE, name, size=(7, 65), dtype=[F32, BF16]),
        *over(Tier.FULL, name, size=[(), (1,), (0,), (0, 5), (127,), (128,), (129,), (4099,)], dtype=F32),
        *over(Tier.FULL, name, size=[(31, 257), (3, 4, 5), (2, 3, 4, 2, 3)], dtype=F32),
        *over(Tier.FULL, name, size=(9, 40), dtype=dtype),
        *over(Tier.BENCH, name, size=(4096, 4096), dtype=[F32, BF16]),
        *over(Tier.FULL, f"{name} to {{result}}", size=(9, 40), dtype=[F32, DType.BOOL],
              result=["float16", "int64", "bool", "complex64"]),
        *over(Tier.FULL, f"{name} {{layout}}", size=(33, 65), dtype=F32,
              layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
        *over(Tier.FULL, f"{name} {{layout}}", size=(3, 7, 2, 3), dtype=F16, layout=Layout.IRREGULAR),
        *over(Tier.FULL, f"{name} {{values}}", size=(7, 33), dtype=F32, values="special"),
    )  # fmt: skip


def like_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `size`, dtype or None."""
    dtype = None if case.word("result") == "same" else torch_dtype(result_dtype(case))
    return case_values(case, rng, shape="size"), dtype


def like_cost(case: Case) -> Cost:
    """Cost: every element is written once; nothing of self is read."""
    return made(case, result_dtype(case))
