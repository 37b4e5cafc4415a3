"""Messages of the exceptions that the worker raises inside a candidate's call."""

from __future__ import annotations

import pytest

from engine.loading.raised import OutOfBoundsError
from engine.model import OutOfBounds


@pytest.mark.parametrize(("elements", "counted"), [(1, "1 element"), (12, "12 elements")])
def test_out_of_bounds_access_names_the_size(elements: int, counted: str) -> None:
    report = OutOfBounds(
        access="load", kernel="copy", tensor="x", index=elements, elements=elements, program=(0, 0, 0), location=None
    )
    message = f"out-of-bounds load in copy: x[{elements}], but x has {counted} (program (0, 0, 0))"
    assert str(OutOfBoundsError(report)) == message
