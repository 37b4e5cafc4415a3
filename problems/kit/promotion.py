"""PyTorch's type promotion without torch, for tolerances and costs, which are computed in processes without torch.

Source: https://pytorch.org/docs/stable/tensor_attributes.html#torch-dtype, "type promotion"; a test compares every
pair with `torch.promote_types`.
"""

from __future__ import annotations

from engine.model import DType


def promoted(left: DType, right: DType) -> DType:
    """The dtype of the result of two tensors of at least one dimension; uint8 is the only unsigned integer."""
    if left is right:
        return left
    if {left, right} == {DType.FLOAT64, DType.COMPLEX64}:
        return DType.COMPLEX128
    low, high = sorted((left, right), key=_rank)
    return _wider(low, high) if _rank(low) == _rank(high) else high


def with_scalar(dtype: DType, scalar: int | float) -> DType:
    """The dtype for a tensor of at least one dimension and a number: only a higher category changes it."""
    if isinstance(scalar, float):
        return floating(dtype)
    return DType.INT64 if dtype is DType.BOOL and not isinstance(scalar, bool) else dtype


def floating(dtype: DType) -> DType:
    """The dtype of an operator that returns floats: float32 for integers and booleans, otherwise unchanged."""
    return DType.FLOAT32 if is_integral(dtype) else dtype


def is_integral(dtype: DType) -> bool:
    """Whether it is an integer type or bool."""
    return not (dtype.is_floating or dtype.is_complex)


def _rank(dtype: DType) -> int:
    """Rank of the category: bool, integers, floats, complex."""
    if dtype is DType.BOOL:
        return 0
    if dtype.is_complex:
        return 3
    return 2 if dtype.is_floating else 1


def _wider(left: DType, right: DType) -> DType:
    """The narrowest type of their common category that holds both."""
    if left is not right and left.bytes == right.bytes:
        return DType.INT16 if is_integral(left) else DType.FLOAT32
    return left if left.bytes > right.bytes else right
