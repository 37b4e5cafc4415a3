"""Shared parts of the catalogue's modules: cases, input values, layouts, tolerances, and torch on demand.

Nothing here may import torch when it is itself imported; `torch` below is the real module only for
the type checker.  Problems import from this package, never from its modules.
"""

from __future__ import annotations

from problems.kit.cases import BF16, F16, F32, FLOATS, INTEGERS, WHOLE, Arguments, cases_over, result_dtype
from problems.kit.deferred import torch
from problems.kit.layouts import Layout, laid_out
from problems.kit.tolerances import EQUAL, EXACT, cancelling, rounded
from problems.kit.values import (
    SPECIAL_VALUES,
    Special,
    distinct,
    integers,
    mixed,
    near_limit,
    normal,
    scattered,
    special_pairs,
    special_rows,
    torch_dtype,
)

__all__ = [
    "BF16", "EQUAL", "EXACT", "F16", "F32", "FLOATS", "INTEGERS", "SPECIAL_VALUES", "WHOLE", "Arguments", "Layout",
    "Special", "cancelling", "cases_over", "distinct", "integers", "laid_out", "mixed", "near_limit", "normal",
    "result_dtype", "rounded", "scattered", "special_pairs", "special_rows", "torch", "torch_dtype",
]  # fmt: skip
