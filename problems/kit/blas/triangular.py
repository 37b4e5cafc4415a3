"""Symmetric and triangular matrices, one triangle of which is read, and triangular solves.

Matrices to solve with are well-conditioned by construction: off the diagonal the elements are normal with standard
deviation 1 / (2 sqrt(n)), on it they are of either sign with sizes from 1 to 2.  Then E|x_i|^2 grows by a factor of at
most (1 + 1 / (4 n))^n < 1.29 over a substitution, and its rounding errors do not grow with the order.
"""

from __future__ import annotations

import math

from engine.model import Case, DType, Tolerance
from problems.kit.blas.buffers import UNREAD_NAN, batch_of, matrix_buffer
from problems.kit.blas.scalars import parts_of
from problems.kit.blas.views import in_triangle, matrix_of, transformed, triangular_of
from problems.kit.deferred import torch
from problems.kit.tolerances import rounded
from problems.kit.values import normal

NAN_FIRST = "nan first"
"""Value of the parameter `values` for a NaN in the first solved element: all unknowns of that right side are NaN."""

SOLVES_LEAVE_OPEN = {"infinities_clamped": "infinities in a triangular solve are outside of the contract"}


def symmetric_buffer(case: Case, n: int, rng: torch.Generator) -> tuple[torch.Tensor, int]:
    """A buffer for a matrix of order n whose triangle `uplo` is read, and its leading dimension.

    The other triangle holds numbers like those of the first; in "unread nan" it is NaN, and so is the padding.
    """
    buffer, leading, _ = matrix_buffer(case, n, n, case.size("padding"), rng)
    if case.word("values") == UNREAD_NAN:
        _hide(buffer, leading, ~in_triangle(n, case.word("uplo"), like=buffer))
    return buffer, leading


def triangular_buffer(case: Case, n: int, rng: torch.Generator) -> tuple[torch.Tensor, int, int]:
    """A buffer for a batch of well-conditioned matrices of order n, its leading dimension and its stride.

    Elements that are not read (the other triangle, an implicit diagonal of ones) hold numbers of the same distribution;
    in "unread nan" they are NaN, and so is the padding.
    """
    batch = batch_of(case)
    buffer, leading, stride = matrix_buffer(case, n, n, case.size("padding"), rng, batch=batch)
    matrices = matrix_of(buffer, leading, n, n, batch=batch, stride=stride)
    matrices.mul_(0.5 / math.sqrt(max(n, 1)))
    matrices.diagonal(dim1=-2, dim2=-1).copy_(_away_from_zero((batch, n), case.dtype, rng))
    if case.word("values") == UNREAD_NAN:
        unread = ~in_triangle(n, case.word("uplo"), like=buffer)
        if case.word("diag") == "U":
            unread |= torch.eye(n, dtype=torch.bool, device=buffer.device)
        _hide(buffer, leading, unread)
    return buffer, leading, stride


def solved(matrix: torch.Tensor, uplo: str, trans: str, diag: str, right: torch.Tensor) -> torch.Tensor:
    """X of op(A) X = B by substitution, A: (..., n, n), B: (..., n, columns), in their own dtype.

    Row by row: x_i = (b_i - sum over the solved j of op(A)_ij x_j) / op(A)_ii.
    """
    whole = transformed(triangular_of(matrix, uplo, diag), trans)
    solution, n = right.clone(), right.shape[-2]
    for i in range(n) if is_forward(uplo, trans) else reversed(range(n)):
        solution[..., i, :] /= whole[..., i, i, None]
        rest = slice(i + 1, n) if is_forward(uplo, trans) else slice(0, i)
        solution[..., rest, :] -= whole[..., rest, i, None] * solution[..., i, None, :]
    return solution


def solved_from(side: str, matrix: torch.Tensor, uplo: str, trans: str, diag: str, right: torch.Tensor) -> torch.Tensor:
    """X of op(A) X = B for the side "L", as in `solved`; of X op(A) = B for "R", where B: (..., columns, n)."""
    if side == "L":
        return solved(matrix, uplo, trans, diag, right)
    # X op(A) = B is op(A)^T X^T = B^T, and op(A)^T is A^T for "N", A for "T" and conj(A) for "C".
    flipped = solved(matrix.conj() if trans == "C" else matrix, uplo, "T" if trans == "N" else "N", diag, right.mT)
    return flipped.mT


def is_forward(uplo: str, trans: str) -> bool:
    """Whether op(A) is lower triangular, so that forward substitution applies."""
    return (uplo == "L") == (trans == "N")


def solve_tolerance(case: Case) -> Tolerance:
    """A substitution with as many terms as the matrix has rows; the matrix is well-conditioned."""
    order = case.size("n") if "side" not in case.params or case.word("side") == "R" else case.size("m")
    return rounded(case.dtype, terms=parts_of(case.dtype) * order + 4)


def _hide(buffer: torch.Tensor, leading: int, unread: torch.Tensor) -> None:
    """Write NaN where (n, n) `unread` is true, and into the padding rows of every matrix in the buffer."""
    n = len(unread)
    columns = buffer.view(-1, leading)
    columns[:, n:] = torch.nan
    columns.view(-1, n, leading)[:, :, :n].masked_fill_(unread.T, torch.nan)


def _away_from_zero(shape: tuple[int, ...], dtype: DType, rng: torch.Generator) -> torch.Tensor:
    """Numbers of random sign or phase, with magnitudes from 1 to 2."""
    drawn = normal(shape, dtype, rng)
    return drawn.sgn() * (1 + torch.rand(shape, generator=rng, dtype=drawn.real.dtype))
