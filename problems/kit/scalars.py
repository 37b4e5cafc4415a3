"""Shared parts of operators that read one element as a Python number."""

from __future__ import annotations

from functools import partial

from engine.model import Case, Cost, FrameworkWork
from problems.kit.cases import cases_over
from problems.kit.deferred import torch
from problems.kit.layouts import Layout

READS = (FrameworkWork.METADATA, FrameworkWork.COPIES)
"""The framework may read the element, since no kernel can return a Python number."""
CANNOT_TELL = dict.fromkeys(
    ("mean", "backwards", "unchanged_input", "tail_missing"), "the answer is the one element of self"
)
over = partial(cases_over, layout=Layout.CONTIGUOUS, values="mixed")


def as_scalar(x: torch.Tensor) -> torch.Tensor:
    """The element, 0-d: bool, int64, float64 or complex128."""
    if x.dtype == torch.bool:
        wide = torch.bool
    elif x.is_complex():
        wide = torch.complex128
    else:
        wide = torch.float64 if x.is_floating_point() else torch.int64
    return x.flatten()[0].to(wide)


def scalar_cost(case: Case) -> Cost:
    """One element is read, and at least one number of the same size is written."""
    return Cost(flops=0, bytes_read=case.dtype.bytes, bytes_written=case.dtype.bytes)
