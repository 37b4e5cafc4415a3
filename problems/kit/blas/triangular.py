"""Triangular matrices and solves: one triangle is read, and not its diagonal where that is of ones.

The matrices are well-conditioned by construction: off the diagonal the elements are normal with standard deviation
1 / (2 sqrt(n)), on it they are of either sign with sizes from 1 to 2.  Then E|x_i|^2 grows by a factor of at most
(1 + 1 / (4 n))^n < 1.29 over a substitution, and its rounding errors do not grow with the order.
"""

from __future__ import annotations

import math

from engine.model import Case, DType
from problems.kit.blas.buffers import matrix_buffer
from problems.kit.blas.views import in_triangle, matrix_of, triangular_of, widened
from problems.kit.deferred import torch
from problems.kit.values import normal


def triangular_buffer(case: Case, n: int, rng: torch.Generator, *, batch: int = 1) -> tuple[torch.Tensor, int, int]:
    """A buffer for `batch` matrices of order n, their leading dimension, and the stride between them.

    The other triangle holds numbers like those of the one that is read, and the diagonal plausible ones even where it
    is not read; in "unread nan" all that must not be read is NaN, the padding too.
    """
    uplo, diag = case.word("uplo"), case.word("diag")
    buffer, leading, stride = matrix_buffer(case, n, n, case.size("padding"), rng, batch=batch)
    matrices = matrix_of(buffer, leading, n, n, batch=batch, stride=stride)
    matrices.mul_(0.5 / math.sqrt(max(n, 1)))
    diagonal = _away_from_zero((batch, n), case.dtype, rng)
    matrices.diagonal(dim1=-2, dim2=-1).copy_(diagonal)
    if case.word("values") == "unread nan":
        unread = ~in_triangle(n, uplo, like=matrices)
        if diag == "U":
            unread |= torch.eye(n, dtype=torch.bool, device=unread.device)
        matrices.masked_fill_(unread, torch.nan)
        buffer.view(-1, leading)[:, n:] = torch.nan
    return buffer, leading, stride


def solved(matrix: torch.Tensor, uplo: str, trans: str, diag: str, right: torch.Tensor) -> torch.Tensor:
    """X of op(A) X = B by substitution, (..., n, n) and (..., n, columns), in float64 or complex128.

    Row by row: x_i = (b_i - sum over the solved j of op(A)_ij x_j) / op(A)_ii.
    """
    whole = triangular_of(widened(matrix), uplo, diag)
    if trans != "N":
        whole = whole.mH if trans == "C" else whole.mT
    solution = widened(right)
    order = range(solution.shape[-2])
    for i in order if (uplo == "L") == (trans == "N") else reversed(order):
        solution[..., i, :] /= whole[..., i, i, None]
        rest = slice(i + 1, None) if (uplo == "L") == (trans == "N") else slice(0, i)
        solution[..., rest, :] -= whole[..., rest, i, None] * solution[..., i, None, :]
    return solution


def _away_from_zero(shape: tuple[int, ...], dtype: DType, rng: torch.Generator) -> torch.Tensor:
    """Numbers of any direction with sizes from 1 to 2."""
    drawn = normal(shape, dtype, rng)
    return drawn.sgn() * (1 + torch.rand(shape, generator=rng, dtype=drawn.real.dtype))
