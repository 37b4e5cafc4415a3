"""Band storage: column j of the matrix is column j of a (k + 1, n) array, with the diagonal in one row.

Element (i, j) is in row k + i - j of an upper band and in row i - j of a lower one.  So diagonal number d is in row
k - d from column d on, or in row d up to column n - d.
"""

from __future__ import annotations

from engine.model import Case
from problems.kit.blas.buffers import UNREAD_NAN, matrix_buffer
from problems.kit.blas.views import matrix_of
from problems.kit.deferred import torch


def band_buffer(case: Case, n: int, k: int, rng: torch.Generator, *, is_unit: bool) -> tuple[torch.Tensor, int]:
    """A buffer for a band of k diagonals besides the main one, and its leading dimension.

    The corners of the array, which belong to no element, hold numbers. In "unread nan" they are NaN, and so are the
    padding and an implicit diagonal of ones, which are not read either.
    """
    buffer, leading, _ = matrix_buffer(case, k + 1, n, case.size("padding"), rng)
    if case.word("values") == UNREAD_NAN:
        content = buffer.clone()
        buffer.fill_(torch.nan)
        for distance in range(1 if is_unit else 0, min(k, n - 1) + 1):
            uplo = case.word("uplo")
            diagonal_of(buffer, leading, n, k, uplo, distance).copy_(
                diagonal_of(content, leading, n, k, uplo, distance)
            )
    return buffer, leading


def diagonal_of(buffer: torch.Tensor, leading: int, n: int, k: int, uplo: str, distance: int) -> torch.Tensor:
    """(n - distance,): element p is the matrix element that couples indices p and p + distance; a view."""
    array = matrix_of(buffer, leading, k + 1, n)[0]
    return array[k - distance, distance:] if uplo == "U" else array[distance, : n - distance]
