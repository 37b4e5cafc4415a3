"""Layouts change where the elements lie, not what they are."""

from __future__ import annotations

import pytest
import torch

from problems.kit import Layout, laid_out

MATRIX = torch.arange(20.0).reshape(4, 5)


@pytest.mark.parametrize(
    ("layout", "strides", "offset"),
    [
        (Layout.CONTIGUOUS, (5, 1), 0),
        (Layout.TRANSPOSED, (1, 4), 0),
        (Layout.STRIDED, (10, 2), 0),
        (Layout.EXPANDED, (0, 1), 0),
        (Layout.OFFSET, (5, 1), 3),
        (Layout.PADDED, (8, 1), 0),
        (Layout.IRREGULAR, (2, 8), 3),
    ],
)
def test_each_layout_has_its_strides_and_offset(layout: Layout, strides: tuple[int, ...], offset: int) -> None:
    moved = laid_out(MATRIX, layout)
    assert (moved.stride(), moved.storage_offset()) == (strides, offset)


@pytest.mark.parametrize("layout", [layout for layout in Layout if layout is not Layout.EXPANDED])
@pytest.mark.parametrize("shape", [(4, 5), (3, 4, 5), (1, 1), (0, 5)])
def test_a_layout_keeps_shape_dtype_and_values(layout: Layout, shape: tuple[int, ...]) -> None:
    tensor = torch.randn(shape, generator=torch.Generator().manual_seed(5)).half()
    moved = laid_out(tensor, layout)
    assert moved.dtype == torch.float16
    assert torch.equal(moved, tensor)


@pytest.mark.parametrize("shape", [(), (7,), (2, 3, 4, 5, 6), (0,), (2, 0, 3)])
def test_irregular_keeps_values_of_any_rank(shape: tuple[int, ...]) -> None:
    tensor = torch.randn(shape, generator=torch.Generator().manual_seed(5))
    assert torch.equal(laid_out(tensor, Layout.IRREGULAR), tensor)


def test_irregular_has_no_dimension_of_stride_one() -> None:
    moved = laid_out(torch.arange(720.0).reshape(2, 3, 4, 5, 6), Layout.IRREGULAR)
    assert (moved.stride(), moved.storage_offset()) == ((2, 4, 12, 48, 240), 3)


def test_expanded_repeats_the_first_row() -> None:
    assert torch.equal(laid_out(MATRIX, Layout.EXPANDED), MATRIX[0].repeat(4, 1))


@pytest.mark.parametrize("layout", [Layout.STRIDED, Layout.PADDED, Layout.OFFSET, Layout.IRREGULAR])
def test_bytes_between_rows_are_finite_and_wrong(layout: Layout) -> None:
    moved = laid_out(MATRIX, layout)
    as_if_contiguous = torch.as_strided(moved, (4, 5), (5, 1), 0)
    assert as_if_contiguous.isfinite().all()
    assert not torch.equal(as_if_contiguous, MATRIX)


def test_a_layout_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="'diagonal' is not a valid Layout"):
        laid_out(MATRIX, "diagonal")
