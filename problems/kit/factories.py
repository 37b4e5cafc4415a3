"""Parts that factories of tensors share: dtypes and devices as arguments, constant answers, the cost.

The entry gets the device as text, "cpu" or "cuda": nothing else says where the answer belongs.  A factory may be left
to the framework's own allocation; one that fills may use plain fills too.
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
"""The framework may make the answer, whose content is not specified."""
FILLS = (*ALLOCATES, FrameworkWork.COPIES)
"""The framework may make and fill the answer."""
CONSTANT = "the answer is one constant, which depends on no input"
SAME_FOR_ALL = dict.fromkeys(
    ("mean", "backwards", "answer_to_other_inputs", "answer_of_another_case", "bfloat16_arithmetic",
     "tensorfloat32_arithmetic", "single_arithmetic", "integers_in_single", "nan_dropped", "infinities_clamped"),
    CONSTANT,
)  # fmt: skip
"""Lies that an answer of one constant cannot be told from."""


def device_of(rng: torch.Generator) -> str:
    """The device that inputs are made on, as text: "cpu" or "cuda"."""
    return rng.device.type


def given_dtype(case: Case) -> torch.dtype | None:
    """The argument `dtype`: the dtype of the case, or None where the parameter `given` is false."""
    return torch_dtype(case.dtype) if case.claim("given") else None


def filled(size: list[int], value: complex, dtype: torch.dtype, device: str | torch.device) -> torch.Tensor:
    """A tensor of one value, cast to the dtype as an element is."""
    wide = torch.complex128 if isinstance(value, complex) else torch.float64 if isinstance(value, float) else None
    return torch.tensor(value, dtype=wide, device=device).to(dtype).expand(size).contiguous()


def made(case: Case, dtype: DType, *, size: str = "size") -> Cost:
    """Nothing is read; every element is written once."""
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
    """Every element is written once; nothing of self is read."""
    return made(case, result_dtype(case))
