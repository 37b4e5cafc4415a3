"""Zeros like another tensor: y[i] = 0 in the shape of self.

Any rank, any strides, any dtype; without a dtype the answer has that of self.  Values are compared, not strides:
PyTorch keeps those of a dense self.  The content of self does not matter.  memory_format, layout, device and pin_memory
are left out.  Overloads: zeros_like is tested; .out computes the same.
"""

from __future__ import annotations

from engine.model import Category, Determinism, ProblemDefinition
from problems.kit import torch
from problems.kit.factories import CONSTANT, FILLS, SAME_FOR_ALL, filled, like_cases, like_cost, like_inputs
from problems.kit.movement import EVERY_DTYPE, exact

CASES = like_cases(dtype=EVERY_DTYPE)


def reference(x: torch.Tensor, dtype: torch.dtype | None = None) -> torch.Tensor:
    """The shape of self, one element repeated."""
    return filled(list(x.shape), 0, dtype or x.dtype, x.device)


def eager(x: torch.Tensor, dtype: torch.dtype | None = None) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.zeros_like(x, dtype=dtype)


PROBLEM = ProblemDefinition(
    name="aten::zeros_like",
    entry="zeros_like",
    signature="zeros_like(self: Tensor, dtype: DType | None = None) -> Tensor",
    summary="Zeros shaped like self",
    category=Category.FACTORY,
    second_oracle="PyTorch's zeros_like, in every smoke and full case",
    cases=CASES,
    make_inputs=like_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=like_cost,
    framework=FILLS,
    determinism=Determinism.EXACT,
    cannot_reject={**SAME_FOR_ALL, "zeros": CONSTANT},
)
