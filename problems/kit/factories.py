"""What operators that make a tensor from sizes share: dtypes and devices as arguments, constant answers, the cost.

The entry gets the device as text, "cpu" or "cuda": nothing else says where the answer belongs.  A factory may be left
to the framework's own allocation; one that fills may use plain fills too.
"""

from __future__ import annotations

from engine.model import Case, Cost, DType, FrameworkWork
from problems.kit.deferred import torch
from problems.kit.movement import count
from problems.kit.values import torch_dtype

ALLOCATES = (FrameworkWork.ALLOCATION, FrameworkWork.METADATA)
"""The framework may make the answer, whose content is not specified."""
FILLS = (*ALLOCATES, FrameworkWork.COPIES)
"""The framework may make and fill the answer."""
CONSTANT = "the answer is one constant, which depends on no input"
SAME_FOR_ALL = dict.fromkeys(
    ("mean", "backwards", "answer_to_other_inputs", "answer_of_another_case", "bfloat16_arithmetic",
     "tensorfloat32_arithmetic", "single_arithmetic", "nan_dropped", "infinities_clamped"),
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
    return torch.tensor(value, device=device).to(dtype).expand(size).contiguous()


def made(case: Case, dtype: DType, *, size: str = "size") -> Cost:
    """Nothing is read; every element is written once."""
    return Cost(flops=0, bytes_read=0, bytes_written=count(case.shape(size)) * dtype.bytes)
