"""PyTorch's rules for the dtype of a result, without torch: tolerances and costs are computed where it is not loaded.

Source: https://pytorch.org/docs/stable/tensor_attributes.html#torch-dtype, "type promotion"; a test compares every
pair with `torch.promote_types`.
"""

from __future__ import annotations

from engine.model import DType


def promoted(left: DType, right: DType) -> DType:
    """The dtype of the result of two tensors of at least one dimension; unsigned integers only as far as uint8."""
    if left is right:
        return left
    if {left, right} == {DType.FLOAT64, DType.COMPLEX64}:
        return DType.COMPLEX128
    low, high = sorted((left, right), key=_rank)
    return _wider(low, high) if _rank(low) == _rank(high) else high


def with_scalar(dtype: DType, scalar: int | float) -> DType:
    """The dtype of a tensor of at least one dimension and a Python number: only a higher category changes it."""
    if isinstance(scalar, float):
        return floating(dtype)
    return DType.INT64 if dtype is DType.BOOL and not isinstance(scalar, bool) else dtype


def floating(dtype: DType) -> DType:
    """The dtype of an operator that gives no integers: float32 for integers and booleans, the same for the others."""
    return DType.FLOAT32 if is_integral(dtype) else dtype


def is_integral(dtype: DType) -> bool:
    """Whether it is an integer type or bool."""
    return not (dtype.is_floating or dtype.is_complex)


def _rank(dtype: DType) -> int:
    """Place among the categories bool, integers, floats, complex."""
    if dtype is DType.BOOL:
        return 0
    if dtype.is_complex:
        return 3
    return 2 if dtype.is_floating else 1


def _wider(left: DType, right: DType) -> DType:
    """The narrowest type of their category that holds both."""
    if left is not right and left.bytes == right.bytes:
        return DType.INT16 if is_integral(left) else DType.FLOAT32
    return left if left.bytes > right.bytes else right
