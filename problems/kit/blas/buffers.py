"""Flat buffers for the arguments of BLAS, longer than needed; values between and after elements must not change.

Memory that a routine must not read holds plausible numbers, or NaN if the case requests it.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.model import Case, DType
from problems.kit.blas.scalars import COMPLEX_DTYPES
from problems.kit.deferred import torch
from problems.kit.layouts import laid_out
from problems.kit.values import Special, normal, special_rows

FINITE_ONLY, UNREAD_NAN, SPECIAL = "normal", "unread nan", "special"
"""Values of the case parameter `values`: finite numbers, NaN in memory that is not read, special values in elements."""


def batch_of(case: Case) -> int:
    """Size of the batch of the case; 1 if it has no parameter `batch`."""
    return case.size("batch") if "batch" in case.params else 1


def vector_span(n: int, increment: int) -> int:
    """Number of places in a buffer from the first to the last of n elements that are `increment` apart."""
    return (n - 1) * abs(increment) + 1 if n else 0


def vector_buffer(
    case: Case, n: int, increment: int, rng: torch.Generator, *, tail: int = 3, batch: int = 1
) -> tuple[torch.Tensor, int]:
    """A buffer for `batch` vectors and the stride between them; `tail` elements follow each vector."""
    stride = vector_span(n, increment) + tail
    return normal((batch * stride,), case.dtype, rng), stride


def matrix_buffer(
    case: Case, rows: int, columns: int, padding: int, rng: torch.Generator, *, batch: int = 1, gap: int = 0
) -> tuple[torch.Tensor, int, int]:
    """A buffer for `batch` matrices, their leading dimension, and the stride between them.

    `padding` rows follow the rows of each matrix, and `gap` elements follow each matrix.
    """
    leading = max(rows, 1) + padding
    stride = leading * columns + gap
    return normal((batch * stride,), case.dtype, rng), leading, stride


def fill_padding(buffer: torch.Tensor, leading: int, rows: int) -> None:
    """Write NaN into the padding rows of one matrix."""
    buffer.view(-1, leading)[:, rows:] = torch.nan


def special_lines(
    values: torch.Tensor, dtype: DType, rng: torch.Generator, *, dim: int, rows: Sequence[Special]
) -> None:
    """Make the first lines of a matrix along `dim` special, in place.

    Complex lines are entirely NaN: the result of infinities in a complex product is unspecified.
    """
    kinds = [Special.NAN] if dtype in COMPLEX_DTYPES else list(rows)
    values.copy_(special_rows(values, rng, rows=kinds[: values.shape[1 if dim == 0 else 0]], dim=dim))


def scattered_vector(buffer: torch.Tensor, n: int, increment: int, values: Sequence[Special]) -> torch.Tensor:
    """A copy of the buffer in which each of `values` replaces one element of the vector, evenly spread."""
    made, step = buffer.clone(), max(n // (len(values) + 1), 1) * abs(increment)
    for number, value in enumerate(values, start=1):
        made[number * step] = float(value)
    return made


def placed(case: Case, *buffers: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The buffers in the layout of the case."""
    return tuple(laid_out(buffer, case.word("layout")) for buffer in buffers)
