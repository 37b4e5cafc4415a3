"""The state of a storage when a launch begins: which of its elements were written before."""

from __future__ import annotations

import numpy as np
import pytest

from engine.machine.conflicts.shadow import Shadow
from engine.machine.ir import Scalar
from engine.machine.memory import Storage


def shadow_of(*written: bool) -> Shadow:
    """The shadow of float32 elements of which these bytes were written."""
    data = np.zeros(len(written), np.uint8)
    return Shadow.of(Storage(name="x", data=data, base=0, element=Scalar.F32, written=np.array(written)))


@pytest.mark.parametrize(
    ("second", "granule", "written"),
    [
        ((False,) * 4, 4, [True, False]),
        ((True, True, False, False), 1, [True, True, True, True, True, True, False, False]),
    ],
    ids=["whole elements", "half an element"],
)
def test_written_elements_are_kept_by_bytes_only_where_one_is_written_in_part(
    second: tuple[bool, ...], granule: int, written: list[bool]
) -> None:
    shadow = shadow_of(True, True, True, True, *second)
    assert shadow.granule == granule
    assert shadow.written is not None
    assert shadow.written.tolist() == written


def test_storage_that_was_written_throughout_has_no_unwritten_element() -> None:
    assert shadow_of(*(True,) * 8).written is None
