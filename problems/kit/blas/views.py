"""The vectors and matrices in the flat buffers of BLAS, as views: increments, leading dimensions, batches.

Element i of a vector with increment inc is at i * inc; with a negative increment it is at (i - n + 1) * inc, so that
element 0 is at the end of the buffer.  Element (i, j) of a matrix is at i + j * leading.  Batch b begins at b * stride.
"""

from __future__ import annotations

from problems.kit.deferred import torch


def vector_of(buffer: torch.Tensor, n: int, increment: int, *, batch: int = 1, stride: int = 0) -> torch.Tensor:
    """(batch, n): the elements in logical order; a copy if the increment is negative."""
    view = _ascending(buffer, n, increment, batch, stride)
    return view.flip(-1) if increment < 0 else view


def write_vector(buffer: torch.Tensor, increment: int, values: torch.Tensor, *, stride: int = 0) -> None:
    """Write `values` (batch, n) to the elements that `vector_of` reads."""
    batch, n = values.shape
    _ascending(buffer, n, increment, batch, stride).copy_(values.flip(-1) if increment < 0 else values)


def matrix_of(
    buffer: torch.Tensor, leading: int, rows: int, columns: int, *, batch: int = 1, stride: int = 0
) -> torch.Tensor:
    """(batch, rows, columns), a view."""
    return buffer.as_strided((batch, rows, columns), (stride, 1, leading))


def operand_of(
    buffer: torch.Tensor, leading: int, rows: int, columns: int, trans: str, *, batch: int = 1, stride: int = 0
) -> torch.Tensor:
    """(batch, rows, columns) = op(X): X as it is for "N", its transpose for "T", its conjugate transpose for "C"."""
    if trans == "N":
        return matrix_of(buffer, leading, rows, columns, batch=batch, stride=stride)
    return transformed(matrix_of(buffer, leading, columns, rows, batch=batch, stride=stride), trans)


def transformed(matrix: torch.Tensor, trans: str) -> torch.Tensor:
    """op(X) of a matrix or a batch of matrices."""
    if trans == "N":
        return matrix
    return matrix.mH if trans == "C" else matrix.mT


def widened(values: torch.Tensor) -> torch.Tensor:
    """The same values in float64 or complex128, in memory of their own."""
    return values.to(torch.complex128 if values.is_complex() else torch.float64, copy=True)


def in_triangle(n: int, uplo: str, *, like: torch.Tensor) -> torch.Tensor:
    """(n, n): true on the diagonal and below it ("L") or above it ("U")."""
    every = torch.ones((n, n), dtype=torch.bool, device=like.device)
    return every.tril() if uplo == "L" else every.triu()


def symmetric_of(triangle: torch.Tensor, uplo: str) -> torch.Tensor:
    """The symmetric matrix of which (n, n) `triangle` holds one triangle; the other is not read."""
    half = torch.where(in_triangle(triangle.shape[-1], uplo, like=triangle), triangle, 0)
    return torch.where(in_triangle(triangle.shape[-1], uplo, like=triangle), half, half.mT)


def triangular_of(triangle: torch.Tensor, uplo: str, diag: str) -> torch.Tensor:
    """The triangular matrix of which (n, n) holds one triangle, with ones on the diagonal where diag is "U"."""
    half = torch.where(in_triangle(triangle.shape[-1], uplo, like=triangle), triangle, 0)
    if diag == "U":
        identity = torch.eye(triangle.shape[-1], dtype=triangle.dtype, device=triangle.device)
        half = torch.where(identity != 0, identity, half)
    return half


def scaled_or_zero(beta: complex, old: torch.Tensor) -> torch.Tensor:
    """beta * old, or zero if beta is 0: then `old` is not read, and may be NaN."""
    return torch.zeros_like(old) if beta == 0 else beta * old


def _ascending(buffer: torch.Tensor, n: int, increment: int, batch: int, stride: int) -> torch.Tensor:
    """(batch, n): the elements of the vectors in ascending order of address, a view."""
    return buffer.as_strided((batch, n), (stride, abs(increment)))
